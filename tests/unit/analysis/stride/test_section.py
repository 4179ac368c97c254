"""What is said about strides, on costs made by formula."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import start

from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.section import Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stride.figures import HELPED_SHARE, rate, reach_of
from memgauge.analysis.stride.section import analyse
from memgauge.model.records import AnyRecord, Point, RunEnd
from memgauge.model.run import run_of

KIB = 1 << 10
STRIDES = (64, 256, KIB, 4 * KIB, 16 * KIB)
RANDOM_NS = 160.0
Cost = Callable[[str, str, int, int], float]


def cost(kind: str, order: str, access: int, stride: int) -> float:
    """Prefetch ends at 4 KiB; ten random lines are in flight; each further line costs 2 ns."""
    ns = RANDOM_NS if order == "random" or stride >= 4 * KIB else 4.0
    ns += 2.0 * (access // 64 - 1)
    return ns / 10 if kind == "independent" else ns


def point(kind: str, order: str, access: int, stride: int) -> Point:
    return latency_point(
        f"stride/{kind}/{order}/{access}/{stride}",
        experiment="stride",
        requested={"kind": kind, "order": order, "access_bytes": access, "stride_bytes": stride},
        actual={
            "pages": "thp",
            "lines_per_access": max(1, access // 64),
            "moved_bytes_per_access": max(64, access),
        },
    )


def records(
    cost: Cost, accesses: tuple[int, ...], orders: tuple[str, ...], noise: float = 0.001
) -> Iterator[AnyRecord]:
    rng = random.Random(1)
    yield start()
    points = [
        (point(kind, order, access, stride), cost(kind, order, access, stride))
        for kind in ("dependent", "independent")
        for order in orders
        for access in accesses
        for stride in STRIDES
        if stride >= access
    ]
    yield from (one for one, _ in points)
    for round_ in range(150):
        yield from (sample_of(one, ns * rng.gauss(1, noise), round_) for one, ns in points)
    yield RunEnd(status="budget", elapsed_s=1.0, rounds=150)


def figures(
    cost: Cost = cost,
    accesses: tuple[int, ...] = (8, 64, 256),
    orders: tuple[str, ...] = ("sequential", "random"),
    noise: float = 0.001,
) -> Figures:
    return figures_of(run_of(records(cost, accesses, orders, noise)))


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures())


def test_latency_and_throughput_stand_in_tables_of_their_own(section: Section) -> None:
    assert [table.name for table in section.tables] == ["stride-dependent", "stride-independent"]
    for table, kind in zip(section.tables, ("dependent", "independent"), strict=True):
        found = rows(table)
        assert len(found) == 5 + 5 + 4
        for row in found:
            access, stride = row["access"], row["stride"]
            assert isinstance(access, int)
            assert isinstance(stride, int)
            for order in ("sequential", "random"):
                ns = cost(kind, order, access, stride)
                assert value(row[order]) == pytest.approx(ns, rel=0.01)


def test_useful_bytes_and_moved_lines_give_two_rates(section: Section) -> None:
    for row in rows(section.tables[1]):
        access, stride = row["access"], row["stride"]
        assert isinstance(access, int)
        assert isinstance(stride, int)
        for order in ("sequential", "random"):
            ns = cost("independent", order, access, stride)
            assert value(row[f"useful, {order}"]) == pytest.approx(access / ns, rel=0.01)
            assert value(row[f"lines, {order}"]) == pytest.approx(max(64, access) / ns, rel=0.01)
    assert all("counts them" in (table.note or "") for table in section.tables)


def test_the_overlap_is_told_with_its_interval(section: Section) -> None:
    for row in rows(section.tables[1]):
        assert value(row["in flight"]) == pytest.approx(10, rel=0.01)
    said = next(v.text for v in section.verdicts if "in flight" in v.text)
    assert said.startswith("A random access of 8 B costs ")
    low, high = (float(word) for word in said.split(" keeps ")[1].split(" in ")[0].split(" to "))
    assert low <= 10 <= high


def test_the_end_of_prefetch_is_named_for_each_size(section: Section) -> None:
    said = [v.text for v in section.verdicts if v.text.startswith("Prefetchers")]
    assert len(said) == 3
    for text, size in zip(said, ("8 B", "64 B", "256 B"), strict=True):
        assert f"accesses of {size} in order up to a stride of 1 KiB (" in text
        assert text.endswith("stop helping from 4 KiB on.")


def test_prefetch_without_an_end_is_not_given_one() -> None:
    found = analyse(figures(lambda kind, order, *_: cost(kind, order, 64, 64), (64,)))
    said = found.verdicts[0]
    assert "up to a stride of 16 KiB" in said.text
    assert said.text.endswith("the stride at which they stop was not reached.")
    assert said.remedy == "measure wider strides (--stride)"


def test_sizes_without_an_end_share_a_sentence() -> None:
    found = analyse(figures(lambda kind, order, *_: cost(kind, order, 64, 64), (64, 256)))
    said = [v.text for v in found.verdicts if v.text.startswith("Prefetchers")]
    assert len(said) == 1
    assert "widest stride measured (16 KiB)" in said[0]
    assert "than random access: 64 B 40.0 times, 256 B 40.0 times. The stride at" in said[0]


def test_no_prefetch_at_all_is_said() -> None:
    found = analyse(figures(lambda kind, *_: cost(kind, "random", 64, 64), (64,)))
    assert found.verdicts[0].text == (
        "Prefetchers help accesses of 64 B in order at no stride from 64 B on."
    )


def test_one_order_alone_tells_nothing_of_prefetch() -> None:
    found = analyse(figures(accesses=(64,), orders=("random",)))
    assert found.verdicts[0].text.startswith("Only one order was measured")
    assert not any(v.text.startswith("Prefetchers") for v in found.verdicts)
    assert all(row["sequential"] is None for row in rows(found.tables[0]))


def test_maps_have_a_row_for_each_order_and_size_and_gaps_where_an_access_does_not_fit(
    section: Section,
) -> None:
    curves, _, *maps = section.charts
    assert curves.kind == "line"
    assert len(curves.series) == 4
    assert [chart.name for chart in maps] == ["stride-dependent", "stride-independent"]
    for chart in maps:
        assert chart.kind == "heatmap"
        assert chart.rows is not None
        assert [row.name for row in chart.series] == [
            f"{order}, {size}"
            for order in ("sequential", "random")
            for size in ("8 B", "64 B", "256 B")
        ]
        for row in chart.series:
            assert row.x == list(map(float, STRIDES))
            gaps = [x for x, y in zip(row.x, row.y, strict=True) if y is None]
            assert gaps == ([64.0] if row.name.endswith("256 B") else [])


def test_bandwidth_over_stride_is_of_what_is_asked_for_and_of_whole_lines(
    section: Section,
) -> None:
    (chart,) = [one for one in section.charts if one.name == "stride-bandwidth"]
    drawn = {series.name: series for series in chart.series}
    assert len([name for name in drawn if name.startswith("useful")]) == 4
    asked = drawn["useful: independent, sequential"]
    lines = drawn["lines: independent, sequential"]
    assert not asked.dashed
    assert lines.dashed
    times = next(one for one in section.charts if one.name == "stride-curves")
    ns = next(one for one in times.series if one.name == "independent, sequential")
    for at, took in enumerate(ns.y):
        assert took is not None
        assert asked.y[at] == pytest.approx(8 / took)  # bytes in ns: GB/s
        assert (lines.y[at] or 0.0) >= (asked.y[at] or 0.0)


def test_a_run_without_strides_says_so() -> None:
    found = analyse(figures_of(run_of([start(), RunEnd(status="budget", elapsed_s=1, rounds=0)])))
    assert [v.text for v in found.verdicts] == ["No access pattern was measured."]
    assert found.tables == []
    assert found.charts == []


shares = st.lists(st.tuples(st.floats(0.01, 2.0), st.floats(0.0, 0.2)), min_size=1, max_size=8).map(
    lambda found: [(64 << n, interval(*one)) for n, one in enumerate(found)]
)


def interval(centre: float, half: float) -> Estimate:
    return Estimate(centre, centre * (1 - half), centre * (1 + half))


@given(shares)
def test_the_end_of_prefetch_lies_beyond_all_help(found: list[tuple[int, Estimate]]) -> None:
    reach = reach_of(64, found)
    for stride, share in found:
        if reach.stops is not None and stride >= reach.stops:
            assert share.low >= HELPED_SHARE
        if reach.helped is None or stride > reach.helped:
            assert share.high >= HELPED_SHARE
    if reach.helped is not None and reach.stops is not None:
        assert reach.helped < reach.stops


@given(shares, st.integers(0, 1 << 30))
def test_noise_inside_the_intervals_flips_no_verdict(
    found: list[tuple[int, Estimate]], seed: int
) -> None:
    rng = random.Random(seed)
    moved = [
        (stride, Estimate(rng.uniform(share.low, share.high), share.low, share.high))
        for stride, share in found
    ]
    assert reach_of(64, moved) == reach_of(64, found)


@given(shares, st.integers(0, 6))
def test_strides_twice_as_wide_move_the_end_as_far(
    found: list[tuple[int, Estimate]], octaves: int
) -> None:
    reach = reach_of(64, found)
    shifted = reach_of(64, [(stride << octaves, share) for stride, share in found])
    assert shifted.helped == (None if reach.helped is None else reach.helped << octaves)
    assert shifted.stops == (None if reach.stops is None else reach.stops << octaves)


def test_a_rate_without_an_interval_of_time_has_none() -> None:
    assert rate(64, Estimate(4.0, 2.0, math.inf)) == Estimate(16.0, 0.0, 32.0)
    assert rate(64, Estimate(4.0, 0.0, math.inf)) == Estimate(16.0, 0.0, math.inf)
