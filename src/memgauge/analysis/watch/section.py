"""Section on a watch: what was usual, what stood out and for how long, and the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.profile.charts import chart_of, is_drawn
from memgauge.analysis.profile.timeline import Timeline, Traced, timeline_of
from memgauge.analysis.section import (
    AnswerFigure,
    AnswerLine,
    Chart,
    Column,
    Section,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.watch.moments import DISTURBED, OWN_BYTES, OWN_TIME, Figure, Moment
from memgauge.analysis.watch.rows import rows_of
from memgauge.analysis.watch.rules import RULES, Alert
from memgauge.analysis.watch.status import Watcher
from memgauge.analysis.watch.words import alert_words, amount
from memgauge.model.record_kinds.programs import Region
from memgauge.model.records import NOT_WATCHED
from memgauge.model.run import Run
from memgauge.model.units import format_count, format_duration, parse_duration

NAME = "watch"
PEAK_SHARE = Figure(name="peak_share", event="", title="of the measured peak", how="mean", unit="%")
"""Of counted traffic, where curves were named (`--curves`)."""
MOST_ALERTS = 500
"""In the table and the picture; further ones are counted."""
MOST_SAID = 8
"""Alerts with a verdict of their own."""
_PERCENTILE = 0.95
_BINS = 2000
"""Of the histogram-free extremes: values of a figure that are kept for its percentile."""


class Summary:
    """One figure over the watch, in constant memory."""

    def __init__(self, figure: Figure) -> None:
        """Begin before the first moment."""
        self.figure = figure
        self.count = 0
        self.sum = 0.0
        self.least: float | None = None
        self.most: float | None = None
        self._kept: list[float] = []
        self._every = 1

    def take(self, value: float | None) -> None:
        """Take the value of a moment; None is none."""
        if value is None:
            return
        if self.count % self._every == 0:
            self._kept.append(value)
            if len(self._kept) >= 2 * _BINS:
                self._kept = self._kept[::2]
                self._every *= 2
        self.count += 1
        self.sum += value
        self.least = value if self.least is None else min(self.least, value)
        self.most = value if self.most is None else max(self.most, value)

    @property
    def mean(self) -> float | None:
        """Over all moments."""
        return self.sum / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """Of the moments that are kept: all, or of a long watch evenly spaced ones."""
        if not self._kept:
            return None
        ordered = sorted(self._kept)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """A watch, read once from its record."""

    watcher: Watcher
    summaries: list[Summary]
    alerts: list[Alert]
    """In the order in which they were raised."""
    left_out: int
    first_ns: int
    last_ns: int
    moments: int
    notes: list[str]


def watched_of(run: Run) -> Watched | None:
    """Read the record once more as it came; None without readings."""
    lane = next((one for one in run.lanes if one.counters == NAME), None)
    if lane is None:
        return None
    notes: list[str] = []
    watcher = Watcher(
        run.counters[lane.counters],
        cpus=len(run.start.system.cpus),
        learn_s=_learn_s(run),
        earlier=run.start.earlier,
        curves=run.curves,
    )
    summaries = [Summary(figure) for figure in watcher.figures]
    peak = Summary(PEAK_SHARE)
    alerts: dict[tuple[str, int], Alert] = {}
    left_out = moments = first_ns = 0
    moment: Moment | None = None
    path = run.directory / Path(lane.file).name
    for row in rows_of(path, run.counters[lane.counters].slots, notes):
        moment, changes = watcher.take(row.begin_ns, row.end_ns, row.values)
        first_ns = first_ns or moment.at_ns
        moments += 1
        for one in summaries:
            one.take(moment.values.get(one.figure.name))
        if run.curves:
            headroom = watcher.headroom(moment)
            peak.take(None if headroom is None else headroom.share_of_peak)
        for alert in changes:
            key = (alert.rule.name, alert.since_ns)
            if key in alerts or len(alerts) < MOST_ALERTS:
                alerts[key] = alert
            else:
                left_out += alert.until_ns is None
    if moment is None:
        return None
    for alert in watcher.status(moment).active:
        alerts[alert.rule.name, alert.since_ns] = alert
    return Watched(
        watcher=watcher,
        summaries=[*summaries, *([peak] if peak.count else [])],
        alerts=[*alerts.values()],
        left_out=left_out,
        first_ns=first_ns,
        last_ns=moment.at_ns,
        moments=moments,
        notes=notes,
    )


def analyse(figures: Figures) -> Section:
    """The section of a watch; works on one that was killed at any moment."""
    run = figures.run
    found = watched_of(run)
    if found is None:
        nothing = Verdict(
            level="problem",
            text="The watch holds no readings.",
            remedy="let it run for longer than a period, and copy the run with all its files",
        )
        return section_of(NAME, verdicts=[nothing, *_not_watched(run)])
    when = _Clock(run, found.first_ns)
    timeline, notes = timeline_of(run)
    verdicts = [*_verdicts(found, when), *_not_watched(run), *_notes([*found.notes, *notes])]
    return section_of(
        NAME,
        verdicts=verdicts,
        tables=[*_alert_tables(found, when), _figures_table(found)],
        charts=[] if timeline is None or not is_drawn(timeline) else [_chart(timeline, found)],
        opening=_opening(found),
    )


def _learn_s(run: Run) -> float:
    text = run.parameters.get(NAME, {}).get("learn_s")
    return parse_duration(text, "--learn") if isinstance(text, str) else 120.0


class _Clock:
    """Writes times of the run's clock in UTC, to the second of the run's begin."""

    def __init__(self, run: Run, first_ns: int) -> None:
        self._first_ns = first_ns
        try:
            self._began: datetime | None = datetime.fromisoformat(run.start.started_at)
        except ValueError:
            self._began = None

    def __call__(self, at_ns: int) -> str:
        seconds = (at_ns - self._first_ns) * 1e-9
        if self._began is None:
            return f"{seconds:.0f} s"
        return f"{self._began + timedelta(seconds=seconds):%d %b %H:%M:%S}"


def _verdicts(found: Watched, when: _Clock) -> Iterator[Verdict]:
    longest = sorted(found.alerts, key=lambda one: one.since_ns - (one.until_ns or found.last_ns))
    for alert in longest[:MOST_SAID]:
        lasted_s = ((alert.until_ns or found.last_ns) - alert.since_ns) * 1e-9
        words = alert_words(alert, when)
        yield Verdict(
            level=alert.rule.level,
            text=f"{words[0].upper()}{words[1:]} ({format_duration(lasted_s)}).",
        )
    more = len(found.alerts) - MOST_SAID + found.left_out
    if more > 0:
        yield Verdict(level="warning", text=f"{format_count(more, 'further alert')} in the table.")
    if not found.alerts:
        watched = format_duration((found.last_ns - found.first_ns) * 1e-9)
        rules = sum(1 for one in RULES if any(f.name == one.figure for f in found.watcher.figures))
        yield Verdict(
            level="good",
            text=f"None of the {rules} rules that apply here raised an alert in {watched}.",
        )
    if not found.watcher.baselines:
        yield Verdict(
            level="note",
            text="There is no baseline: the watch was shorter than its first minutes, or had no "
            "probe.",
            remedy="watch longer, or shorten them with --learn",
            about="conditions",
        )


def _not_watched(run: Run) -> Iterator[Verdict]:
    for warning in run.warnings:
        if warning.code == NOT_WATCHED:
            text = f"Not watched: {warning.message}."
            yield Verdict(level="note", text=text, remedy=warning.remedy, about="conditions")


def _notes(notes: Sequence[str]) -> Iterator[Verdict]:
    for note in dict.fromkeys(notes):
        yield Verdict(level="note", text=f"Left out: {note}.", about="conditions")


def _alert_tables(found: Watched, when: _Clock) -> list[Table]:
    if not found.alerts:
        return []
    return [
        Table(
            name="watch-alerts",
            title="Alerts",
            columns=[
                Column(title="Rule"),
                Column(title="From"),
                Column(title="Lasted", unit="s", digits=0),
                Column(title="Worst"),
                Column(title="Of baseline", digits=2),
            ],
            rows=[
                [
                    one.rule.name,
                    when(one.since_ns),
                    ((one.until_ns or found.last_ns) - one.since_ns) * 1e-9,
                    amount(_figure(found, one), one.worst),
                    one.worst / one.baseline if one.baseline else None,
                ]
                for one in found.alerts
            ],
            note="Times are UTC. An alert is raised when four of five values lie beyond a limit, "
            "and cleared when four of five are back; docs/watch.md has the limits."
            + (f" {found.left_out} more are not listed." if found.left_out else ""),
        )
    ]


def _figure(found: Watched, alert: Alert) -> Figure:
    return next(one for one in found.watcher.figures if one.name == alert.rule.figure)


def _figures_table(found: Watched) -> Table:
    rows = [
        [
            one.figure.title,
            amount(one.figure, baseline.value)
            if (baseline := found.watcher.baselines.get(one.figure.name))
            else None,
            amount(one.figure, one.mean),
            amount(one.figure, one.quantile(0.5)),
            amount(one.figure, one.quantile(_PERCENTILE)),
            amount(one.figure, one.most),
            amount(one.figure, one.least),
        ]
        for one in found.summaries
    ]
    titles = ("Figure", "Baseline", "Mean", "Median", "95%", "Most", "Least")
    return Table(
        name="watch-figures",
        title="Figures over the watch",
        columns=[Column(title=title, narrow=title != "Least") for title in titles],
        rows=[[cell if cell != "-" else None for cell in row] for row in rows],
        note="A dash: not known. Of long watches median and percentile are those of evenly spaced "
        "samples.",
    )


def _chart(timeline: Timeline, found: Watched) -> Chart:
    """Tracks that ever moved, with alerts above them."""
    hidden = {DISTURBED, OWN_BYTES, OWN_TIME}
    titles = {one.event: one.title for one in found.watcher.figures}
    shown = [
        _titled(one, titles) for one in timeline.tracks if _moved(one) and not _is_of(one, hidden)
    ]
    shown.sort(key=lambda one: one.track.counters[0].back_end != NAME)
    alerts = [
        Region(
            name=one.rule.name,
            pid=0,
            tid=0,
            begin_ns=one.since_ns,
            end_ns=one.until_ns or found.last_ns,
        )
        for one in found.alerts
    ]
    inside = [one for one in alerts if one.begin_ns < (one.end_ns or 0)]
    changed = msgspec.structs.replace(
        timeline, tracks=shown or timeline.tracks, doubles=[], regions=inside
    )
    note = (
        "Drag to move, turn the wheel while holding Ctrl or Alt to zoom, double-click to see the "
        "whole watch; all tracks follow. Shaded: minimum to maximum. Names above are alerts."
    )
    return msgspec.structs.replace(
        chart_of(changed, []), name="watch-timeline", title="Memory over time", note=note
    )


def _titled(traced: Traced, titles: Mapping[str, str]) -> Traced:
    """By the name that it has in the tables, where it is one figure of the watch."""
    events = {one.event for one in traced.track.counters}
    title = titles.get(events.pop()) if len(events) == 1 else None
    if title is None:
        return traced
    return msgspec.structs.replace(
        traced, track=msgspec.structs.replace(traced.track, name=title, panel=title)
    )


def _moved(traced: Traced) -> bool:
    return any(value for value in traced.high)


def _is_of(traced: Traced, events: set[str]) -> bool:
    return all(one.event in events for one in traced.track.counters)


def _opening(found: Watched) -> list[AnswerLine]:
    known = {one.figure.name: one for one in found.summaries}
    lines = []
    for name, label in (("latency_ns", "Latency"), ("bandwidth_bytes_per_s", "Read burst")):
        baseline, summary = found.watcher.baselines.get(name), known.get(name)
        if baseline is None or summary is None:
            continue
        median, most = summary.quantile(0.5), summary.quantile(_PERCENTILE)
        lines.append(
            AnswerLine(
                label=label,
                figures=[
                    AnswerFigure(name="baseline", value=amount(summary.figure, baseline.value)),
                    AnswerFigure(name="median", value=amount(summary.figure, median)),
                    AnswerFigure(name="95%", value=amount(summary.figure, most)),
                ],
                detail=f"baseline: {baseline.source}",
            )
        )
    lines.append(
        AnswerLine(
            label="Alerts",
            figures=[AnswerFigure(name="raised", value=len(found.alerts) + found.left_out)],
            detail=f"{format_count(found.moments, 'sample')} over "
            f"{format_duration((found.last_ns - found.first_ns) * 1e-9)}",
        )
    )
    return lines if len(lines) > 1 else []
