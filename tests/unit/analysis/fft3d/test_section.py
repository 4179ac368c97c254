"""Jobs of the mini-app made by hand: every figure is known."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile import runs as profiles
from tests.unit.analysis.profile.runs import MS, Made
from tests.unit.model import build

from memgauge.analysis.fft3d.phases import Timelines, bypasses, phase_figures, why_not_measured
from memgauge.analysis.fft3d.ranks import NO_RUN, facts_of, ranks_of, transforms_of
from memgauge.analysis.fft3d.scaling import efficiency, speed_up, step_figures
from memgauge.analysis.fft3d.shape import Pencils, transform_name, transform_ranks
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.grid import Grid
from memgauge.model.records import (
    NOT_WATCHED,
    AnyRecord,
    ArrayCheck,
    Region,
    RunEnd,
    Scalar,
    Validation,
    Warning,
)
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


def transform(ranks: int, begin_ns: int, phase_ns: int) -> list[Region]:
    """One whole transform: nine phases, each as long as the place in its order says."""
    at = begin_ns
    inner = []
    for place, name in enumerate(PHASES, start=1):
        inner.append(region(name, at, at + place * phase_ns))
        at += place * phase_ns
    return [region(transform_name(ranks), begin_ns, at), *inner]


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


def test_names_of_transforms_tell_their_ranks() -> None:
    assert [transform_ranks(transform_name(ranks)) for ranks in (1, 2, 64)] == [1, 2, 64]
    assert transform_ranks("transform, 0 ranks") is None
    assert transform_ranks("warm-up") is None


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
    assert why_not_measured(ranks) == "no counter can be opened"


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
    alone = transform(1, 0, 10 * MS)
    rank_run(tmp_path, 0, [*alone, *transform(2, 1000 * MS, 5 * MS)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, 8 * MS))
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


def test_weak_scaling_counts_operations_not_points(tmp_path: Path) -> None:
    run = job(tmp_path, "1x1:8 1x2:10", 2, scaling="weak")
    rank_run(tmp_path, 0, [*transform(1, 0, MS), *transform(2, 1000 * MS, MS)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, MS))
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
    rank_run(tmp_path, 0, [*transform(1, 0, 10 * MS), *transform(2, 1000 * MS, 5 * MS)])
    rank_run(tmp_path, 1, transform(2, 1000 * MS, 8 * MS))
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
        rank_run(tmp_path, rank, transform(3, 0, MS))
    known = texts(analyse_run(run))
    assert any(text.startswith("3 ranks shared 2 CPUs") for text in known)
    assert any("fit into its L3 caches (32 MiB)" in text for text in known)
