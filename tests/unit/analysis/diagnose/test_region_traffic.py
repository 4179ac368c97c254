"""What regions move: bounds by planted readings, simulated bytes, curves, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.diagnose.programs import diagnosed, with_regions, with_uses
from tests.unit.analysis.diagnose.test_traffic import CURVES, counters, reading, simulated
from tests.unit.analysis.profile.runs import MS, Rate, S, every, reads, sampled, steps, writes

from memgauge.analysis.diagnose.by_region.judged import RegionDiagnosis, region_diagnoses
from memgauge.analysis.diagnose.by_region.traffic import (
    Amount,
    RegionTraffic,
    counted_regions,
    region_on_curve,
)
from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import report_of
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.record_kinds.programs import SampledReading, SampledRegions
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import AnyRecord
from memgauge.model.run import run_of
from memgauge.model.simulated_program import TrafficRegion

Spans = Sequence[tuple[int, int]]
WAITS, STREAMS, COUNTS = (0.75, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)
COUNTERS = [reads(0), writes(1)]
PEAK_GB_PER_S = 12.5
"""Of the bandwidth reference of `diagnosed`."""
LINE_BYTES = 64
READ, WRITTEN = 1e9 / LINE_BYTES, 0.5e9 / LINE_BYTES
"""Lines a second."""


def counted(
    regions: Mapping[str, Spans], rates: Sequence[Rate] = (lambda _: READ, lambda _: WRITTEN)
) -> list[AnyRecord]:
    """A run of a second, sampled at 100 Hz, and its regions in ms."""
    rows = sampled(rates, COUNTERS, every(10 * MS, S))
    return [
        CounterSet(counters="diagnose-traffic", slots=2, of=COUNTERS),
        SampledRegions(
            counters="diagnose-traffic",
            interval_ns=10 * MS,
            begin_ns=MS,
            end_ns=999 * MS,
            readings=[
                SampledReading(begin_ns=row[0] or 0, end_ns=row[1] or 0, values=[*row[2:]])
                for row in rows
            ],
            regions={
                name: [(begin * MS, end * MS) for begin, end in spans]
                for name, spans in regions.items()
            },
        ),
    ]


def figures_with(
    regions: Mapping[str, tuple[float, float, float]], *more: AnyRecord, latency: float = 0.5
) -> Figures:
    return with_uses(with_regions(diagnosed(latency=latency), regions), {}, *more)


def by_name(figures: Figures) -> dict[str, RegionDiagnosis]:
    return {one.name: one for one in region_diagnoses(figures)}


def said(figures: Figures) -> str:
    return " ".join(verdict.text for verdict in analyse(figures).verdicts)


def test_a_region_moves_between_what_is_inside_and_what_is_around() -> None:
    found = counted_regions(figures_with({"solve": WAITS}, *counted({"solve": [(205, 695)]})))
    one = found["solve"]
    assert (one.basis, one.by) == ("counted", "perf")
    assert one.rate_hz == pytest.approx(100)
    assert one.inside_s == pytest.approx(0.49)
    assert one.read is not None
    assert one.read.total is not None
    ends = (one.read.least, one.read.total, one.read.most)
    assert ends == pytest.approx((0.48e9, 0.49e9, 0.5e9))
    assert one.write is not None
    assert one.write.least == pytest.approx(0.24e9)
    assert one.total.least == pytest.approx(0.72e9)
    assert one.total.most == pytest.approx(0.75e9)
    assert one.gb_per_s == pytest.approx((0.72 / 0.49, 0.75 / 0.49))
    assert one.peak_share == pytest.approx(
        (0.72 / 0.49 / PEAK_GB_PER_S, 0.75 / 0.49 / PEAK_GB_PER_S), rel=0.02
    )
    assert one.read_share == pytest.approx((0.48 / 0.73, 0.5 / 0.74))


def test_what_lies_between_the_same_readings_counts_once() -> None:
    spans = [(401, 402), (403, 404), (405, 409)]
    found = counted_regions(figures_with({"tick": COUNTS}, *counted({"tick": spans})))
    total = found["tick"].total
    assert found["tick"].is_too_short
    assert (total.least, total.total) == (0, None)
    assert total.most == pytest.approx(15e6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(5, 900), st.integers(1, 90)), min_size=1, max_size=4))
def test_bounds_hold_whatever_the_region(drawn: list[tuple[int, int]]) -> None:
    """Of a program that moves 2 GB/s in its region, and nothing outside."""
    spans: list[tuple[int, int]] = []
    for begin, length in sorted(drawn):
        if not spans or begin > spans[-1][1]:
            spans.append((begin, begin + length))
    edges = [(0.0, 0.0)]
    for begin, end in spans:
        edges += [(begin / 1e3, 0.0), (end / 1e3, 1.0)]
    # Counted at each ms, so that each edge lies on one; every tenth of these readings is sampled.
    pieces = [(until, 2e9 / LINE_BYTES * level) for until, level in [*edges[1:], (2.0, 0.0)]]
    rows = sampled([steps(*pieces), lambda _: 0.0], COUNTERS, every(MS, S))[::10]
    made = counted({"region": spans})[-1]
    assert isinstance(made, SampledRegions)
    readings = [
        SampledReading(begin_ns=row[0] or 0, end_ns=row[1] or 0, values=[*row[2:]]) for row in rows
    ]
    record = msgspec.structs.replace(made, readings=readings)
    (declared, _) = counted({})
    one = counted_regions(figures_with({"region": WAITS}, declared, record))["region"]
    true_bytes = 2e6 * sum(end - begin for begin, end in spans)
    assert one.total.least <= true_bytes + 100 * LINE_BYTES
    assert one.total.most >= true_bytes - 100 * LINE_BYTES


def test_a_region_that_is_too_short_is_said_to_be_plainly() -> None:
    figures = figures_with(
        {"solve": WAITS, "tick": COUNTS}, *counted({"solve": [(200, 700)], "tick": [(802, 805)]})
    )
    text = said(figures)
    assert "Counted by perf in one run more, by region: " in text
    assert "tick is too short for 100 Hz: at least 0, at most 15 MB in 0.003 s" in text
    assert "solve reads 500 MB and writes 250 MB in 0.5 s: 1.5 GB/s, 12% of what one" in text
    assert "other programs are in it" in text
    table = next(one for one in analyse(figures).tables if one.name == "diagnose-region-traffic")
    rows = {row[0]: row for row in table.rows}
    assert rows["tick"][1:5] == ["counted", "0 to 10", "0 to 5", "0 to 5"]
    assert "Too short for sampling at 100 Hz" in (table.note or "")


def test_a_reading_that_is_missing_leaves_the_region_unknown() -> None:
    declared, made = counted({"solve": [(200, 700)], "late": [(800, 900)]})
    assert isinstance(made, SampledRegions)
    gone = [
        msgspec.structs.replace(one, values=[None, None]) if one.begin_ns == 450 * MS else one
        for one in made.readings
    ]
    record = msgspec.structs.replace(made, readings=gone)
    found = counted_regions(figures_with({"solve": WAITS, "late": COUNTS}, declared, record))
    assert found.keys() == {"late"}


@pytest.mark.parametrize(
    ("kind", "shares", "gb_per_s", "verdict"),
    [
        ("counted", WAITS, 1.5, "latency"),
        ("counted", WAITS, 6.0, "memory"),
        ("counted", STREAMS, 6.0, "bandwidth"),
        ("counted", STREAMS, 1.5, "memory"),  # the two contradict each other
        ("counted", COUNTS, 1.5, "not memory"),
        ("simulated", WAITS, 1.5, "latency"),
        ("simulated", WAITS, 6.0, "memory"),
        ("simulated", STREAMS, 1.5, "memory"),
    ],
)
def test_little_traffic_of_a_region_decides_as_that_of_a_run_does(
    kind: str, shares: tuple[float, float, float], gb_per_s: float, verdict: str
) -> None:
    if kind == "counted":
        rates = [lambda _: gb_per_s * 1e9 / LINE_BYTES, lambda _: 0.0]
        more = counted({"solve": [(205, 695)]}, rates)
    else:
        more = simulated_by_region({"solve": (round(gb_per_s * 0.5e9), 0)})
    one = by_name(figures_with({"solve": shares}, *more))["solve"]
    assert one.traffic is not None
    assert one.traffic.basis == kind
    assert one.judgement.kind == verdict
    if verdict != "not memory":
        assert f"; {kind}, it moves " in one.judgement.why
    assert by_name(figures_with({"solve": shares}))["solve"].judgement.kind != "latency"


def test_traffic_that_may_be_little_or_not_decides_nothing() -> None:
    """The lower bound is less than a quarter of the peak, and the upper bound is more."""
    rates = [lambda _: 2.8e9 / LINE_BYTES, lambda _: 0.0]
    tight = by_name(figures_with({"r": WAITS}, *counted({"r": [(205, 695)]}, rates)))["r"]
    loose = by_name(figures_with({"r": WAITS}, *counted({"r": [(205, 235)]}, rates)))["r"]
    assert tight.judgement.kind == "latency"
    assert loose.judgement.kind == "memory"
    assert "counted, it moves at most 30% of the bandwidth" in loose.judgement.why


def simulated_by_region(
    regions: Mapping[str, tuple[int, int]], no_regions: str = ""
) -> list[AnyRecord]:
    """A simulated run, with what its regions read and write."""
    machine, whole = simulated(10**9, 10**8)
    assert isinstance(whole, Simulated)
    made = [
        TrafficRegion(name=name, read_bytes=read, write_bytes=written, places=whole.places)
        for name, (read, written) in regions.items()
    ]
    return [machine, msgspec.structs.replace(whole, regions=made, no_regions=no_regions)]


def test_simulated_bytes_of_a_region_are_over_its_measured_time() -> None:
    more = simulated_by_region({"solve": (800_000_000, 200_000_000)})
    figures = figures_with({"solve": COUNTS}, *more)
    one = by_name(figures)["solve"]
    assert one.traffic is not None
    assert one.traffic is one.simulated
    assert one.traffic.inside_s == pytest.approx(0.5, rel=0.02)
    assert one.traffic.gb_per_s == pytest.approx((2.0, 2.0), rel=0.02)
    text = said(figures)
    assert "By a simulation of this machine's caches, by region: solve reads 800 MB and" in text
    assert "of measured time" in text
    assert "100% of it in solve. Not counted." in text


def test_what_was_counted_takes_the_place_of_what_was_simulated() -> None:
    more = [*counted({"solve": [(200, 700)]}), *simulated_by_region({"solve": (10**9, 0)})]
    figures = figures_with({"solve": COUNTS, "other": COUNTS}, *more)
    found = by_name(figures)
    solve = found["solve"]
    assert solve.traffic is not None
    assert solve.simulated is not None
    assert (solve.traffic.basis, solve.simulated.basis) == ("counted", "simulated")
    assert found["other"].traffic is None
    table = next(one for one in analyse(figures).tables if one.name == "diagnose-region-traffic")
    assert [row[:2] for row in table.rows] == [["solve", "counted"], ["solve", "simulated"]]


def test_why_regions_were_not_simulated_is_said() -> None:
    figures = figures_with({"solve": COUNTS}, *simulated_by_region({}, "valgrind sees no call"))
    assert "What its regions move was not simulated: valgrind sees no call." in said(figures)


def test_a_region_has_a_place_on_a_curve_where_one_is_the_nearest() -> None:
    figures = figures_with({"solve": COUNTS}, *counted({"solve": [(205, 695)]}), *CURVES)
    place = by_name(figures)["solve"].on_curve
    assert place is not None
    assert place.load == "half"
    assert place.peak_share_least == pytest.approx(0.72 / 0.49 / 10)
    assert place.peak_share_most == pytest.approx(0.75 / 0.49 / 10)
    assert place.latency_least_ns == pytest.approx(100 + 40 * (0.72 / 0.49 - 1) / 8)
    assert place.latency_most_ns == pytest.approx(100 + 40 * (0.75 / 0.49 - 1) / 8)
    assert place.to_knee_most_gb_per_s is None
    text = said(figures)
    assert "Counted traffic of region solve on the curve of run known (half): 15% of the" in text


def test_a_region_is_drawn_from_the_least_to_the_most_that_it_may_move() -> None:
    usual = {"compute": reading(10**9 // 64, 10**9 // 64)}
    run = with_regions(diagnosed(latency=0.5), {"solve": COUNTS})
    more = [counters("read_bytes", "write_bytes"), *counted({"solve": [(205, 695)]}), *CURVES]
    figures = with_uses(run, usual, *more)
    place = by_name(figures)["solve"].on_curve
    assert place is not None
    (chart,) = (one for one in analyse(figures).charts if one.name == "diagnose-curve")
    curve, program, region = chart.series[:3]
    assert (curve.name, program.name) == ("half", "the program, counted traffic")
    assert region.name == "region solve, counted traffic"
    assert region.x == pytest.approx([0.72 / 0.49, 0.75 / 0.49])
    assert region.y == [place.latency_least_ns, place.latency_most_ns]


def moved(read: tuple[float, float], write: tuple[float, float]) -> RegionTraffic:
    """In a second, in GB at least and at most."""
    of = [Amount(least=low * 1e9, most=high * 1e9, total=None) for low, high in (read, write)]
    total = Amount(least=of[0].least + of[1].least, most=of[0].most + of[1].most, total=None)
    return RegionTraffic(
        basis="counted", by="perf", total=total, read=of[0], write=of[1], inside_s=1.0,
        peak_gb_per_s=PEAK_GB_PER_S, rate_hz=100.0,
    )  # fmt: skip


def test_a_place_that_bounds_do_not_tell_is_none() -> None:
    assert region_on_curve(moved((0.0, 5.0), (0.0, 5.0)), CURVES) is None  # any share of reads
    assert region_on_curve(moved((1.0, 9.0), (1.0, 3.0)), CURVES) is None  # two curves are nearest
    assert region_on_curve(None, CURVES) is None
    assert region_on_curve(moved((1.0, 1.1), (0.0, 0.1)), []) is None
    beyond = region_on_curve(moved((8.0, 12.0), (0.0, 0.1)), CURVES)
    assert beyond is not None
    assert beyond.latency_least_ns == pytest.approx(100 + 40 * 7 / 8)
    assert beyond.latency_most_ns is not None
    assert beyond.to_knee_least_gb_per_s == pytest.approx(9 - 12.1)
    assert beyond.to_knee_most_gb_per_s == pytest.approx(1.0)


def test_traffic_of_regions_is_in_data_and_in_the_answer() -> None:
    figures = figures_with(
        {"solve": WAITS, "tick": COUNTS}, *counted({"solve": [(205, 695)], "tick": [(802, 805)]})
    )
    found = diagnosis_figures(figures)
    assert found is not None
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    regions = {one.name: one.traffic for one in found.regions}
    assert regions["solve"] is not None
    assert regions["solve"].least_gb_per_s == pytest.approx(0.72 / 0.49)
    assert regions["tick"] is not None
    assert regions["tick"].total.bytes is None
    assert regions["tick"].total.most_bytes == pytest.approx(15e6)
    answer = report_of(figures).answer
    assert answer is not None
    (line,) = (one for one in answer.lines if one.label == "Regions move")
    assert "solve 1.47 to 1.53 GB/s (12% of what one CPU streams)" in line.detail
    assert line.detail.endswith("; counted bytes")


def test_counters_that_a_resumption_declares_anew_leave_earlier_readings_behind() -> None:
    figures = figures_with({"solve": WAITS}, *counted({"solve": [(205, 695)]}))
    run = figures.run
    declared, made = counted({"solve": [(205, 695)]})
    again = msgspec.structs.replace(run.start, resumed=True)
    records: list[AnyRecord] = [run.start, declared, made, again]
    assert len(run_of(records).sampled_regions) == 1
    assert run_of([*records, declared]).sampled_regions == []
    assert len(run_of([*records, declared, made]).sampled_regions) == 1
    assert figures_of(run).run.sampled_regions[0].interval_ns == 10 * MS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counters": "others"}, "samples counters 'others', which were not declared"),
        ({"end_ns": MS}, "over a time that ends before it begins"),
        ({"regions": {"r": [(5, 5)]}}, "over a time that ends before it begins"),
    ],
)
def test_records_that_cannot_be_are_refused(changes: dict[str, object], message: str) -> None:
    declared, made = counted({"solve": [(205, 695)]})
    record = msgspec.structs.replace(made, **changes)
    start = diagnosed().run.start
    with pytest.raises(ValueError, match=message):
        run_of([start, declared, record])


def test_readings_out_of_order_or_of_other_slots_are_refused() -> None:
    declared, made = counted({})
    assert isinstance(made, SampledRegions)
    start, readings = diagnosed().run.start, made.readings
    swapped = msgspec.structs.replace(made, readings=[readings[1], readings[0]])
    with pytest.raises(ValueError, match="stamps that run backwards"):
        run_of([start, declared, swapped])
    short = msgspec.structs.replace(readings[1], values=[1])
    other = msgspec.structs.replace(made, readings=[readings[0], short])
    with pytest.raises(ValueError, match="with another number of slots"):
        run_of([start, declared, other])
