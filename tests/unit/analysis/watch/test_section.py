"""A recorded watch, analysed: the same alerts as live, gaps, killed and short records."""

from pathlib import Path

from tests.unit.analysis.watch.rows import recorded

from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.watch.moments import FIGURES
from memgauge.analysis.watch.section import MOST_ALERTS, Summary, watched_of
from memgauge.model.records import CurvePoint, MeasuredCurve
from memgauge.model.storage.run_file import read_run
from memgauge.reports.terminal.report import render


def slow_between(begin: int, end: int, ratio: float = 1.5):  # type: ignore[no-untyped-def]
    return lambda at: ratio if begin <= at < end else 1.0


def test_a_report_shows_alerts_figures_and_timeline(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run", 200, slow_between(100, 140))
    found = watched_of(run)
    assert found is not None
    spans = [(one.rule.name, one.since_ns, one.until_ns) for one in found.alerts]
    times = [(name, since // 10**9 - 1, (until or 0) // 10**9 - 1) for name, since, until in spans]
    assert times == [("latency", 100, 140), ("bandwidth", 100, 140)]
    report = analyse_run(run)
    (section,) = report.sections
    assert [table.name for table in section.tables] == ["watch-alerts", "watch-figures"]
    (chart,) = section.charts
    assert [band.label for band in chart.regions] == ["latency", "bandwidth"]
    assert {"latency", "read burst, one CPU"} <= {series.name for series in chart.series}
    text = render(report, width=80, color=False)
    assert "Latency 1.5" in text
    assert chart.name == "watch-timeline"


def test_counted_traffic_is_held_against_the_measured_peak(tmp_path: Path) -> None:
    curve = MeasuredCurve(
        run_id="a",
        started_at="2026-11-28T00:00:00Z",
        load="67% reads",
        read_share=0.67,
        points=[
            CurvePoint(gb_per_s=1.0, latency_ns=100.0),
            CurvePoint(gb_per_s=30.0, latency_ns=300.0),
        ],
    )
    (section,) = analyse_run(recorded(tmp_path / "run", 40, lambda _: 1.0, curve=curve)).sections
    (table,) = [one for one in section.tables if one.name == "watch-figures"]
    (peak,) = [row for row in table.rows if row[0] == "of the measured peak"]
    assert peak[1:4] == [None, "50.0%", "50.0%"]


def test_a_quiet_watch_says_so(tmp_path: Path) -> None:
    report = analyse_run(recorded(tmp_path / "run", 100, lambda _: 1.0))
    (section,) = report.sections
    assert any("raised an alert" in one.text for one in section.verdicts if one.level == "good")
    assert [table.name for table in section.tables] == ["watch-figures"]


def test_a_watch_shorter_than_its_first_minutes_has_no_baseline(tmp_path: Path) -> None:
    report = analyse_run(recorded(tmp_path / "run", 10, lambda _: 3.0))
    (section,) = report.sections
    assert any("no baseline" in one.text for one in section.verdicts)
    assert section.opening == []


def test_passes_that_were_disturbed_leave_gaps(tmp_path: Path) -> None:
    found = watched_of(recorded(tmp_path / "run", 100, lambda at: None if at % 2 else 1.0))
    assert found is not None
    latency = next(one for one in found.summaries if one.figure.name == "latency_ns")
    assert (latency.count, found.moments) == (50, 100)


def test_a_record_cut_anywhere_is_read(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    recorded(directory, 100, lambda _: 1.0)
    lane = directory / "watch.lane"
    whole = lane.read_bytes()
    for size in (0, 8, 16, 40, len(whole) // 2, len(whole) - 1):
        lane.write_bytes(whole[:size])
        (section,) = analyse_run(read_run(directory)).sections
        assert section.verdicts
    lane.unlink()
    (section,) = analyse_run(read_run(directory)).sections
    assert "no readings" in section.verdicts[0].text


def test_alerts_without_end_are_bounded(tmp_path: Path) -> None:
    found = watched_of(
        recorded(tmp_path / "run", 7000, lambda at: 1.5 if at > 40 and at % 10 < 5 else 1.0)
    )
    assert found is not None
    assert len(found.alerts) == MOST_ALERTS
    assert found.left_out > 0


def test_a_summary_keeps_few_values_and_its_quantiles_hold() -> None:
    summary = Summary(FIGURES[0])
    for value in range(100_000):
        summary.take(float(value))
    summary.take(None)
    assert (summary.count, summary.least, summary.most) == (100_000, 0.0, 99_999.0)
    median = summary.quantile(0.5)
    assert median is not None
    assert abs(median - 50_000) < 100
