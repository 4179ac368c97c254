"""What a size means for each kernel, and which sizes are possible."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.shapes import cap_for, extents_of, probe_size, sizes_of
from memgauge.model.errors import RequestError
from memgauge.model.nests import KINDS
from memgauge.model.parameters import build

MIB = 1 << 20


def parameters(kernel: str, **options: object) -> TrafficParameters:
    return build(TrafficParameters, kernel=kernel, **options)


def spec(kernel: str, size: int, cap: int | None = None, **options: object) -> _core.NestSpec:
    extents = extents_of(parameters(kernel, **options), size, cap)
    return _core.NestSpec(kernel, store_prefetch=False, load_prefetch=False, **extents)


@pytest.mark.parametrize("kernel", _core.NEST_KINDS)
def test_the_kernel_s_own_sizes_make_sense(kernel: str) -> None:
    requested = parameters(kernel)
    sizes = sizes_of(requested)
    assert len(sizes) > 10
    for size in sizes:
        assert spec(kernel, size, cap=1280).trips > 0
    assert probe_size(requested) in sizes_of(requested.replace(sizes=str(probe_size(requested))))


@pytest.mark.parametrize("kernel", [name for name, kind in KINDS.items() if kind.is_resort])
@pytest.mark.parametrize("grid", ["2x4", "4x2", "1x1", "3x5", "8x8"])
def test_a_rank_has_its_part_of_the_cube(kernel: str, grid: str) -> None:
    rows, columns = map(int, grid.split("x"))
    size = 4 * math.lcm(rows, columns)
    nest = spec(kernel, size, grid=grid)
    assert nest.trips == size**3 // (rows * columns)
    assert {array.bytes for array in nest.arrays} == {16 * nest.trips}


def test_gemv_is_square_up_to_its_cap_and_walks_the_matrix_again_beyond() -> None:
    below, beyond = spec("gemv", 1000, 1280), spec("gemv", 5000, 1280)
    assert [array.bytes for array in below.arrays] == [8 * 1000**2, 8000, 8000]
    assert below.trips == 1000**2
    assert [array.bytes for array in beyond.arrays] == [8 * 1280**2, 8 * 1280, 8 * 5000]
    assert beyond.trips == 5000 * 1280


def test_the_default_cap_of_the_study_s_processor_is_the_study_s() -> None:
    assert cap_for([5 * MIB]) == 1280


@pytest.mark.parametrize("cached", [1, 100_000, 5 * MIB, 33 * MIB, 1 << 30])
def test_a_capped_matrix_is_larger_than_what_any_machine_keeps(cached: int) -> None:
    cap = cap_for([cached, cached // 2])
    assert 8 * cap**2 >= 2.5 * cached
    assert 8 * (cap - 64) ** 2 < 2.5 * cached


def test_strides_and_grids_are_the_options_or_the_defaults() -> None:
    assert extents_of(parameters("strided-copy"), 100, None) == {"n": 100, "stride": 16}
    assert extents_of(parameters("strided-copy", stride=3), 100, None)["stride"] == 3
    assert extents_of(parameters("s1cf"), 80, None) == {"planes": 40, "rows": 20, "cols": 80}
    turned = extents_of(parameters("s1cf", grid="4x2"), 80, None)
    assert turned == {"planes": 20, "rows": 40, "cols": 80}


@pytest.mark.parametrize(
    ("sizes", "grid", "refused", "nearest"),
    [
        ("63", "2x4", 63, "60 and 64"),
        ("3", "2x4", 3, "4"),
        ("75,100", "3x5", 100, "90 and 105"),
    ],
)
def test_a_grid_that_does_not_divide_names_the_nearest_size(
    sizes: str, grid: str, refused: int, nearest: str
) -> None:
    with pytest.raises(
        RequestError, match=rf"--sizes {refused}: the grid {grid} does not .* divides: {nearest}$"
    ):
        sizes_of(parameters("s1cf", sizes=sizes, grid=grid))


@pytest.mark.parametrize("grid", ["2x4", "3x5", "7x7"])
def test_sizes_between_the_ends_are_divided_by_the_grid(grid: str) -> None:
    rows, columns = map(int, grid.split("x"))
    divisor = math.lcm(rows, columns)
    found = sizes_of(parameters("s2pf", sizes=f"{divisor}:{64 * divisor}", grid=grid))
    assert len(found) > 8
    assert all(size % rows == 0 and size % columns == 0 for size in found)
