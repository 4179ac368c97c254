"""Closed forms of the loop nests: the figures of the study, and what the cache model counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.analysis.traffic.expected import (
    SECTOR_BYTES,
    Band,
    Nest,
    band,
    band_of,
    expected,
    expected_of,
    nest_of,
)
from memgauge.model.grid import Grid
from memgauge.model.nests import KINDS, Extents, extents_of, rows_of_a
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point

MIB = 1 << 20
SMALL = settings(max_examples=15, deadline=None)
PLAIN_COPIES = ["s1cf-first", "s1pf-first", "s2cf", "s2pf"]
STREAMS = {"copy": 1, "scale": 1, "add": 2, "triad": 2}


def point(kernel: str, requested: dict[str, Scalar] | None = None, **actual: Scalar) -> Point:
    return Point(
        point=f"traffic/{kernel}",
        experiment="traffic",
        quantity="bandwidth",
        requested={"kernel": kernel, **(requested or {})},
        actual=actual,
        bytes_counted=0,
        bytes_moved=0,
        threads=1,
        role="counted",
    )


class Moved(NamedTuple):
    """What a model counted."""

    read_bytes: int
    write_bytes: int
    array_read_bytes: list[int]


def simulated(kernel: str, extents: dict[str, int], cache_bytes: int, **machine: Any) -> Moved:
    """By a fully associative LRU cache of so many bytes, in lines of the usual sector."""
    core = pytest.importorskip("memgauge._core", reason="the native core is not built")
    prefetched = machine.pop("prefetched", False)
    level = core.CacheLevel(
        name="only", bytes=-(-cache_bytes // SECTOR_BYTES) * SECTOR_BYTES, ways=0
    )
    model = core.CacheModel(core.CacheMachine(name="lru", levels=[level], **machine))
    spec = core.NestSpec(kernel, store_prefetch=prefetched, **extents)
    bases, at = [], 1 << 32
    for array in spec.arrays:
        bases.append(at)
        at += -(-array.bytes // 4096) * 4096 + 4096
    core.simulate_nest(spec, [bases], model)
    model.write_back_all()
    counts = model.counts()
    return Moved(
        counts.read_bytes, counts.write_bytes, counts.stream_read_bytes[: len(spec.arrays)]
    )


def assert_cached(kernel: str, extents: dict[str, int], cache_bytes: int) -> None:
    """The model counts what is expected while cached, array by array."""
    counted, closed = simulated(kernel, extents, cache_bytes), expected(kernel, extents)
    assert counted.array_read_bytes == [array.read_bytes for array in closed.arrays.values()]
    assert (counted.read_bytes, counted.write_bytes) == (closed.read_bytes, closed.write_bytes)


def assert_past(kernel: str, extents: dict[str, int], cache_bytes: int) -> None:
    """And what is expected past the caches."""
    counted, closed = simulated(kernel, extents, cache_bytes), expected(kernel, extents)
    assert counted.array_read_bytes == [array.past_read_bytes for array in closed.arrays.values()]
    assert (counted.read_bytes, counted.write_bytes) == (
        closed.past_read_bytes,
        closed.past_write_bytes,
    )


def in_elements(kernel: str, extents: dict[str, int], **options: bool) -> tuple[float, float]:
    """Reads and writes for each element of the result."""
    closed = expected(kernel, extents, **options)
    whole = closed.elements * closed.element_bytes
    return closed.read_bytes / whole, closed.write_bytes / whole


@given(m=st.integers(1, 5000), n=st.integers(1, 5000), cap=st.integers(1, 5000))
def test_gemv_is_the_studys_however_it_is_capped(m: int, n: int, cap: int) -> None:
    closed = expected("gemv", {"m": m, "n": n, "cap": cap})
    assert closed.read_bytes == 8 * (m * n + m + n)
    assert closed.write_bytes == 8 * m
    assert closed.trips == m * n


@given(n=st.integers(1, 5000))
def test_gemm_is_the_studys(n: int) -> None:
    closed = expected("gemm", {"n": n})
    assert (closed.read_bytes, closed.write_bytes) == (8 * 3 * n * n, 8 * n * n)
    assert closed.load_bytes == 8 * 2 * n * n


def test_the_resorts_are_the_studys() -> None:
    def of(kernel: str, **options: bool) -> tuple[float, float]:
        return in_elements(kernel, extents_of(kernel, 800), **options)

    assert of("s1cf-first") == (2, 1)
    assert of("s1cf-first", bypass=True) == (1, 1)
    assert of("s1cf-first", bypass=True, prefetched=True) == (2, 1)
    assert of("s1cf-second") == of("s1cf-second", bypass=True) == (2, 1)
    assert of("s1cf") == of("s1cf", bypass=True) == (2, 1)
    assert of("s2cf", bypass=True) == (1, 1)
    assert of("s2cf", bypass=True, prefetched=True) == (2, 1)
    second = expected("s1cf-second", extents_of("s1cf-second", 800))
    assert second.past_read_bytes == 5 * second.write_bytes
    assert second.past_write_bytes == second.write_bytes


@pytest.mark.parametrize(("kernel", "reads"), STREAMS.items())
def test_stream_reads_what_it_writes_unless_stores_bypass(kernel: str, reads: int) -> None:
    assert in_elements(kernel, {"n": 1000}) == (reads + 1, 1)
    assert in_elements(kernel, {"n": 1000}, bypass=True) == (reads, 1)


@pytest.mark.parametrize(
    ("stride", "each"), [(1, 8), (2, 16), (4, 32), (8, 64), (16, 64), (1000, 64)]
)
def test_elements_far_apart_cost_a_sector_each(stride: int, each: int) -> None:
    closed = expected("strided-copy", {"n": 1024, "stride": stride})
    assert closed.write_bytes == 1024 * each
    assert closed.read_bytes == 2 * 1024 * each
    assert closed.elements == 1024


@pytest.mark.native
@pytest.mark.parametrize("kernel", STREAMS)
@SMALL
@given(lines=st.integers(1, 60), cache_lines=st.integers(4, 60))
def test_streams_are_counted_so_by_a_cache_of_any_size(
    kernel: str, lines: int, cache_lines: int
) -> None:
    extents = {"n": 8 * lines}
    assert_cached(kernel, extents, cache_lines * SECTOR_BYTES)
    assert_past(kernel, extents, cache_lines * SECTOR_BYTES)


@pytest.mark.native
@SMALL
@given(n=st.integers(1, 100), stride=st.integers(1, 20), cache_lines=st.integers(4, 30))
def test_strided_copies_are_counted_so_by_a_cache_of_any_size(
    n: int, stride: int, cache_lines: int
) -> None:
    counted = simulated("strided-copy", {"n": n, "stride": stride}, cache_lines * SECTOR_BYTES)
    closed = expected("strided-copy", {"n": n, "stride": stride})
    if stride == 1:  # the last line may be begun only
        assert 0 <= counted.write_bytes - closed.write_bytes < SECTOR_BYTES
    else:
        assert (counted.read_bytes, counted.write_bytes) == (
            closed.read_bytes,
            closed.write_bytes,
        )


@pytest.mark.native
@pytest.mark.parametrize("kernel", PLAIN_COPIES)
@SMALL
@given(steps=st.integers(1, 4), cache_lines=st.integers(4, 40))
def test_plain_copies_are_counted_so_by_a_cache_of_any_size(
    kernel: str, steps: int, cache_lines: int
) -> None:
    extents = extents_of(kernel, 8 * steps, grid=Grid(2, 2))
    assert_cached(kernel, extents, cache_lines * SECTOR_BYTES)
    assert_past(kernel, extents, cache_lines * SECTOR_BYTES)


@pytest.mark.native
def gemv_read_once(extents: Extents) -> int:
    """Reads where a capped matrix stays cached after all: its rows that exist, once."""
    again = extents["m"] - rows_of_a(extents)
    return expected("gemv", extents).read_bytes - 8 * again * extents["n"]


@SMALL
@given(rows=st.integers(2, 12), lines=st.integers(2, 6), turns=st.integers(1, 3))
def test_gemv_is_counted_so_below_its_band_and_past_it(rows: int, lines: int, turns: int) -> None:
    n = 8 * lines
    m = 8 * rows * turns
    extents = {"m": m, "n": n, "cap": 8 * rows}
    kept = simulated("gemv", extents, 8 * (8 * rows * n + n + m) + 2 * SECTOR_BYTES)
    assert kept.read_bytes == gemv_read_once(extents)
    assert_cached("gemv", extents, 2 * 8 * n + SECTOR_BYTES)
    assert_past("gemv", extents, 8 * n)


@pytest.mark.native
@SMALL
@given(lines=st.integers(3, 6))
def test_gemm_is_counted_so_while_all_fits_and_past_where_one_does(lines: int) -> None:
    n = 8 * lines
    assert_cached("gemm", {"n": n}, 3 * 8 * n * n)
    assert_past("gemm", {"n": n}, n * (SECTOR_BYTES + 8) + 2 * SECTOR_BYTES)


@pytest.mark.native
@SMALL
@given(m=st.integers(2, 6), n=st.integers(2, 6))
def test_a_transpose_is_counted_so_below_its_band_and_past_it(m: int, n: int) -> None:
    extents = {"m": 8 * m, "n": 8 * n}
    touched = 8 * n * (SECTOR_BYTES + 8)
    assert_cached("transpose", extents, touched + 2 * SECTOR_BYTES)
    assert_past("transpose", extents, touched // 2)


@pytest.mark.native
@pytest.mark.parametrize("letter", ["c", "p"])
@SMALL
@given(planes=st.integers(1, 6), rows=st.integers(2, 6), lines=st.integers(1, 4))
def test_the_first_resort_is_counted_so_below_its_band_and_past_it(
    letter: str, planes: int, rows: int, lines: int
) -> None:
    outer, inner = ("planes", "cols") if letter == "c" else ("cols", "planes")
    extents = {outer: planes, "rows": 4 * rows, inner: 8 * lines}
    for kernel, count in [
        (f"s1{letter}f-second", planes * 4 * rows),
        (f"s1{letter}f", 8 * lines),
    ]:
        touched = count * (SECTOR_BYTES + 16)
        assert_cached(kernel, extents, touched + 2 * SECTOR_BYTES)
        assert_past(kernel, extents, touched // 2)


@pytest.mark.native
@pytest.mark.parametrize("kernel", ["copy", "add", "s1cf-first"])
def test_stores_that_bypass_are_counted_as_not_read_but_for_the_first_lines(kernel: str) -> None:
    extents = {"n": 80_000} if kernel in STREAMS else extents_of(kernel, 64, grid=Grid(2, 2))
    counted = simulated(kernel, extents, 4096, store_lines=4)
    closed = expected(kernel, extents, bypass=True)
    assert counted.write_bytes == closed.write_bytes
    assert 0 < counted.read_bytes - closed.read_bytes <= 5 * SECTOR_BYTES
    assert counted.read_bytes < expected(kernel, extents).read_bytes
    prefetched = simulated(kernel, extents, 4096, store_lines=4, prefetched=True)
    again = expected(kernel, extents, bypass=True, prefetched=True)
    assert again == expected(kernel, extents)
    # Eight lines of prefetches lie behind the end.
    assert 0 <= prefetched.read_bytes - again.read_bytes <= 8 * SECTOR_BYTES


def test_the_bands_are_the_studys() -> None:
    five, socket = 5 * MIB, 110 * MIB
    assert band("gemm", five) == Band(all_fit=467, one_fits=809)
    assert band("gemm", socket) == Band(all_fit=2192, one_fits=3797)
    for kernel in ("s1cf-second", "s1pf-second"):
        assert band(kernel, five, ranks=8) == Band(all_fit=724, one_fits=809)


@pytest.mark.parametrize("kernel", [*STREAMS, *PLAIN_COPIES, "strided-copy"])
def test_nests_that_come_back_to_nothing_have_no_band(kernel: str) -> None:
    assert band(kernel, 5 * MIB, ranks=8) is None


def test_a_band_is_told_of_a_point() -> None:
    def nest(kernel: str, requested: dict[str, Scalar]) -> Nest:
        found = nest_of(point(kernel, requested, **extents_of(kernel, 800)))
        assert found is not None
        return found

    resort = nest("s1cf-second", {"grid": "2x4"})
    assert band_of(resort, 5 * MIB) == Band(all_fit=724, one_fits=809)
    assert band_of(nest("gemm", {}), 5 * MIB) == Band(all_fit=467, one_fits=809)
    assert band_of(nest("gemv", {"cap": 1280}), 5 * MIB) is None
    assert band_of(nest("gemv", {}), 16_000) == Band(all_fit=1000, one_fits=2000)


@given(
    kernel=st.sampled_from(["gemm", "transpose", "s1cf", "s1cf-second", "s1pf"]),
    cached_bytes=st.integers(1 << 12, 1 << 30),
    ranks=st.integers(1, 64),
)
def test_a_band_grows_with_the_caches_and_ends_where_it_begins_or_later(
    kernel: str, cached_bytes: int, ranks: int
) -> None:
    found = band(kernel, cached_bytes, ranks=ranks)
    larger = band(kernel, 2 * cached_bytes, ranks=ranks)
    assert found is not None
    assert larger is not None
    assert found.all_fit <= found.one_fits
    assert found.all_fit <= larger.all_fit
    assert found.one_fits <= larger.one_fits


@pytest.mark.parametrize("kernel", KINDS)
def test_a_point_says_what_is_expected_of_it(kernel: str) -> None:
    extents = extents_of(kernel, 64, cap=16)
    nest = nest_of(point(kernel, {"store_prefetch": False}, **extents))
    assert nest is not None
    assert expected_of(nest) == expected(kernel, extents)
    closed = expected(kernel, extents)
    assert closed.past_read_bytes >= closed.read_bytes
    assert closed.past_write_bytes >= closed.write_bytes
    assert closed.load_bytes + closed.arrays[KINDS[kernel].written].read_bytes == closed.read_bytes


def test_nothing_is_expected_of_a_point_that_does_not_say_what_it_is() -> None:
    assert nest_of(point("gemm")) is None
    assert nest_of(point("gemm", n=0)) is None
    assert nest_of(point("gemm", {"grid": "many"}, n=4)) is None
    assert nest_of(point("other", n=4)) is None
