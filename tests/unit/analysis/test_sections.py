import math
import re

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import (
    KIB,
    MIB,
    environment,
    records,
    start,
    system,
    validation,
    whole_run,
)

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.report.verdicts import run_verdicts
from memgauge.analysis.section import Report, Section, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.best_of import stream_form
from memgauge.model.records import Point, RunEnd, Warning
from memgauge.model.run import Run, run_of


@pytest.fixture(scope="module")
def run() -> Run:
    return whole_run()


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return analyse_run(run)


def section(report: Report, name: str) -> Section:
    return next(section for section in report.sections if section.name == name)


def table(report: Report, name: str) -> Table:
    found = [t for section in report.sections for t in section.tables if t.name == name]
    return found[0]


def test_tables_and_charts_have_the_shape_they_say(report: Report) -> None:
    for section in report.sections:
        for table in section.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)
        for chart in section.charts:
            for series in chart.series:
                assert len(series.x) == len(series.y)
                assert series.low is not None
                assert series.high is not None
                assert len(series.low) == len(series.high) == len(series.x)


def test_stream_table_sets_tuned_beside_standard_in_each_regime(report: Report) -> None:
    found = {(r["kernel"], r["threads"], r["regime"]): r for r in rows(table(report, "stream"))}
    one = found["triad", 1, None]
    assert value(one["standard"]) == pytest.approx(20, rel=0.01)
    assert value(one["gain"]) == pytest.approx(1.4, rel=0.01)
    assert one["STREAM best"] == pytest.approx(20, rel=0.02)
    near = found["triad", 2, "same complex (27 ns)"]
    far = found["triad", 2, "across complexes (175 ns)"]
    assert value(near["tuned"]) == pytest.approx(28, rel=0.01)
    assert value(far["tuned"]) == pytest.approx(56, rel=0.01)
    assert found["copy", 1, None]["standard"] is None
    assert found["copy", 1, None]["gain"] is None


def test_the_report_says_what_plain_loops_were_compiled_for(report: Report) -> None:
    assert str(table(report, "stream").note).endswith("Standard loops: compiled for avx2.")
    for row in rows(table(report, "stream-points")):
        assert row["instructions"] == ("avx2" if row["variant"] == "standard" else "avx512")


def test_bytes_that_memory_moves_stand_beside_those_counted(report: Report) -> None:
    for row in rows(table(report, "stream-points")):
        factor = 4 / 3 if row["variant"] == "standard" else 1
        assert value(row["memory moves"]) == pytest.approx(value(row["sustained"]) * factor)
        assert row["N"] is None or isinstance(row["N"], int)


def test_latency_is_given_in_ns_and_cycles(report: Report) -> None:
    for row in rows(table(report, "latency")):
        assert value(row["cycles"]) == pytest.approx(4 * value(row["latency"]), rel=1e-6)
    texts = [verdict.text for verdict in section(report, "latency").verdicts]
    assert texts[0].startswith("A load from memory takes 1")
    assert texts[1] == "Base pages make random loads from memory 1.50 times as slow."


def test_levels_found_stand_beside_those_claimed(report: Report) -> None:
    found = {row["level"]: row for row in rows(table(report, "levels"))}
    assert [row["verdict"] for row in found.values()] == ["agrees", "agrees", "smaller", "memory"]
    assert (found["L1"]["found"], found["L2"]["found"]) == (32 * KIB, MIB)
    assert (found["L3"]["found"], found["L3"]["topology"]) == (6 * MIB, 32 * MIB)
    (verdict,) = section(report, "workingset").verdicts
    assert verdict.text == "L3 holds 6 MiB to 7 MiB, not the 32 MiB of the topology."
    latency, read = section(report, "workingset").charts
    assert [band.label for band in latency.bands] == ["L1", "L2", "L3", "memory"]
    assert [rule.value for rule in read.rules] == [32 * KIB, MIB, 32 * MIB]


def test_report_leads_with_the_figures_that_matter(report: Report) -> None:
    headlines = {headline.label: headline for headline in report.headlines}
    bandwidth = headlines["Bandwidth"]
    assert value(bandwidth.value) == pytest.approx(28, rel=0.01)
    assert bandwidth.detail is not None
    assert re.fullmatch(
        r"triad, tuned, 2 threads, same complex \(27 ns\) in \d\d% of passes", bandwidth.detail
    )
    assert value(headlines["Memory latency"].value) == pytest.approx(150, rel=0.01)
    assert value(headlines["Last-level cache found"].value) == 6 * MIB
    assert "Share of peak" not in headlines
    assert report.machine.startswith("Example Processor, 2 threads, L1 32 KiB, L2 1 MiB, L3 32 MiB")
    assert report.status.startswith("ended by its budget; ")
    assert report.complete


def test_the_last_cache_found_is_no_headline_where_a_later_one_is_claimed() -> None:
    """Where footprints of L3 are few, L2 is the last found, yet not the last there is."""
    few = [
        record
        for record in records()
        if not (name := getattr(record, "point", "")).startswith("workingset/")
        or not MIB < int(name.rpartition("/")[2]) <= 32 * MIB
    ]
    made = analyse_run(run_of(few))
    assert "Last-level cache found" not in {headline.label for headline in made.headlines}
    verdicts = {row["level"]: row["verdict"] for row in rows(table(made, "levels"))}
    assert (verdicts["L2"], verdicts["L3"]) == ("agrees", "too coarse")
    texts = [verdict.text for verdict in section(made, "workingset").verdicts]
    assert any("too few footprints of its size were measured" in text for text in texts)


def test_stream_form_is_labelled_as_the_run_rules_ask(run: Run) -> None:
    text = stream_form(run)
    assert "based on a variant of the STREAM benchmark code" in text
    assert "Function    Best Rate MB/s  Avg time     Min time     Max time" in text
    assert "Solution Validates: avg error less than 1.0" in text
    assert text.count("Triad:") == 2 * 3  # variants, times one thread and two regimes
    lines = [line for line in text.splitlines() if line.startswith("Triad:")]
    best = {float(line.split()[1]) for line in lines}
    assert min(best) == pytest.approx(20_000, rel=0.02)
    first = lines[0].split()
    assert 24_000_000 / float(first[3]) / 1e6 == pytest.approx(float(first[1]), rel=1e-3)


def test_document_is_the_run_as_data(run: Run) -> None:
    document = json_document(run)
    text = msgspec.json.encode(document)
    assert msgspec.json.decode(text, type=Document) == document
    assert b"NaN" not in text
    names = [section.name for section in document.sections]
    assert names == ["stream", "latency", "workingset", "crosschecks"]
    assert [check.what for check in document.cross_checks] == [
        "latency of L1",
        "latency of L2",
        "latency of L3",
        "latency of memory",
    ]
    levels = document.sections[2].levels
    assert [level.capacity_low_bytes for level in levels] == [32 * KIB, MIB, 6 * MIB, None]
    msgspec.json.schema(Document)


@pytest.mark.parametrize("count", [1, 2, 5, 40, 300, 700, 1500])
def test_a_run_killed_at_any_record_is_still_analysed(count: int) -> None:
    run = run_of([record for record, _ in zip(records(12), range(count), strict=False)])
    report = analyse_run(run)
    assert not report.complete
    assert report.status.startswith("killed before its end")
    assert stream_form(run)
    msgspec.json.decode(msgspec.json.encode(json_document(run)), type=Document)


def test_few_samples_give_values_without_intervals() -> None:
    report = analyse_run(run_of(records(5)))
    estimate = rows(table(report, "latency"))[0]["latency"]
    assert isinstance(estimate, Estimate)
    assert estimate.precision == math.inf
    document = json_document(run_of(records(5)))
    figure = document.sections[0].points[0].sustained
    assert figure is not None
    assert (figure.low, figure.high) == (None, None)
    assert not document.sections[0].points[0].reached


def texts_of(run: Run, level: str) -> list[str]:
    return [v.text for v in run_verdicts(figures_of(run)) if v.level == level]


def small(*extra: object, **changes: object) -> Run:
    begun = start(system(thp="always", topology_notes=[], **changes))
    return run_of([begun, *extra])  # type: ignore[list-item]


def test_a_quiet_run_has_no_verdicts() -> None:
    end = RunEnd(status="complete", elapsed_s=1, rounds=0)
    assert run_verdicts(figures_of(small(environment(), validation(), end))) == []


def test_failed_validation_is_a_problem() -> None:
    (text,) = texts_of(small(validation(passed=False)), "problem")
    assert "memory corruption" in text
    assert "double, 2 threads" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steal_s": 1.0}, "The hypervisor took 5.0% of the processors' time (steal)."),
        ({"others_s": 2.0}, "Other programs used 10.0% of the processors' time"),
    ],
)
def test_disturbers_are_named(changes: dict[str, float], words: str) -> None:
    (text,) = texts_of(small(environment(**changes)), "warning")
    assert text.startswith(words)


def test_what_the_kernel_does_not_tell_is_not_zero() -> None:
    known = environment(steal_s=0.5)
    silent = environment(steal_s=None, others_s=None)
    (text,) = texts_of(small(silent, known, silent), "warning")
    assert "took 2.5%" in text
    assert texts_of(small(silent), "warning") == []


def test_frequency_changes_and_governor_are_named() -> None:
    run = small(
        environment(frequency_khz=2_000_000),
        environment(frequency_khz=3_000_000),
        governor="powersave",
    )
    first, second = texts_of(run, "note")
    assert first == "The core clock varied between 2.00 and 3.00 GHz while measuring."
    assert "governor is powersave" in second


def test_missing_huge_pages_are_named() -> None:
    run = run_of([start(system(thp="never", topology_notes=[]))])
    (text,) = texts_of(run, "warning")
    assert "switched off" in text


def test_recorded_warnings_are_told_once_with_their_number() -> None:
    warning = Warning(code="x", message="pages are missing", remedy="add some")
    (text,) = texts_of(small(warning, warning, warning), "warning")
    assert text == "Pages are missing (2 more like this)."


def test_each_component_that_is_not_watched_is_told_with_its_own_remedy() -> None:
    memory = Warning(code="not-watched", message="memory: no counter", remedy="load a driver")
    gpu = Warning(code="not-watched", message="gpu: no library", remedy="install it")
    assert texts_of(small(memory, gpu), "warning") == ["Memory: no counter.", "GPU: no library."]


def test_share_of_time_in_each_regime_is_told(run: Run) -> None:
    text = next(t for t in texts_of(run, "note") if "moved the threads on CPUs 0-1" in t)
    assert "same complex (27 ns)" in text
    assert "across complexes (175 ns)" in text


def test_more_than_the_theoretical_peak_is_a_problem() -> None:
    run = run_of(records(40, of=system(theoretical_bandwidth_bytes_per_s=50e9)))
    assert any("impossible" in text for text in texts_of(run, "problem"))
    modest = run_of(records(40, of=system(theoretical_bandwidth_bytes_per_s=160e9)))
    assert any(text.startswith("The best bandwidth is 50% of") for text in texts_of(modest, "note"))


def test_ratio_has_the_interval_of_both() -> None:
    found = ratio(Estimate(20.0, 18.0, 22.0), Estimate(10.0, 10.0, 10.0))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 1.8, 2.2))
    both = ratio(Estimate(20.0, 18.0, 22.0), Estimate(10.0, 9.0, 11.0))
    assert both is not None
    assert both.low < 1.8
    assert both.high > 2.2
    assert ratio(None, Estimate(1.0, 1.0, 1.0)) is None
    open_ended = ratio(Estimate(20.0, 0.0, math.inf), Estimate(10.0, 9.0, 11.0))
    assert open_ended == Estimate(2.0, 0.0, math.inf)


def test_regimes_that_differ_are_a_warning(report: Report) -> None:
    texts = [v.text for v in section(report, "stream").verdicts if v.level == "warning"]
    assert len(texts) == 1
    assert "up to 2.0" in texts[0]
    assert "across complexes (175 ns) against same complex (27 ns)" in texts[0]


def test_no_gain_is_claimed_without_intervals() -> None:
    few = analyse_run(run_of(records(5)))
    assert not any("uned" in verdict.text for verdict in section(few, "stream").verdicts[1:])


def test_a_cache_that_reads_like_memory_is_named() -> None:
    def point(level: str, order: str) -> Point:
        requested = {"level": level, "order": order, "pages": "thp"}
        return latency_point(f"latency/{level}", experiment="latency", requested=requested)

    measured = [(point("L2", "random"), 4.0), (point("L3", "random"), 140.0)]
    measured.append((point("DRAM", "block-random"), 155.0))
    declared = [point for point, _ in measured]
    taken = [sample_of(p, ns * (1 + 0.001 * i), i) for i in range(16) for p, ns in measured]
    texts = [v.text for v in section(analyse_run(small(*declared, *taken)), "latency").verdicts]
    assert [text.split(" take")[0] for text in texts] == ["A load from memory", "Loads from L3"]
    assert "90% of those from memory" in texts[1]


def test_slices_at_a_stray_distance_are_told_from_those_switched_out() -> None:
    point = bandwidth_point("s", requested={"kernel": "copy"}, threads=2)
    near = [sample_of(point, 10, i, pingpong_ns=27 + 0.01 * i) for i in range(20)]
    strays = [sample_of(point, 15, 20 + i, pingpong_ns=9000.0 * (i + 1)) for i in range(2)]
    texts = texts_of(small(point, *near, *strays), "warning")
    (aside,) = [text for text in texts if "set aside" in text]
    assert aside == (
        "9% of 22 slices were set aside, 2 because the distance of their threads was not a usual "
        "one."
    )


def test_a_run_that_ended_while_it_prepared_says_so_and_no_more() -> None:
    point = bandwidth_point("s", requested={"kernel": "copy"})
    ended = RunEnd(status="budget", elapsed_s=5.0, rounds=0)
    run = small(point, ended)
    first, *_ = texts_of(run, "warning")
    assert first == "The budget of 60 s was spent on preparing: nothing was measured."
    assert not [text for text in texts_of(run, "note") if "requested precision" in text]
    stopped = small(point, RunEnd(status="interrupted", elapsed_s=5.0, rounds=0))
    assert "The run was interrupted while it prepared: nothing" in texts_of(stopped, "warning")[0]


def test_slices_set_aside_and_passes_that_suffered_are_told_apart() -> None:
    slice_ = bandwidth_point("s", requested={"kernel": "copy"})
    pass_ = bandwidth_point("s/pass", role="pass", requested={"kernel": "copy"})
    taken = [sample_of(slice_, 10, i, switches=i % 2) for i in range(10)]
    taken += [sample_of(pass_, 5, i, switches=int(i < 4)) for i in range(10)]
    faulty = sample_of(slice_, 10, 10, faults=1)
    pages, slices, passes = texts_of(small(slice_, pass_, *taken, faulty), "warning")
    assert pages.startswith("In 1 samples a page had been reclaimed")
    assert slices.startswith("55% of 11 slices were set aside, 5 because")
    assert passes.startswith("In 4 of 10 whole passes a thread was switched out")
