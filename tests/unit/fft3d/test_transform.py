"""The whole transform on ranks that are threads, against NumPy's of the whole array."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.fft3d.made_up_ranks import MadeUpComm, on_ranks

from memgauge.analysis.fft3d.ranks import transforms_of
from memgauge.analysis.fft3d.shape import Pencils, transform_name
from memgauge.counters.marks import VARIABLE, region
from memgauge.fft3d.checking import compare, error_bound
from memgauge.fft3d.decomposition import Block, block_of
from memgauge.fft3d.devices import Cpu
from memgauge.fft3d.fields import Field, Noise, some_waves
from memgauge.fft3d.resorting import by_transpose
from memgauge.fft3d.transform import Arrays, Transform
from memgauge.model.grid import Grid
from memgauge.model.storage.marks import regions_of

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")


def transformed(pencils: Pencils, field: Field, comm: MadeUpComm) -> Transform:
    arrays = Arrays(pencils.local_elements, pencils.arrays)
    made = Transform(comm, pencils, arrays, Cpu(), by_transpose)
    field.fill(block_of(pencils, comm.Get_rank()), made.array)
    made.run()
    return made


@pytest.mark.parametrize("grid", [Grid(1, 1), Grid(1, 3), Grid(3, 1), Grid(2, 2), Grid(2, 4)])
def test_it_is_the_transform_of_the_whole(grid: Grid) -> None:
    pencils = Pencils(size=12, grid=grid)
    whole = np.empty((12, 12, 12), np.complex128)
    Noise(12).fill(Block(range(12), range(12)), whole)
    answer = np.fft.fftn(whole)
    parts = on_ranks(grid.ranks, lambda comm: transformed(pencils, Noise(12), comm).array)
    for rank, part in enumerate(parts):
        block = block_of(pencils, rank)
        ys, zs = (slice(one.start, one.stop) for one in (block.first, block.second))
        known = answer[:, ys, zs].transpose(1, 2, 0)
        np.testing.assert_allclose(part.reshape(known.shape), known, rtol=0, atol=1e-11)


@pytest.mark.parametrize("grid", [Grid(1, 1), Grid(2, 2), Grid(3, 1)])
def test_two_loop_nests_make_the_same_transform(grid: Grid) -> None:
    def results(nests: str) -> list[Any]:
        pencils = Pencils(size=12, grid=grid, nests=nests)
        return on_ranks(grid.ranks, lambda comm: transformed(pencils, Noise(12), comm).array)

    for one, two in zip(results("fused"), results("two"), strict=True):
        np.testing.assert_array_equal(one, two)


def test_each_loop_nest_of_two_is_a_phase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = tmp_path / "marks.txt"
    marks.touch()
    monkeypatch.setenv(VARIABLE, str(marks))
    pencils = Pencils(size=4, grid=Grid(1, 1), nests="two")

    def work(comm: MadeUpComm) -> None:
        with region(transform_name(1, 4)):
            transformed(pencils, Noise(4), comm)

    on_ranks(1, work)
    regions = regions_of(marks.read_bytes().splitlines(keepends=True), lambda stamp: stamp)
    (found,) = transforms_of(regions.regions)
    names = [phase.name for phase in found.phases if phase.name.startswith("resort")]
    assert (
        names
        == [one.name for one in pencils.resorts]
        == [
            "resort 1, nest 1",
            "resort 1, nest 2",
            "resort 2",
            "resort 3, nest 1",
            "resort 3, nest 2",
            "resort 4",
        ]
    )


@pytest.mark.parametrize("size", [8, 12])
def test_plane_waves_tell_right_from_wrong(size: int) -> None:
    pencils = Pencils(size=size, grid=Grid(2, 2))
    waves = some_waves(size)

    def errors(comm: MadeUpComm, *, spoil: bool) -> Any:
        array = transformed(pencils, waves, comm).array
        if spoil and comm.Get_rank() == 3:
            array[:] = np.roll(array, 1)
        return compare(comm, pencils, waves, array)

    right, *others = on_ranks(4, lambda comm: errors(comm, spoil=False))
    assert others == [None] * 3
    assert 0 < right.relative <= error_bound(size)
    wrong = on_ranks(4, lambda comm: errors(comm, spoil=True))[0]
    assert wrong.relative > 0.1


def test_phases_are_marked_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = tmp_path / "marks.txt"
    marks.touch()
    monkeypatch.setenv(VARIABLE, str(marks))
    assert os.environ[VARIABLE]
    pencils = Pencils(size=4, grid=Grid(1, 1))

    def work(comm: MadeUpComm) -> None:
        with region(transform_name(1, 4)):
            transformed(pencils, Noise(4), comm)

    on_ranks(1, work)
    regions = regions_of(marks.read_bytes().splitlines(keepends=True), lambda stamp: stamp)
    (found,) = transforms_of(regions.regions)
    assert [(phase.name, phase.occurrence) for phase in found.phases] == [
        ("fft", 1),
        ("resort 1", 1),
        ("all2all", 1),
        ("resort 2", 1),
        ("fft", 2),
        ("resort 3", 1),
        ("all2all", 2),
        ("resort 4", 1),
        ("fft", 3),
    ]
    assert (found.ranks, found.size) == (1, 4)
    assert sum(found.phases.values()) <= found.seconds
