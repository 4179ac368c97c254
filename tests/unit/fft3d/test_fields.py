from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.fft3d.decomposition import Block, block_of
from memgauge.fft3d.fields import Field, Noise, some_waves
from memgauge.model.grid import Grid

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")


def whole_of(field: Field, size: int) -> Any:
    whole = np.empty((size, size, size), np.complex128)
    field.fill(Block(range(size), range(size)), whole)
    return whole


@given(st.sampled_from([Grid(1, 2), Grid(2, 3), Grid(3, 1)]), st.booleans(), st.data())
def test_any_rank_makes_its_part_of_the_same_whole(
    grid: Grid, noise: bool, data: st.DataObject
) -> None:
    size = 6
    field: Field = Noise(size) if noise else some_waves(size)
    block = block_of(Pencils(size=size, grid=grid), data.draw(st.integers(0, grid.ranks - 1)))
    part = np.empty(len(block.first) * len(block.second) * size, np.complex128)
    field.fill(block, part)
    xs, ys = (slice(one.start, one.stop) for one in (block.first, block.second))
    known = whole_of(field, size)[xs, ys]
    np.testing.assert_allclose(part.reshape(known.shape), known, rtol=0, atol=1e-14)


def test_noise_is_even_in_its_range_and_repeats_nothing() -> None:
    whole = whole_of(Noise(16), 16)
    parts = np.concatenate([whole.real.ravel(), whole.imag.ravel()])
    assert parts.min() >= -1
    assert parts.max() < 1
    assert len(np.unique(parts)) == len(parts)
    # The mean of n even numbers in [-1, 1) has a deviation of 1 / sqrt(3 n).
    assert abs(parts.mean()) < 5 / np.sqrt(3 * len(parts))
    assert abs((parts**2).mean() - 1 / 3) < 0.05


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_the_transform_of_waves_is_a_number_each(size: int) -> None:
    waves = some_waves(size)
    spectrum = np.fft.fftn(whole_of(waves, size))
    known = np.zeros_like(spectrum)
    for wave in waves.waves:
        known[wave.kx, wave.ky, wave.kz] = wave.amplitude * size**3
    np.testing.assert_allclose(spectrum, known, rtol=0, atol=1e-12 * size**3)
    places = {(wave.kx, wave.ky, wave.kz) for wave in waves.waves}
    assert len(places) == len(waves.waves) == min(8, size**3)


def test_waves_of_a_size_are_always_the_same() -> None:
    assert some_waves(4096) == some_waves(4096)
