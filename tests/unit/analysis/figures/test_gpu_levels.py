"""What is said of latency, footprints and mixes in a GPU's memory, of runs whose truth is known."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.gpu_runs import (
    CLOCK_GHZ,
    L1,
    L2,
    MEMORY_NS,
    READ_GB_PER_S,
    Made,
    footprint,
    footprints,
    gpu_run,
    latencies,
    mixed,
    mixes,
    stream_read,
    walked,
    whole_gpu_run,
)
from tests.unit.analysis.runs import KIB, MIB

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.figures.concurrency import bytes_in_flight, lines_in_flight
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.cross_checks import crosschecks
from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report, Section, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.run import Run


@pytest.fixture(scope="module")
def run() -> Run:
    return whole_gpu_run()


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return analyse_run(run)


def section(report: Report, name: str) -> Section:
    return next(section for section in report.sections if section.name == name)


def texts(verdicts: list[Verdict], level: str) -> list[str]:
    return [verdict.text for verdict in verdicts if verdict.level == level]


def test_latency_names_each_level_of_the_gpu(report: Report) -> None:
    found = section(report, "latency")
    table = rows(found.tables[0])
    assert [row["level"] for row in table] == ["L1", "L2", "device memory", "device memory"]
    for row in table:
        assert value(row["cycles"]) == pytest.approx(CLOCK_GHZ * value(row["latency"]), rel=1e-6)
    (text,) = texts(found.verdicts, "good")
    assert text.startswith("A load from device memory of NVIDIA Example takes 55")
    assert ", from its L2 15" in text
    assert ", from its L1 20.0 ns" in text or ", from its L1 19" in text
    assert texts(found.verdicts, "warning") == []
    notes = texts(found.verdicts, "note")
    assert any("1.04 times as long as within blocks of 2 MiB" in note for note in notes)


def test_bytes_in_flight_are_latency_times_bandwidth(report: Report) -> None:
    note = next(t for t in texts(section(report, "latency").verdicts, "note") if "Little" in t)
    held_mb = READ_GB_PER_S * MEMORY_NS * 1e-6
    said = float(note.partition("at least ")[2].partition(" MB")[0])
    assert said == pytest.approx(held_mb, rel=0.01)
    assert "for each of 100 multiprocessors" in note
    alone = analyse_run(gpu_run(footprints()))
    assert any("Little" in t for t in texts(section(alone, "workingset").verdicts, "note"))
    assert not any("Little" in v.text for v in section(report, "workingset").verdicts)


def test_bytes_are_lines_of_one_byte() -> None:
    rate, wait = Estimate(30.0, 29.0, 31.0), Estimate(100.0, 99.0, 101.0)
    whole, lines = bytes_in_flight(rate, wait), lines_in_flight(rate, wait, 64)
    assert whole is not None
    assert lines is not None
    assert (whole.value, whole.low / 64) == pytest.approx((3000.0, lines.low))


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([walked("L1", "random", 150.4), walked("L2", "random", 160.0)], "4% of those from L2"),
        (
            [walked("L2", "random", 540.0), walked("DRAM", "random", 560.0)],
            "% of those from device memory",
        ),
    ],
)
def test_a_cache_that_reads_like_what_is_behind_it_is_a_warning(
    points: list[Made], words: str
) -> None:
    found = section(analyse_run(gpu_run(points)), "latency")
    (text,) = texts(found.verdicts, "warning")
    assert words in text


def test_the_l2_found_stands_beside_what_the_driver_claims(report: Report) -> None:
    found = section(report, "workingset")
    table = {row["level"]: row for row in rows(found.tables[0])}
    assert [*table] == ["L1", "L2", "device memory"]
    assert [row["verdict"] for row in table.values()] == ["not known", "agrees", "memory"]
    assert (table["L1"]["driver"], table["L2"]["driver"]) == (None, L2)
    assert L1 <= table["L1"]["found"] <= 1.5 * L1  # type: ignore[operator]
    assert texts(found.verdicts, "good") == ["The L2 is as large as the driver says."]
    (note,) = texts(found.verdicts, "note")
    assert note.startswith("L1 holds ")
    assert note.endswith("the driver does not show its size.")
    latency, read = found.charts
    assert [rule.label for rule in latency.rules] == ["L2 by driver"]
    assert read.series[0].name == "read bandwidth, whole GPU"
    assert read.title == "Read bandwidth over footprint, whole GPU"
    assert latency.title == "Latency over footprint, one thread"
    assert [rule.value for rule in read.rules if rule.axis == "y"] == [3200.0]
    assert [band.label for band in read.bands] == ["L2", "device memory"]
    assert all(band.start >= 2 * MIB for band in read.bands), "no further than its curve"


def test_the_caches_of_the_host_are_no_claim_for_a_gpu() -> None:
    found = section(analyse_run(gpu_run(footprints(l2_bytes=None))), "workingset")
    table = {row["level"]: row for row in rows(found.tables[0])}
    assert [row["verdict"] for row in table.values()] == ["not known", "not known", "memory"]
    assert [*table] == ["L1", "L2", "device memory"]
    assert {row["driver"] for row in table.values()} == {None}


def test_an_l2_of_which_a_part_is_seen_is_said_with_why() -> None:
    found = section(analyse_run(gpu_run(footprints(held_bytes=L2 // 2))), "workingset")
    (verdict,) = [verdict for verdict in found.verdicts if verdict.level == "warning"]
    assert verdict.text.endswith("not the 48 MiB of the driver.")
    assert "partitions" in (verdict.remedy or "")


def test_a_mix_is_made_by_the_whole_gpu(report: Report) -> None:
    found = section(report, "mix")
    (text,) = texts(found.verdicts, "good")
    assert "(all reads, whole GPU)" in text
    assert "thread" not in text
    assert found.title == "Read-write mixes in the GPU's memory"
    for row in rows(found.tables[0]):
        assert value(row["of peak"]) == pytest.approx(value(row["bandwidth"]) / 3200)
    (chart,) = found.charts
    assert [line.name for line in chart.series] == ["whole GPU"]
    assert [rule.value for rule in chart.rules] == [3200.0]
    assert chart.title.endswith("NVIDIA Example")


def test_a_mix_faster_than_the_memory_is_a_problem() -> None:
    found = section(analyse_run(gpu_run([mixed(1.0, 3300.0)])), "mix")
    (text,) = texts(found.verdicts, "problem")
    assert "of the theoretical 3200.0 GB/s. More than 100% is impossible" in text


def test_what_reads_the_same_memory_is_checked_against_each_other(run: Run) -> None:
    checks = {check.what: check for check in crosschecks(figures_of(run))}
    assert [*checks] == [
        "mix, 100r, GPU",
        "mix, reads alone, GPU",
        "latency of L1",
        "latency of L2",
        "latency of memory",
    ]
    assert {check.outcome for check in checks.values()} == {"agrees"}
    assert checks["mix, reads alone, GPU"].other_name == f"workingset/read/cuda:0/{6 * L2}"


def test_reads_of_memory_may_be_slower_by_what_the_l2_keeps() -> None:
    """Of six times the L2 a sixth may be hit: a tenth more is no disagreement, a half is one."""
    for more, outcome in ((1.1, "agrees"), (1.5, "disagrees"), (0.9, "disagrees")):
        largest = footprint("read", 6 * L2, READ_GB_PER_S * more)
        (check,) = crosschecks(figures_of(gpu_run([mixed(1.0, READ_GB_PER_S), largest])))
        assert check.outcome == outcome, more


def test_without_a_mix_stream_is_checked_and_nothing_within_the_l2() -> None:
    largest = footprint("read", 6 * L2, READ_GB_PER_S)
    (check,) = crosschecks(figures_of(gpu_run([stream_read(), largest])))
    assert check.what == "stream, tuned reads, GPU"
    small = footprint("read", 2 * L2, READ_GB_PER_S)
    assert crosschecks(figures_of(gpu_run([stream_read(), small]))) == []


def test_figures_of_host_and_gpu_are_never_set_beside_each_other() -> None:
    host = [mixed(1.0, 100.0, memory="dram"), footprint("read", 6 * L2, READ_GB_PER_S)]
    assert crosschecks(figures_of(gpu_run([*host, stream_read()])))[0].one_name.startswith("stream")
    pair = crosschecks(figures_of(gpu_run([mixed(1.0, 100.0, memory="dram"), stream_read()])))
    assert pair == []


def test_headlines_name_the_gpu(report: Report) -> None:
    found = {headline.label: headline for headline in report.headlines}
    assert found["Memory latency"].detail == "random in blocks, NVIDIA Example"
    assert found["Last-level cache found"].detail == "L2, 48 MiB by the driver"


def test_the_document_holds_levels_and_checks(run: Run) -> None:
    document = json_document(run)
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document
    levels = {level.name: level for part in document.sections for level in part.levels}
    assert [level.status for level in levels.values()] == ["not known", "agrees", "memory"]
    assert levels["L1"].claimed_bytes is None
    assert all(check.outcome == "agrees" for check in document.cross_checks)


def test_two_runs_of_a_gpu_pair_point_by_point(run: Run) -> None:
    faster = gpu_run([*latencies(), *mixes()], seed=8)
    sources = [of_run(figures_of(run), "a"), of_run(figures_of(faster), "b")]
    (pair,) = compare(sources).pairs
    assert {row.name for row in pair.rows} == {p.point for p, _ in [*latencies(), *mixes()]}


def test_a_curve_of_one_level_has_names_for_what_is_there() -> None:
    small = [footprint("latency", 4 * KIB * step // 4, 20.0) for step in range(4, 80)]
    found = section(analyse_run(gpu_run(small)), "workingset")
    assert not texts(found.verdicts, "good")
