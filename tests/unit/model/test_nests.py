"""What is said of the loop nests without the core: kinds, arrays and extents by size."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid
from memgauge.model.nests import (
    KINDS,
    arrays_of,
    extents_of,
    parse_kernel,
    trips_of,
)

RESORTS = [name for name, kind in KINDS.items() if kind.is_resort]


def small(kernel: str, steps: int, grid: Grid) -> dict[str, int]:
    return extents_of(kernel, steps * grid.divisor, grid=grid, cap=7, stride=3)


@pytest.mark.native
@pytest.mark.parametrize("kernel", KINDS)
@given(steps=st.integers(1, 20), grid=st.builds(Grid, st.integers(1, 6), st.integers(1, 6)))
def test_arrays_and_trips_are_those_of_the_core(kernel: str, steps: int, grid: Grid) -> None:
    core = pytest.importorskip("memgauge._core", reason="the native core is not built")
    assert list(KINDS) == core.NEST_KINDS
    extents = small(kernel, steps, grid)
    spec = core.NestSpec(kernel, **extents)
    assert trips_of(kernel, extents) == spec.trips
    assert [(a.name, a.bytes, a.element_bytes, a.written) for a in arrays_of(kernel, extents)] == [
        (a.name, a.bytes, a.element_bytes, a.written) for a in spec.arrays
    ]


@pytest.mark.parametrize("kernel", RESORTS)
@given(steps=st.integers(1, 9), grid=st.builds(Grid, st.integers(1, 8), st.integers(1, 8)))
def test_the_ranks_of_a_grid_have_the_whole_cube_together(
    kernel: str, steps: int, grid: Grid
) -> None:
    size = steps * grid.divisor
    extents = extents_of(kernel, size, grid=grid)
    assert grid.ranks * math.prod(extents.values()) == size**3
    assert all(extent > 0 for extent in extents.values())


def test_the_second_loop_nest_walks_planes_and_rows_of_the_size_that_the_study_says() -> None:
    extents = extents_of("s1cf-second", 724, grid=Grid(2, 4))
    assert extents["planes"] * extents["rows"] * 8 == 724**2
    assert extents["cols"] == 724


def test_extents_are_those_with_which_an_fft_is_put_together() -> None:
    shape = pytest.importorskip("memgauge.analysis.fft3d.shape")
    resorts = shape.Pencils(size=24, grid=Grid(2, 3)).resorts
    assert [resort.extents for resort in resorts] == [
        extents_of(resort.kind, 24, grid=Grid(2, 3)) for resort in resorts
    ]


def test_the_capped_matrix_is_no_larger_than_the_cap() -> None:
    assert extents_of("gemv", 100, cap=1280) == {"m": 100, "n": 100, "cap": 100}
    assert extents_of("gemv", 5000, cap=1280) == {"m": 5000, "n": 1280, "cap": 1280}
    (a, _, y) = arrays_of("gemv", extents_of("gemv", 5000, cap=1280))
    assert (a.bytes, y.bytes) == (1280**2 * 8, 5000 * 8)


@pytest.mark.parametrize(("size", "nearest"), [(1, "4"), (0, "4"), (6, "4 and 8")])
def test_a_grid_that_does_not_divide_the_size_is_refused(size: int, nearest: str) -> None:
    with pytest.raises(
        RequestError, match=rf"size {size}: the grid 2x4 does not divide it; .*: {nearest}$"
    ):
        extents_of("s2cf", size, grid=Grid(2, 4))


def test_names_are_read_kindly_and_unknown_ones_refused_with_the_nearest() -> None:
    assert parse_kernel(" S1CF_second ") == "s1cf-second"
    with pytest.raises(
        RequestError,
        match=r"kernel 'gemmm' is unknown; did you mean gemm\? choose",
    ):
        parse_kernel("gemmm")
    with pytest.raises(RequestError, match=r"is unknown; choose from gemv, gemm, copy"):
        parse_kernel("zzzzzzzzz")


def test_every_kind_is_told_in_words() -> None:
    for kind in KINDS.values():
        assert kind.words
        assert kind.size
        assert len(kind.words.splitlines()) == 1
    assert KINDS["s1pf-second"].words == (
        "second loop nest of S1PF: tmp (columns x rows x planes) to out (planes x columns x rows), "
        "out in order, tmp in strides"
    )


def test_stores_that_may_pass_the_caches_are_those_of_streams_and_plain_copies() -> None:
    assert {name for name, kind in KINDS.items() if kind.streams_stores} == {
        "copy",
        "scale",
        "add",
        "triad",
        "s1cf-first",
        "s1pf-first",
        "s2cf",
        "s2pf",
    }
