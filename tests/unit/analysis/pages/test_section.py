"""TLB reaches from curves made by formula, what may be compared, and what a reader is told."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis import runs
from tests.unit.analysis.published import strided_case
from tests.unit.analysis.records import latency_point, sample_of

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.pages.comparability import Case, comparability
from memgauge.analysis.pages.section import analyse
from memgauge.analysis.section import Cell, Section
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.tlb import extra, find_tlb_levels, spread_of
from memgauge.model.records import AnyRecord, Point, RunEnd
from memgauge.model.run import Run, run_of
from memgauge.references.library import load

KIB, MIB = 1 << 10, 1 << 20
HIT_NS = 1.6


def tight(value: float, share: float = 0.005) -> Estimate:
    return Estimate(value, value - share * (HIT_NS + value), value + share * (HIT_NS + value))


def stairs(
    reaches: tuple[int, ...], costs: tuple[float, ...], most: int = 1 << 17
) -> list[tuple[int, Estimate]]:
    """Least-recently-used levels under a repeated walk: all hit up to the reach, none beyond."""
    counts = [1 << power for power in range(4, most.bit_length())]
    return [(n, tight(costs[sum(n > reach for reach in reaches)])) for n in counts]


def test_two_levels_and_what_walks_cost() -> None:
    one, two, walk = find_tlb_levels(stairs((96, 4096), (0.0, 1.8, 20.0)), HIT_NS)
    assert (one.reach, one.beyond) == (64, 128)
    assert (two.reach, two.beyond) == (4096, 8192)
    assert two.cost.value == pytest.approx(1.8)
    assert walk.cost.value == pytest.approx(20.0)
    assert walk.beyond is None


@given(
    st.integers(5, 9),
    st.integers(2, 5),
    st.floats(1.2, 6.0),
    st.floats(2.5, 30.0),
    st.integers(0, 1 << 32),
)
def test_reaches_are_found_under_noise_of_the_intervals(
    first: int, apart: int, miss_ns: float, factor: float, seed: int
) -> None:
    rng = random.Random(seed)
    reaches = (1 << first, 1 << (first + apart))
    curve = [
        (n, tight(cost.value + rng.gauss(0, 0.002) * (HIT_NS + cost.value)))
        for n, cost in stairs(reaches, (0.0, miss_ns, miss_ns * factor))
    ]
    found = [(level.reach, level.beyond) for level in find_tlb_levels(curve, HIT_NS)]
    assert found[:2] == [(reach, 2 * reach) for reach in reaches]


@given(st.integers(1, 64))
def test_a_curve_over_other_numbers_has_its_reaches_there(factor: int) -> None:
    curve = stairs((96, 4096), (0.0, 1.8, 20.0))
    moved = [(n * factor, cost) for n, cost in curve]
    found = [level.reach for level in find_tlb_levels(moved, HIT_NS)]
    assert found == [level.reach * factor for level in find_tlb_levels(curve, HIT_NS)]


@given(st.floats(0.2, 5.0))
def test_a_clock_of_another_pace_finds_the_same(pace: float) -> None:
    curve = stairs((96, 4096), (0.0, 1.8, 20.0))
    slower = [(n, Estimate(c.value * pace, c.low * pace, c.high * pace)) for n, c in curve]
    assert [level.reach for level in find_tlb_levels(slower, HIT_NS * pace)] == [
        level.reach for level in find_tlb_levels(curve, HIT_NS)
    ]


@given(st.lists(st.floats(-0.03, 0.03), min_size=3, max_size=20))
def test_no_step_is_made_up(noise: list[float]) -> None:
    curve = [(16 << index, tight(value)) for index, value in enumerate(noise)]
    (level,) = find_tlb_levels(curve, HIT_NS)
    assert level.beyond is None
    assert level.reach == curve[-1][0]


def test_one_number_of_pages_above_is_noise_in_the_middle_and_decides_nothing_at_the_end() -> None:
    curve = stairs((1 << 20,), (0.0, 9.0), most=2048)
    curve[4] = (curve[4][0], tight(9.0))
    assert [(level.reach, level.beyond) for level in find_tlb_levels(curve, HIT_NS)] == [
        (2048, None)
    ]
    curve = stairs((1024,), (0.0, 9.0), most=2048)
    assert [(level.reach, level.beyond) for level in find_tlb_levels(curve, HIT_NS)] == [
        (1024, None)
    ]


def test_walks_that_cost_more_and_more_are_beyond_the_second_level() -> None:
    curve = stairs((96, 4096), (0.0, 1.8, 12.0), most=4096)
    curve += [(8192, tight(12.0)), (16384, tight(22.0)), (32768, tight(60.0))]
    levels = find_tlb_levels(curve, HIT_NS)
    assert [(level.reach, level.beyond) for level in levels[:2]] == [(64, 128), (4096, 8192)]


def test_nothing_is_told_of_a_curve_too_short_or_one_that_starts_beyond() -> None:
    assert find_tlb_levels([], HIT_NS) == []
    assert find_tlb_levels(stairs((96,), (0.0, 2.0), most=32), HIT_NS) == []
    assert find_tlb_levels(stairs((8,), (0.0, 20.0)), HIT_NS) == []


def test_a_difference_carries_both_intervals() -> None:
    cost = extra(Estimate(10, 9, 12), Estimate(4, 3, 5))
    assert cost.value == 6
    assert cost.low == pytest.approx(6 - math.hypot(1, 1))
    assert cost.high == pytest.approx(6 + math.hypot(2, 1))
    assert math.isinf(extra(Estimate(10, 0, math.inf), Estimate(4, 3, 5)).high)


def test_the_spread_of_costs_covers_values_and_known_intervals() -> None:
    known, unknown = Estimate(2.0, 1.9, 2.2), Estimate(3.0, 0.0, math.inf)
    assert spread_of([known]) == known
    assert spread_of([known, unknown]) == Estimate(2.5, 1.9, 3.0)
    assert spread_of([unknown]) == unknown


def test_the_published_cases_cannot_be_compared_and_it_is_said_why() -> None:
    cases = [strided_case(row) for row in load("hybrid12-tlb").rows]
    assert [case.accesses for case in cases] == [33_554_432, 32_768, 256]
    assert [case.pages for case in cases] == [32_768, 32_768, 256]
    assert [case.access_ns for case in cases] == [
        pytest.approx(ns, rel=0.01) for ns in (0.489, 35_095, 66.4)
    ]
    verdict = comparability(cases)
    assert verdict.level == "warning"
    assert verdict.text.startswith("The cases cannot be compared: they differ in the number of")
    for said in (
        "baseline: 33,554,432 accesses to 32,768 pages",
        "huge pages: 256 accesses to 256",
    ):
        assert said in verdict.text
    assert verdict.remedy == "compare the time of one access, over the same number of pages"
    assert comparability(cases[:2]).level == "note"
    assert "the time of one access can" in comparability(cases[:2]).text


@given(st.lists(st.integers(1, 1000), min_size=1), st.integers(1, 10**9))
def test_cases_with_as_many_accesses_are_comparable(pages: list[int], accesses: int) -> None:
    cases = [Case(name=str(n), accesses=accesses, pages=n) for n in pages]
    assert comparability(cases).level == "good"
    if len(set(pages)) > 1:
        cases[0] = msgspec.structs.replace(cases[0], accesses=accesses + 1)
        expected = "warning" if len(cases) > 1 else "good"
        assert comparability(cases).level == expected


def cost_ns(pages: str, stride: int, count: int, *, split: bool) -> float:
    """L1 cache of 512 lines, TLBs of 96 and 4096 entries, of base pages where huge ones split."""
    access = HIT_NS if count <= 512 else 4.3
    page = 2 * MIB if pages == "thp" and not split else 4 * KIB
    entries = count if stride >= page else -(-count * stride // page)
    return access + (0.0 if entries <= 96 else 1.8 if entries <= 4096 else 20.0)


def points(*, split: bool, kinds: tuple[str, ...] = ("4k", "thp")) -> Iterator[tuple[Point, float]]:
    for pages in kinds:
        packed = [64] if pages == kinds[-1] else []
        for stride in [*packed, 4 * KIB, *([2 * MIB] if pages == "thp" else [])]:
            page = 2 * MIB if pages == "thp" else 4 * KIB
            for power in range(4, 9 if stride == 2 * MIB else 15):
                count = 1 << power
                touched = count if stride >= page else -(-count * stride // page)
                yield (
                    latency_point(
                        f"pages/{pages}/{stride}/{count}",
                        experiment="pages",
                        requested={
                            "pages": pages,
                            "stride_bytes": stride,
                            "accesses_distinct": count,
                            "footprint_bytes": count * stride,
                        },
                        actual={
                            "cpus": "0",
                            "pages": pages,
                            "page_bytes": page,
                            "pages_touched": touched,
                        },
                        accesses=8192,
                    ),
                    cost_ns(pages, stride, count, split=split),
                )


def records(*, split: bool, kinds: tuple[str, ...], thp: str) -> Iterator[AnyRecord]:
    rng = random.Random(1)
    start = runs.start(runs.system(thp=thp))
    yield msgspec.structs.replace(start, experiments=["pages"])
    made = list(points(split=split, kinds=kinds))
    yield from (point for point, _ in made)
    for round_ in range(120):
        for point, ns in made:
            yield sample_of(point, ns * rng.gauss(1, 0.002), round_)
    yield RunEnd(status="budget", elapsed_s=10.0, rounds=120)


def a_run(
    *, split: bool = False, kinds: tuple[str, ...] = ("4k", "thp"), thp: str = "madvise"
) -> Run:
    return run_of(records(split=split, kinds=kinds, thp=thp))


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures_of(a_run()))


def texts(section: Section) -> list[str]:
    return [verdict.text for verdict in section.verdicts]


def rows(section: Section, name: str) -> list[dict[str, Cell]]:
    table = next(table for table in section.tables if table.name == name)
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def test_reaches_stand_in_entries_and_bytes_with_what_a_miss_costs(section: Section) -> None:
    found = {(row["pages"], row["every"], row["level"]): row for row in rows(section, "tlb")}
    one = found["4k", 4 * KIB, "L1 TLB"]
    assert (one["lines held"], one["not held"], one["reach"]) == (64, 128, 256 * KIB)
    assert one["a miss costs"] == pytest.approx(1.8, rel=0.05)
    two = found["4k", 4 * KIB, "L2 TLB"]
    assert (two["lines held"], two["not held"], two["reach"]) == (4096, 8192, 16 * MIB)
    assert two["a miss costs"] == pytest.approx(20, rel=0.05)
    huge = found["thp", 2 * MIB, "L1 TLB"]
    assert (huge["lines held"], huge["not held"], huge["reach"]) == (64, 128, 128 * MIB)
    far = found["thp", 4 * KIB, "L1 TLB"]
    assert (far["not held"], far["a miss costs"]) == (None, None)


def test_verdicts_say_reaches_gains_and_what_was_not_seen(section: Section) -> None:
    said = texts(section)
    assert (
        "4k, every 4 KiB: the L2 TLB reaches 4096 to 8192 pages (16 MiB to 32 MiB); a miss of it "
        "costs 20.0 ns an access." in said
    )
    assert (
        "thp, every 2 MiB: the L2 TLB reaches at least 256 pages (512 MiB): no end was seen."
        in said
    )
    assert any(text.startswith("Accesses to 16384 lines over 64 MiB take 5.6") for text in said)
    assert "All cases do 8,192 accesses: their times can be compared." in said
    assert not any("smaller pieces" in text for text in said)


def test_the_gain_is_that_of_the_same_lines(section: Section) -> None:
    for row in rows(section, "pages"):
        gain = row["gain"]
        assert isinstance(gain, Estimate)
        count = row["lines"]
        assert isinstance(count, int)
        wanted = [cost_ns(pages, 4 * KIB, count, split=False) for pages in ("4k", "thp")]
        assert gain.value == pytest.approx(wanted[0] / wanted[1], rel=0.02)


def test_huge_pages_translated_in_pieces_are_noticed() -> None:
    section = analyse(figures_of(a_run(split=True)))
    (verdict,) = [v for v in section.verdicts if "smaller pieces" in v.text]
    assert verdict.level == "warning"
    assert verdict.text.startswith(
        "Lines on 1 page of 2 MiB, 4 KiB apart, already miss the TLB: huge pages (thp) are"
    )
    (reach,) = [t for t in texts(section) if t.startswith("thp, every 2 MiB: the L1 TLB")]
    assert "pieces of pages" in reach
    assert "MiB to" not in reach
    mapped = {(row[0], row[5] is None) for row in section.tables[0].rows}
    assert mapped == {("4k", False), ("thp", True)}
    gained = next(text for text in texts(section) if text.startswith("Accesses to 16384"))
    assert "are not seen to be faster in thp pages than in base pages" in gained


def test_without_huge_pages_it_is_said_that_base_pages_only_were_measured() -> None:
    section = analyse(figures_of(a_run(kinds=("4k",), thp="never")))
    said = texts(section)
    assert "Transparent huge pages are switched off: only base pages were measured." in said
    assert "4k, every 4 KiB: the L1 TLB reaches 64 to 128 pages (256 KiB to 512 KiB)" in said[0]
    assert all("gain" not in row for row in rows(section, "pages"))


def test_nothing_measured_is_said() -> None:
    run = run_of([msgspec.structs.replace(runs.start(), experiments=["pages"])])
    section = analyse(figures_of(run))
    assert texts(section) == ["No access to pages was measured."]
    assert (section.tables, section.charts) == ([], [])


def test_charts_shade_the_levels_of_base_pages_and_leave_gaps_where_nothing_was_seen(
    section: Section,
) -> None:
    access, cost = section.charts
    assert [(band.label, band.start, band.end) for band in access.bands] == [
        ("L1 TLB", 16, 64),
        ("L2 TLB", 128, 4096),
        ("page walk", 8192, 16384),
    ]
    assert {series.name for series in access.series} == {
        "thp, every 64 B",
        "4k, every 4 KiB",
        "thp, every 4 KiB",
        "thp, every 2 MiB",
    }
    base = next(series for series in cost.series if series.name == "4k, every 4 KiB")
    assert [y is None for y in base.y] == [x <= 64 for x in base.x if isinstance(x, float)]
