"""Jobs of ranks: one time for all, sums that conserve what was counted, sockets taken once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.profile import runs
from tests.unit.analysis.profile.runs import MS, Made, S, every, sampled
from tests.unit.analysis.ranks.jobs import manifest, ran, rank_run, two_sockets, write_manifest

from memgauge.analysis.ranks.charts import MOST_ROWS
from memgauge.analysis.ranks.document import RanksDocument, ranks_document
from memgauge.analysis.ranks.job import job_of
from memgauge.analysis.ranks.rank_runs import NO_RUN
from memgauge.analysis.ranks.report import ProfiledRanks, profiled_ranks, ranks_in, report_of
from memgauge.analysis.ranks.sockets import SocketGroup, socket_groups
from memgauge.analysis.ranks.spreads import region_spreads, seconds_in, spread_of
from memgauge.analysis.schema import ranks_schema
from memgauge.analysis.section import Report
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.programs import Region
from memgauge.model.records import NOT_WATCHED, Warning
from memgauge.model.storage.profile_job import JobManifest
from memgauge.model.storage.schema import schema_text
from memgauge.reports.html import page as html
from memgauge.reports.terminal import report as terminal


def busy(cores: float, end_s: float = 2.0, begin_s: float = 0.0) -> Made:
    """A program that uses so many cores from its begin to its end, read each 10 ms before too."""
    counters = [runs.cpu_time(0)]
    rates = [runs.steps((begin_s, 0.0), (end_s, cores * 1e9), (1e9, 0.0))]
    return Made(
        counters, sampled(rates, counters, every(10 * MS, round(end_s * S))), name="process"
    )


def of_node(*rates: tuple[Counter, float], end_s: float = 2.0) -> Made:
    """Counters of a node, each at a constant rate of raw counts."""
    counters = [counter for counter, _ in rates]
    constant = [runs.steps((1e9, rate)) for _, rate in rates]
    return Made(
        counters, sampled(constant, counters, every(10 * MS, round(end_s * S))), name="node"
    )


def analysed(job: Path, found: JobManifest | None = None) -> ProfiledRanks:
    write_manifest(job, found or manifest())
    return profiled_ranks(job, found or manifest())


def texts(report: Report) -> list[str]:
    return [verdict.text for section in report.sections for verdict in section.verdicts]


def totals(groups: Sequence[SocketGroup]) -> list[tuple[list[int], list[int], float]]:
    return [(one.sockets, one.ranks, one.traffic_bytes or 0.0) for one in groups]


def test_ranks_of_a_node_are_aligned_by_its_clock(tmp_path: Path) -> None:
    # The second run began 5 s after the first, on a wall clock that was set back meanwhile.
    rank_run(tmp_path, 0, busy(1.0, 8.0), process=ran(0.0, 8.0), epoch_s=100.0)
    rank_run(tmp_path, 1, busy(0.5), process=ran(0.25, 2.0), epoch_s=105.0, wall_s=-3600.0)
    job = analysed(tmp_path).parts.job
    assert job.begins_s(0) == 0.0
    assert job.begins_s(1) == pytest.approx(5.25)
    assert job.lasts_s(1) == pytest.approx(1.75)


def test_nodes_are_aligned_by_their_wall_clocks(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0), epoch_s=100.0)
    rank_run(
        tmp_path,
        1,
        busy(1.0),
        process=ran(0.0, 2.0),
        epoch_s=9000.0,
        wall_s=0.5,
        leads=True,
        hostname="n1",
        boot="b1",
    )
    found = analysed(tmp_path)
    assert found.parts.job.begins_s(1) == pytest.approx(0.5)
    assert list(found.parts.job.nodes.values()) == ["n0", "n1"]
    assert any("wall clocks" in text for text in texts(report_of(found)))


def test_the_sum_over_ranks_conserves_what_each_counted(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0, 2.0), process=ran(0.0, 2.0))
    rank_run(tmp_path, 1, busy(0.5, 3.0, 1.0), process=ran(1.0, 3.0))
    job = analysed(tmp_path).parts.job
    assert job.whole is not None
    (cpu,) = [t for t in job.whole.tracks if t.track.quantity == "time"]
    # 2 s at one core, and 2 s at half of one, which overlap for a second.
    assert cpu.total(0, job.whole.bins) == pytest.approx(3.0, rel=1e-6)
    assert cpu.known_s == pytest.approx(3.0, rel=1e-6)
    bins = job.whole.bins
    means = [cpu.mean(at * bins // 3, (at + 1) * bins // 3) for at in range(3)]
    assert means == pytest.approx([1.0, 1.5, 0.5], rel=1e-3)
    assert [round(phase.begin_s, 1) for phase in job.phases] == [0.0, 1.0, 2.0]


def test_counters_of_a_socket_go_to_the_ranks_on_it_and_are_taken_once(tmp_path: Path) -> None:
    reads = [
        runs.reads(0, socket=0),
        runs.counter("perf:uncore_imc/read/@uncore_imc_1", 1, socket=1),
    ]
    node = of_node((reads[0], 1e6), (reads[1], 3e6), (runs.energy(2), 5e6))
    for rank, cpus in enumerate(([0], [1], [2, 3])):
        lanes = [busy(1.0), *([node] if rank == 0 else [])]
        bound = two_sockets(cpus)
        rank_run(tmp_path, rank, *lanes, process=ran(0.0, 2.0), ranks=3, system=bound)
    groups = socket_groups(analysed(tmp_path, manifest(3)).parts.job)
    assert [(one.sockets, one.ranks) for one in groups] == [([0], [0, 1]), ([1], [2])]
    assert [one.read_bytes for one in groups] == pytest.approx([2e6 * 64, 6e6 * 64], rel=1e-4)
    assert groups[0].share(groups[0].read_bytes) == pytest.approx(1e6 * 64, rel=1e-4)
    assert [one.energy_j for one in groups] == [pytest.approx(10.0, rel=1e-4), None]
    assert {one.counted_by for one in groups} == {0}


def test_sockets_between_which_a_rank_may_move_are_taken_together(tmp_path: Path) -> None:
    node = of_node(
        (runs.reads(0, socket=0), 1e6),
        (runs.counter("perf:uncore_imc/read/@uncore_imc_1", 1, socket=1), 3e6),
    )
    rank_run(tmp_path, 0, busy(1.0), node, process=ran(0.0, 2.0), system=two_sockets([0]))
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, 2.0), system=two_sockets([0, 2]))
    (group,) = socket_groups(analysed(tmp_path).parts.job)
    assert (group.sockets, group.ranks) == ([0, 1], [0, 1])
    assert group.read_bytes == pytest.approx(8e6 * 64, rel=1e-4)


def test_a_socket_that_no_rank_ran_on_is_shown_without_a_share(tmp_path: Path) -> None:
    node = of_node(
        (runs.reads(0, socket=0), 1e6),
        (runs.counter("perf:uncore_imc/read/@uncore_imc_1", 1, socket=1), 3e6),
    )
    rank_run(tmp_path, 0, busy(1.0), node, process=ran(0.0, 2.0), system=two_sockets([0]))
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, 2.0), system=two_sockets([1]))
    groups = socket_groups(analysed(tmp_path).parts.job)
    assert [(one.sockets, one.ranks) for one in groups] == [([0], [0, 1]), ([1], [])]
    assert groups[1].read_bytes == pytest.approx(6e6 * 64, rel=1e-4)
    assert groups[1].share(groups[1].read_bytes) is None


def test_what_is_counted_of_a_whole_node_is_its_ranks_together(tmp_path: Path) -> None:
    node = of_node((runs.reads(0, socket=None), 1e6))
    rank_run(tmp_path, 0, busy(1.0), node, process=ran(0.0, 2.0), system=two_sockets([0]))
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, 2.0), system=two_sockets([2]))
    (group,) = socket_groups(analysed(tmp_path).parts.job)
    assert (group.sockets, group.ranks) == ([0, 1], [0, 1])


def test_a_node_whose_counting_rank_ended_early_is_known_in_part(tmp_path: Path) -> None:
    node = of_node((runs.reads(0), 1e6), end_s=1.0)
    rank_run(tmp_path, 0, busy(1.0, 1.0), node, process=ran(0.0, 1.0))
    rank_run(tmp_path, 1, busy(1.0, 4.0), process=ran(0.0, 4.0))
    found = analysed(tmp_path)
    (group,) = found.parts.sockets
    assert group.known == pytest.approx(0.25, abs=0.01)
    assert group.read_bytes == pytest.approx(1e6 * 64, rel=1e-3)
    assert any("were counted for 25% of the time" in text for text in texts(report_of(found)))


def test_imbalance_is_the_most_over_the_mean_less_one() -> None:
    spread = spread_of("time", "s", {0: 1.0, 1: 1.0, 2: 4.0, 3: None})
    assert spread is not None
    assert (spread.ranks, spread.most_rank, spread.median) == (3, 2, 1.0)
    assert spread.imbalance == pytest.approx(1.0)
    assert spread_of("none", "s", {0: None}) is None
    zero = spread_of("zero", "", {0: 0.0, 1: 0.0})
    assert zero is not None
    assert zero.imbalance is None


def region(name: str, begin_s: float, end_s: float | None, tid: int = 8) -> Region:
    end_ns = None if end_s is None else round(end_s * S)
    return Region(name=name, pid=7, tid=tid, begin_ns=round(begin_s * S), end_ns=end_ns)


def test_regions_of_threads_count_once_and_name_the_slowest_rank(tmp_path: Path) -> None:
    first = [region("solve", 0.5, 1.0), region("solve", 0.5, 1.0, tid=9)]
    second = [region("solve", 0.75, 2.0)]
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0), regions=first)
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, 2.0), regions=second)
    found = analysed(tmp_path)
    (one,) = found.parts.regions
    assert [one.spread.least, one.spread.most] == pytest.approx([0.5, 1.25])
    assert one.spread.most_rank == 1
    assert one.times == 2
    assert one.first_s == pytest.approx(0.5)
    assert one.apart_s == pytest.approx(0.25)
    assert any(
        text.startswith("solve: rank 1 takes 1.25 s, 43% more") for text in texts(report_of(found))
    )
    timeline = found.parts.job.timelines[0]
    assert seconds_in([region("x", 0.0, 1.0), region("x", 0.2, 0.4)], timeline) == pytest.approx(
        1.0
    )


def test_the_rank_that_failed_first_is_named_first(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0, exit_code=143))
    failed = ran(0.0, 1.5, exit_code=7)
    rank_run(tmp_path, 1, busy(1.0, 1.5), process=failed)
    problems = [text for text in texts(report_of(analysed(tmp_path))) if "exited" in text]
    assert problems == [
        "Rank 1: its program exited with 7, before the others.",
        "Rank 0: its program exited with 143.",
    ]


def test_missing_killed_and_late_ranks_are_named(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0, 10.0), process=ran(0.0, 10.0), ranks=4)
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, None), ranks=4, killed=True)
    rank_run(tmp_path, 3, busy(1.0), process=ran(0.0, 2.0), epoch_s=6.0, ranks=4)
    found = analysed(tmp_path, manifest(4))
    known = texts(report_of(found))
    assert "Rank 1 of 4: killed before its end, or still running." in known
    assert f"Rank 2 of 4: {NO_RUN}." in known
    assert "Rank 3 began late: rank 3 6.00 s after the first." in known
    # The last reading is the latest that is known of a rank that was killed.
    assert found.parts.job.lasts_s(1) == pytest.approx(2.0)
    assert not report_of(found).complete


def test_why_nothing_was_counted_of_memory_is_told_once(tmp_path: Path) -> None:
    why = Warning(code=NOT_WATCHED, message="memory: no counter can be opened; perf: none")
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0), warnings=[why])
    rank_run(tmp_path, 1, busy(1.0), process=ran(0.0, 2.0))
    report = report_of(analysed(tmp_path))
    assert texts(report).count("Memory traffic was not counted: no counter can be opened.") == 1
    assert all(table.name != "ranks-sockets" for table in report.sections[0].tables)


def test_more_ranks_than_their_cpus_are_a_warning(tmp_path: Path) -> None:
    for rank in range(3):
        bound = two_sockets([0, 1])
        rank_run(tmp_path, rank, busy(0.6), process=ran(0.0, 2.0), ranks=3, system=bound)
    known = texts(report_of(analysed(tmp_path, manifest(3))))
    assert any(text.startswith("3 ranks shared 2 CPUs of n0") for text in known)


@pytest.mark.parametrize(("waiting", "parts"), [(0.7, [0.4, 1.4, 0.2]), (0.0, [0.4, 1.6])])
def test_waiting_for_a_processor_is_told_apart_from_doing_nothing(
    tmp_path: Path, waiting: float, parts: list[float]
) -> None:
    """Both ranks use 0.2 cores for two seconds, in which they wait for another share of them."""
    counters = [runs.cpu_time(0), runs.of_process(1, "run_delay", "s", 1e-9)]
    rates = [runs.steps((2.0, 0.2e9), (1e9, 0.0)), runs.steps((2.0, waiting * 1e9), (1e9, 0.0))]
    load = Made(counters, sampled(rates, counters, every(10 * MS, 2 * S)), name="process")
    for rank in range(2):
        rank_run(tmp_path, rank, load, process=ran(0.0, 2.0))
    report = report_of(analysed(tmp_path))
    (chart,) = (one for one in report.sections[0].charts if one.name == "ranks-shares")
    drawn = [series.y[0] for series in chart.series]
    assert drawn == pytest.approx(parts, abs=0.02)
    warned = [text for text in texts(report) if text.startswith("Threads of a rank waited")]
    assert len(warned) == (waiting > 0)


@pytest.mark.parametrize("ranks", [1, 2, MOST_ROWS + 1])
def test_jobs_of_any_size_are_drawn_and_printed(tmp_path: Path, ranks: int) -> None:
    for rank in range(ranks):
        load = busy(0.5 + rank / 1000, 0.2)
        rank_run(tmp_path, rank, load, process=ran(0.0, 0.2), ranks=ranks)
    report = report_of(analysed(tmp_path, manifest(ranks)))
    chart = next(one for one in report.sections[0].charts if one.name == "ranks-over-time")
    assert len(chart.series) == min(ranks, MOST_ROWS)
    text = terminal.render(report, width=80, color=False, whole=False)
    assert max(map(len, text.splitlines())) <= 80
    assert report.title in html.render(report)


def test_a_job_without_a_single_run_is_a_report_too(tmp_path: Path) -> None:
    report = report_of(analysed(tmp_path))
    assert f"Ranks 0-1 of 2: {NO_RUN}." in texts(report)
    assert "no rank was recorded" in report.machine
    assert html.render(report)


def test_ranks_that_nobody_counted_are_those_that_are_there(tmp_path: Path) -> None:
    for rank in (0, 5):
        rank_run(tmp_path, rank, busy(1.0), process=ran(0.0, 2.0))
    (tmp_path / "rank-x").mkdir()
    assert [rank.rank for rank in ranks_in(tmp_path, manifest(None))] == [0, 5]


def test_a_rank_that_does_not_record_where_it_ran_is_left_out_of_the_time(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0))
    directory = tmp_path / "rank-1"
    directory.mkdir()
    runs.profile(directory, busy(1.0), process=ran(0.0, 2.0))
    job = job_of(ranks_in(tmp_path, manifest()))
    assert list(job.timelines) == [0]
    assert job.begins_s(1) is None


def test_the_document_follows_its_schema(tmp_path: Path) -> None:
    node = of_node((runs.reads(0), 1e6))
    rank_run(tmp_path, 0, busy(1.0), node, process=ran(0.0, 2.0))
    document = ranks_document(analysed(tmp_path))
    data = msgspec.json.decode(msgspec.json.encode(document))
    jsonschema.validate(data, ranks_schema())
    assert msgspec.convert(data, RanksDocument, strict=False) == document
    assert [one.problem for one in document.ranks] == [None, NO_RUN]
    assert document.ranks[0].cpu_s == pytest.approx(2.0, rel=1e-3)


def test_the_published_schema_is_the_present_one() -> None:
    published = Path(__file__).parents[4] / "docs" / "schema" / "ranks-1.json"
    assert published.read_text(encoding="utf-8") == schema_text(ranks_schema()), (
        f"publish it: memgauge schema --of ranks > docs/schema/{published.name}"
    )


def test_regions_that_no_rank_marked_are_none(tmp_path: Path) -> None:
    rank_run(tmp_path, 0, busy(1.0), process=ran(0.0, 2.0))
    assert region_spreads(analysed(tmp_path).parts.job) == []
