"""Jobs of the mini-app made by hand: every figure is known."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile import runs as profiles
from tests.unit.analysis.profile.runs import MS, Made
from tests.unit.model import build

from memgauge.analysis.fft3d.phases import PhaseTimes, Timelines, bypasses, phase_figures
from memgauge.analysis.fft3d.ranks import facts_of, ranks_of, transforms_of
from memgauge.analysis.fft3d.scaling import efficiency, speed_up, step_figures
from memgauge.analysis.fft3d.shape import Pencils, transform_name, transform_of
from memgauge.analysis.ranks.rank_runs import NO_RUN, why_not_watched
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.grid import Grid
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.record_kinds.programs import Region
from memgauge.model.records import NOT_WATCHED, AnyRecord, ArrayCheck, RunEnd, Validation, Warning
from memgauge.model.run import Run
from memgauge.model.storage.run_file import read_run
from memgauge.reports.html.page import render as html
from memgauge.reports.terminal.report import render

PHASES = (
    "fft",
    "resort 1",
    "all2all",
    "resort 2",
    "fft",
    "resort 3",
    "all2all",
    "resort 4",
    "fft",
)
PHASE_NS = 100 * MS
NO_COUNTER = Warning(
    code=NOT_WATCHED, message="memory: no counter can be opened; perf: none; pcp: none"
)


def transform(ranks: int, begin_ns: int, phase_ns: int, size: int = 4) -> list[Region]:
    """One whole transform: nine phases, each as long as the place in its order says."""
    at = begin_ns
    inner = []
    for place, name in enumerate(PHASES, start=1):
        inner.append(region(name, at, at + place * phase_ns))
        at += place * phase_ns
    return [region(transform_name(ranks, size), begin_ns, at), *inner]


def region(name: str, begin_ns: int, end_ns: int | None) -> Region:
    return Region(name=name, pid=7, tid=8, begin_ns=begin_ns, end_ns=end_ns)


def rank_run(
    job: Path, rank: int, regions: Sequence[Region], *lanes: Made, killed: bool = False
) -> None:
    directory = job / f"rank-{rank}"
    directory.mkdir(parents=True)
    warnings = [] if lanes else [NO_COUNTER]
    profiles.profile(directory, *lanes, regions=regions, warnings=warnings, killed=killed)


def job(
    directory: Path,
    steps: str = "1x2:4",
    ranks: Scalar = 2,
    *,
    nodes: str = "n0:0-1",
    scaling: str | None = None,
    passed: bool | None = True,
    ended: bool = True,
    tile: str | None = None,
    nests: str | None = None,
) -> Run:
    """The run of the whole, beside which the ranks have theirs."""
    requested: dict[str, Scalar] = {
        "ranks": ranks,
        "steps": steps,
        "nodes": nodes,
        "scaling": scaling,
        "device": "cpu",
    }
    if tile is not None:
        requested["tile"] = tile
    if nests is not None:
        requested["nests"] = nests
    start = msgspec.structs.replace(
        build.start(), experiments=["fft3d"], parameters={"fft3d": requested}, precision=0.0
    )
    records: list[AnyRecord] = [start]
    if passed is not None:
        records.append(checked(passed=passed))
    if ended:
        records.append(RunEnd(status="complete", elapsed_s=1.0, rounds=0))
    directory.mkdir(exist_ok=True)
    (directory / "records.jsonl").write_bytes(
        b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    )
    return read_run(directory)


def checked(*, passed: bool) -> Validation:
    check = ArrayCheck(
        array="result",
        average_relative_error=1e-16 if passed else 0.5,
        epsilon=1e-14,
        elements=64,
        failed_elements=0 if passed else 64,
        first_failed=-1 if passed else 0,
        passed=passed,
    )
    return Validation(experiment="fft3d", subject="4^3 on 1x2 against all", checks=[check])


def texts(report: Report) -> list[str]:
    return [verdict.text for section in report.sections for verdict in section.verdicts]


def test_names_of_transforms_tell_their_ranks_and_size() -> None:
    assert [transform_of(transform_name(ranks, 8)) for ranks in (1, 2, 64)] == [
        (1, 8),
        (2, 8),
        (64, 8),
    ]
    assert transform_of("transform, 2 ranks") == (2, None)  # as earlier versions wrote it
    assert transform_of("transform, 0 ranks") is None
    assert transform_of("warm-up") is None


def test_phases_of_one_name_are_told_apart_by_their_order() -> None:
    (found,) = transforms_of(transform(2, 1000, MS))
    assert [phase.occurrence for phase in found.phases if phase.name == "fft"] == [1, 2, 3]
    assert list(found.phases.values()) == pytest.approx([n * 1e-3 for n in range(1, 10)])
    assert found.seconds == pytest.approx(0.045)


def test_a_transform_that_never_ended_is_left_out_and_others_phases_too() -> None:
    whole, cut = transform(2, 0, MS), transform(2, 100 * MS, MS)
    cut[0] = region(cut[0].name, cut[0].begin_ns, None)
    outside = region("fft", 90 * MS, 95 * MS)
    found = transforms_of([*cut[:4], outside, *whole])
    assert len(found) == 1
    assert len(found[0].phases) == 9


def test_times_are_medians_of_a_rank_and_extremes_over_ranks(tmp_path: Path) -> None:
    run = job(tmp_path)
    for rank, lengths in enumerate(([1, 2, 9], [4, 5, 6])):
        regions = [
            one
            for at, length in enumerate(lengths)
            for one in transform(2, at * 1000 * MS, length * MS)
        ]
        rank_run(tmp_path, rank, regions)
    facts = facts_of(run)
    assert facts is not None
    ranks = ranks_of(run, facts)
    figures = phase_figures(ranks, facts.steps[-1], Timelines())
    assert [one.title for one in figures] == [
        *("FFT 1", "re-sort 1", "All2All 1", "re-sort 2", "FFT 2"),
        *("re-sort 3", "All2All 2", "re-sort 4", "FFT 3"),
    ]
    first = figures[0]
    assert (first.least_s, first.median_s, first.most_s) == pytest.approx((2e-3, 3.5e-3, 5e-3))
    local = 4**3 // 2 * 16
    assert (figures[1].expected_read_bytes, figures[1].expected_write_bytes) == (2 * local, local)
    assert (figures[3].expected_read_bytes, figures[3].expected_write_bytes) == (2 * local, local)
    speed = figures[1].expected_bytes_per_s
    assert speed is not None
    assert speed.value == pytest.approx(3 * local / 7e-3)
    assert (speed.low, speed.high) == (None, None), "three transforms are too few"
    assert {one.expected_bytes_per_s for one in figures if "re-sort" not in one.title} == {None}
    assert (first.expected_read_bytes, first.sent_bytes) == (None, None)
    assert [one.sent_bytes for one in figures if one.title.startswith("All")] == [local // 2, 0]
    assert all(one.measured_read_bytes is None for one in figures)
    assert why_not_watched(ranks, "memory") == "no counter can be opened"


def test_expected_bytes_over_measured_time_has_the_interval_of_the_time(tmp_path: Path) -> None:
    """Over 36 transforms, those of the second rank twice as long."""
    run = job(tmp_path)
    lengths = [10 + (7 * at) % 12 for at in range(36)]
    for rank in range(2):
        rank_run(
            tmp_path,
            rank,
            [
                one
                for at, length in enumerate(lengths)
                for one in transform(2, at * 2000 * MS, (1 + rank) * length * MS)
            ],
        )
    facts = facts_of(run)
    assert facts is not None
    (phase,) = [
        one
        for one in phase_figures(ranks_of(run, facts), facts.steps[-1], Timelines())
        if one.title == "re-sort 1"
    ]
    time_s = sustained([2e-3 * length for length in lengths], 0.5)
    assert time_s is not None
    assert 0 < time_s.low < time_s.value < time_s.high
    bytes_ = 3 * 4**3 // 2 * 16
    # The median of two ranks is the mean of both.
    speed = phase.expected_bytes_per_s
    assert speed is not None
    expected = [bytes_ / seconds / 1.5 for seconds in (time_s.value, time_s.high, time_s.low)]
    assert [speed.value, speed.low, speed.high] == pytest.approx(expected)


@pytest.mark.parametrize("tile", [None, "0", "8"])
def test_what_is_no_bandwidth_is_called_what_it_is(tmp_path: Path, tile: str | None) -> None:
    run = job(tmp_path, tile=tile)
    for rank in range(2):
        rank_run(tmp_path, rank, transform(2, 0, MS))
    text = " ".join(render(analyse_run(run), 200).split())
    assert "not a measured bandwidth" in text
    assert ("Re-sort 1 and 3 read 8 elements of each row at a time" in text) is (tile == "8")
    page = html(analyse_run(run))
    assert "expected bytes / measured time" in page


@pytest.mark.parametrize(
    ("architecture", "reads"),
    [("x86_64", [2, 2, 2, 2]), ("ppc64le", [2, 1, 2, 1]), ("aarch64", [2, 1, 2, 1])],
)
def test_stores_in_order_are_read_first_where_they_do_not_bypass(
    tmp_path: Path, architecture: str, reads: list[int]
) -> None:
    run = job(tmp_path)
    for rank in range(2):
        rank_run(tmp_path, rank, transform(2, 0, MS))
    facts = facts_of(run)
    assert facts is not None
    figures = phase_figures(
        ranks_of(run, facts), facts.steps[-1], Timelines(), bypass=bypasses(architecture)
    )
    local = 4**3 // 2 * 16
    expected = [one.expected_read_bytes for one in figures if one.title.startswith("re-sort")]
    assert expected == [local * times for times in reads]
    assert {one.expected_write_bytes for one in figures} == {None, local}


def test_counted_traffic_is_that_of_a_node_over_its_ranks(tmp_path: Path) -> None:
    run = job(tmp_path, "1x4:4", 4, nodes="n0:0-1 n1:2-3")
    # Phases of 10, 20, ... 90 ms: re-sort 1 lies from 10 to 30 ms, re-sort 2 from 60 to 100 ms.
    for rank in range(4):
        rates = [profiles.steps((0.010, 0), (0.030, 4e6 * (1 + rank)), (1, 0)), lambda _: 1e6]
        counters = [profiles.reads(0), profiles.writes(1)]
        samples = profiles.sampled(rates, counters, profiles.every(MS, 500 * MS))
        rank_run(tmp_path, rank, transform(4, 0, 10 * MS), Made(counters, samples, MS))
    facts = facts_of(run)
    assert facts is not None
    figures = {
        one.title: one for one in phase_figures(ranks_of(run, facts), facts.steps[-1], Timelines())
    }
    # 64 bytes a count, of ranks 0 and 2, which are the first of their nodes.
    read = 64 * 0.020 * 4e6 * (1 + 3) / 4
    assert figures["re-sort 1"].measured_read_bytes == pytest.approx(read, rel=0.06)
    assert figures["re-sort 2"].measured_read_bytes == pytest.approx(0, abs=read / 50)
    assert figures["re-sort 2"].measured_write_bytes == pytest.approx(
        64 * 0.040 * 1e6 * 2 / 4, rel=0.06
    )
    assert figures["FFT 1"].measured_read_bytes is None
    report = analyse_run(run)
    table = next(t for t in report.sections[0].tables if t.name == "fft3d-phases")
    assert "measured read" in [column.title for column in table.columns]
    assert "\nFFT 1  " in render(report, 80), "a table, not a list, in 80 columns too"


def counted_at(directory: Path, interval_ns: int) -> Run:
    """Five transforms, of which each reads a little more than the one before in re-sort 1."""
    run = job(directory, "1x1:4", 1)
    marks, levels = [], []
    for at in range(5):
        begin_ns = at * 500 * MS
        marks += transform(1, begin_ns, 10 * MS)
        begin_s = begin_ns * 1e-9
        levels += [(begin_s + 0.010, 0.0), (begin_s + 0.030, 4e6 + at * 1e5)]
    fine = profiles.sampled(
        [profiles.steps(*levels, (9.0, 0.0))], [profiles.reads(0)], profiles.every(MS, 2600 * MS)
    )
    samples = fine[:: interval_ns // MS]
    rank_run(directory, 0, marks, Made([profiles.reads(0)], samples, interval_ns))
    return run


def first_resort(run: Run) -> PhaseTimes:
    facts = facts_of(run)
    assert facts is not None
    found = phase_figures(ranks_of(run, facts), facts.steps[-1], Timelines())
    return next(one for one in found if one.title == "re-sort 1")


def test_measured_traffic_has_its_range_and_interval_over_transforms(tmp_path: Path) -> None:
    found = first_resort(counted_at(tmp_path, MS)).measured_read
    assert found is not None
    moved = [64 * 0.020 * (4e6 + at * 1e5) for at in range(5)]
    assert found.transforms == 5
    assert found.mean == pytest.approx(sum(moved) / 5, rel=0.06)
    assert found.least == pytest.approx(moved[0], rel=0.06)
    assert found.most == pytest.approx(moved[-1], rel=0.06)
    assert found.low is not None
    assert found.high is not None
    assert found.mean is not None
    assert found.low < found.mean < found.high


def test_measured_traffic_is_drawn_by_phase_with_its_range(tmp_path: Path) -> None:
    run = counted_at(tmp_path, MS)
    found = first_resort(run).measured_read
    assert found is not None
    charts = {chart.name: chart for chart in analyse_run(run).sections[0].charts}
    chart = charts["fft3d-traffic"]
    bars = {series.name: series for series in chart.series}
    at = bars["measured read"].x.index("re-sort 1")
    measured = bars["measured read"]
    assert measured.low is not None
    assert measured.high is not None
    drawn = [measured.low[at], measured.y[at], measured.high[at]]
    assert found.mean is not None
    assert drawn == pytest.approx([found.least * 1e-6, found.mean * 1e-6, found.most * 1e-6])
    assert bars["expected read"].y[at] == pytest.approx(2 * 16 * 4**3 * 1e-6)
    assert all(y is None for y in bars["measured written"].y)


def test_phases_without_a_mean_are_not_drawn(tmp_path: Path) -> None:
    run = counted_at(tmp_path, 100 * MS)  # longer than the re-sort
    assert first_resort(run).measured_read_bytes is None
    drawn = [one for one in analyse_run(run).sections[0].charts if one.name == "fft3d-traffic"]
    assert all("re-sort 1" not in one.series[0].x for one in drawn)
    assert all("Too short for the rate of sampling: re-sort 1" in str(one.note) for one in drawn)


def test_a_phase_too_short_for_sampling_has_bounds_that_hold(tmp_path: Path) -> None:
    run = counted_at(tmp_path, 100 * MS)
    phase = first_resort(run)
    found = phase.measured_read
    assert phase.measured_read_bytes is None
    assert found is not None
    assert found.mean_at_least is not None
    assert found.mean_at_most is not None
    truth = sum(64 * 0.020 * (4e6 + at * 1e5) for at in range(5)) / 5
    assert found.mean_at_least <= truth <= found.mean_at_most * 1.06
    (said, *_) = [text for text in texts(analyse_run(run)) if "too short for 10 Hz" in text]
    assert said.startswith("re-sort 1 is too short for 10 Hz: at least 0.00, at most ")


def test_without_counters_there_is_no_column_and_one_line_why(tmp_path: Path) -> None:
    run = job(tmp_path)
    for rank in range(2):
        rank_run(tmp_path, rank, transform(2, 0, MS))
    report = analyse_run(run)
    table = next(t for t in report.sections[0].tables if t.name == "fft3d-phases")
    assert not any(column.title.startswith("measured") for column in table.columns)
    (why,) = [text for text in texts(report) if "not measured" in text]
    assert why == ("Traffic of the re-sorting phases was not measured: no counter can be opened.")


def test_scaling_compares_rates_of_the_slowest_rank(tmp_path: Path) -> None:
    run = job(tmp_path, "1x1:8 1x2:8", 2, scaling="strong")
    alone = transform(1, 0, 10 * MS, 8)
    rank_run(tmp_path, 0, [*alone, *transform(2, 1000 * MS, 5 * MS, 8)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, 8 * MS, 8))
    facts = facts_of(run)
    assert facts is not None
    ranks = ranks_of(run, facts)
    one, two = (step_figures(ranks, step) for step in facts.steps)
    assert one is not None
    assert two is not None
    assert (one.median_s, two.median_s) == pytest.approx((0.45, 0.36))
    assert speed_up(two, one) == pytest.approx(0.45 / 0.36)
    assert efficiency(two, one) == pytest.approx(0.45 / 0.36 / 2)
    assert two.fft_s == pytest.approx((1 + 5 + 9) * 8e-3)
    assert two.resort_s == pytest.approx((2 + 4 + 6 + 8) * 8e-3)
    assert two.all2all_s == pytest.approx((3 + 7) * 8e-3)
    names = [table.name for table in analyse_run(run).sections[0].tables]
    assert names == ["fft3d-scaling", "fft3d-scaling-phases", "fft3d-phases", "fft3d-ranks"]


def test_sizes_on_one_grid_have_a_table_each_and_curves(tmp_path: Path) -> None:
    run = job(tmp_path, "1x2:4 1x2:8", 2)
    for rank in range(2):
        small, large = transform(2, 0, MS), transform(2, 1000 * MS, 10 * MS, 8)
        rank_run(tmp_path, rank, [*small, *large])
    (section,) = analyse_run(run).sections
    tables = {table.name: table for table in section.tables}
    assert [row[:3] for row in tables["fft3d-sizes"].rows] == [
        [4, pytest.approx(45.0), pytest.approx(45.0)],
        [8, pytest.approx(450.0), pytest.approx(450.0)],
    ]
    assert tables["fft3d-phases-4"].rows[0][2] == pytest.approx(1.0)
    assert tables["fft3d-phases"].rows[0][2] == pytest.approx(10.0)
    (speed,) = [chart for chart in section.charts if chart.name == "fft3d-sizes-speed"]
    assert [one.name for one in speed.series] == [f"re-sort {at}" for at in (1, 2, 3, 4)]
    # re-sort 1 is the second phase, and moves 3 times the array of 4^3 / 2 or 8^3 / 2 elements
    assert speed.series[0].y == pytest.approx([1536 / 2e-3 * 1e-9, 12288 / 20e-3 * 1e-9])
    document = json_document(run)
    assert document.fft3d is not None
    assert [(step.size, step.transforms) for step in document.fft3d.steps] == [(4, 1), (8, 1)]


def test_two_loop_nests_have_a_row_and_an_expectation_each(tmp_path: Path) -> None:
    run = job(tmp_path, nests="two")
    names = [one for one in PHASES if one != "resort 1"]
    names[1:1] = ["resort 1, nest 1", "resort 1, nest 2"]
    inner = [region(name, at * MS, (at + 1) * MS) for at, name in enumerate(names)]
    whole = region(transform_name(2, 4), 0, len(names) * MS)
    for rank in range(2):
        rank_run(tmp_path, rank, [whole, *inner])
    (section,) = analyse_run(run).sections
    (table,) = [one for one in section.tables if one.name == "fft3d-phases"]
    rows = {row[0]: row for row in table.rows}
    array = 16 * 4**3 // 2 * 1e-6
    for title in ("re-sort 1, nest 1", "re-sort 1, nest 2"):
        assert rows[title][4:6] == pytest.approx([2 * array, array])
    assert "in each loop nest" in str(table.note)
    facts = facts_of(run)
    assert facts is not None
    in_order, strided, *_ = phase_figures(
        ranks_of(run, facts), facts.steps[0], Timelines(), bypass=True
    )[1:]
    assert (in_order.title, strided.title) == ("re-sort 1, nest 1", "re-sort 1, nest 2")
    assert in_order.expected_read_bytes == in_order.expected_write_bytes
    assert strided.expected_read_bytes == 2 * (strided.expected_write_bytes or 0)


def test_weak_scaling_counts_operations_not_points(tmp_path: Path) -> None:
    run = job(tmp_path, "1x1:8 1x2:10", 2, scaling="weak")
    rank_run(tmp_path, 0, [*transform(1, 0, MS, 8), *transform(2, 1000 * MS, MS, 10)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, MS, 10))
    facts = facts_of(run)
    assert facts is not None
    one, two = (step_figures(ranks_of(run, facts), step) for step in facts.steps)
    assert one is not None
    assert two is not None
    more = Pencils(size=10, grid=Grid(1, 2)).flops / Pencils(size=8, grid=Grid(1, 1)).flops
    assert speed_up(two, one) == pytest.approx(more)


def test_ranks_that_are_missing_or_cut_short_are_named(tmp_path: Path) -> None:
    run = job(tmp_path, "1x4:4", 4, nodes="n0:0-3", passed=None, ended=False)
    rank_run(tmp_path, 0, transform(4, 0, MS))
    rank_run(tmp_path, 1, transform(4, 0, MS), killed=True)
    (tmp_path / "rank-3").mkdir()
    (tmp_path / "rank-3" / "records.jsonl").write_bytes(b"torn")
    report = analyse_run(run)
    known = texts(report)
    assert "Rank 1 of 4: killed before its end, or still running." in known
    assert f"Rank 2 of 4: {NO_RUN}." in known
    assert any(text.startswith("Rank 3 of 4: ") and "no complete record" in text for text in known)
    assert "The result was not checked: the job did not end." in known
    assert not report.complete
    text = render(report, width=80, color=False)
    assert "killed" in text
    assert html(report)


def test_a_wrong_result_is_a_problem(tmp_path: Path) -> None:
    run = job(tmp_path, passed=False)
    for rank in range(2):
        rank_run(tmp_path, rank, transform(2, 0, MS))
    (said,) = [v for v in analyse_run(run).sections[0].verdicts if "relative error" in v.text]
    assert said.level == "problem"
    assert "0.5, beyond the bound of 1e-14" in said.text


def test_a_whole_job_says_where_its_ranks_are_and_draws_them(tmp_path: Path) -> None:
    run = job(tmp_path)
    for rank in range(2):
        rank_run(tmp_path, rank, transform(2, 0, MS))
    report = analyse_run(run)
    assert report.title == "Distributed 3-D FFT"
    assert report.status == "complete; 1.00 s"
    assert any("rank-0 to rank-1" in text for text in texts(report))
    (chart,) = report.sections[0].charts
    assert [series.name for series in chart.series] == [
        *("FFT", "re-sort 1", "All2All", "re-sort 2", "re-sort 3", "re-sort 4"),
    ]
    assert chart.series[0].y == pytest.approx([1.0 + 5.0 + 9.0] * 2)
    assert "Phases of each rank" in html(report)


def test_a_transform_that_is_long_enough_is_drawn_over_time(tmp_path: Path) -> None:
    run = job(tmp_path)
    # The second of two transforms, each of 450 ms, begins at 1 s; 5 ms lie between readings.
    rates = [profiles.steps((1.010, 1e6), (1.030, 3e6), (9, 1e6)), lambda _: 1e6]
    counters = [profiles.reads(0), profiles.writes(1)]
    samples = profiles.sampled(rates, counters, profiles.every(5 * MS, 2000 * MS))
    regions = [*transform(2, 100 * MS, 10 * MS), *transform(2, 1000 * MS, 10 * MS)]
    for rank in range(2):
        rank_run(tmp_path, rank, regions, Made(counters, samples, 5 * MS))
    chart = next(c for c in analyse_run(run).sections[0].charts if c.name == "fft3d-transform")
    fft, resort = chart.regions[:2]
    assert (fft.label, resort.label) == ("FFT 1", "re-sort 1")
    assert (fft.start, fft.end, resort.end) == pytest.approx((0, 0.010, 0.030))
    reads = next(one for one in chart.series if one.name.startswith("memory read"))
    assert min(x for x in reads.x if isinstance(x, float)) >= -0.0051
    assert max(x for x in reads.x if isinstance(x, float)) <= 0.4551
    highest = max((y, x) for x, y in zip(reads.x, reads.y, strict=True) if y is not None)
    assert 0.010 <= float(highest[1]) <= 0.030


def test_the_same_as_plain_data(tmp_path: Path) -> None:
    run = job(tmp_path, "1x1:8 1x2:8", 2, scaling="strong")
    rank_run(tmp_path, 0, [*transform(1, 0, 10 * MS, 8), *transform(2, 1000 * MS, 5 * MS, 8)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, 8 * MS, 8))
    found = json_document(run).fft3d
    assert found is not None
    assert [(one.grid, one.size, one.transforms) for one in found.steps] == [
        ("1x1", 8, 1),
        ("1x2", 8, 1),
    ]
    assert found.steps[1].efficiency == pytest.approx(0.45 / 0.36 / 2)
    assert len(found.steps[1].phases) == 9
    assert [rank.transforms_s for rank in found.ranks] == [
        [pytest.approx(0.225)],
        [pytest.approx(0.36)],
    ]
    assert [rank.problem for rank in found.ranks] == [None, None]


@pytest.mark.parametrize(
    "changes",
    [
        {"ranks": None},
        {"ranks": 0},
        {"ranks": 10**9},
        {"ranks": "2"},
        {"steps": ""},
        {"steps": "2x2"},
        {"steps": "1x2:0x4 :8 1x2:-4 3x3:4"},
        {"steps": "4x4:16"},
    ],
)
def test_a_run_that_does_not_say_what_it_did_says_so(
    tmp_path: Path, changes: dict[str, Scalar]
) -> None:
    run = job(tmp_path, **changes)  # type: ignore[arg-type]
    assert "does not record which transforms" in texts(analyse_run(run))[0]


def test_hostile_nodes_are_left_out(tmp_path: Path) -> None:
    run = job(tmp_path, nodes="\x1b[31mn0:0-1 :9-1 n2:0-99999999 n3")
    facts = facts_of(run)
    assert facts is not None
    assert set(facts.nodes) == {0, 1}
    assert "\x1b" not in render(analyse_run(run), width=80, color=False)


def test_crowded_nodes_and_small_arrays_are_told(tmp_path: Path) -> None:
    run = job(tmp_path, "1x3:6", 3, nodes="n0:0-2")
    for rank in range(3):
        rank_run(tmp_path, rank, transform(3, 0, MS, 6))
    known = texts(analyse_run(run))
    assert any(text.startswith("3 ranks shared 2 CPUs") for text in known)
    assert any("fit into its L3 caches (32 MiB)" in text for text in known)
