"""Figures that changed over time with their levels; machines of a fleet in colour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median

from memgauge.analysis.cluster.keys import key_figures, label_of
from memgauge.analysis.figures.run import slug
from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.analysis.trend.changes import PACE, Change, Tested
from memgauge.analysis.trend.fleet import Kind, StandingChange, Trend
from memgauge.analysis.trend.history import History, Key
from memgauge.analysis.trend.names import figure_label

MOST_CHANGED = 6
"""Figures with a picture of their own."""
MOST_ROWS = 40
"""Machines of a heat map."""
_DAY_S = 86_400.0


def charts(trend: Trend) -> list[Chart]:
    """The pace of each machine, the figures that changed, and the fleet."""
    return [*_fleet(trend), *_changed(trend), *_paces(trend)]


def _days(history: History, newest: datetime) -> list[float]:
    return [(one.started_at - newest).total_seconds() / _DAY_S for one in history.runs]


def _time_axis(trend: Trend) -> Axis:
    return Axis(title=f"time relative to {trend.newest:%Y-%m-%d}", unit="days")


def _changed(trend: Trend) -> Iterator[Chart]:
    """One picture for each figure that changed, those of the latest changes first."""
    by_figure: dict[tuple[str, Key], list[StandingChange]] = {}
    of_pace: dict[str, list[StandingChange]] = {}
    for one in trend.changes:
        if one.change.key == PACE:
            of_pace.setdefault(one.change.machine, []).append(one)
        else:
            by_figure.setdefault((one.change.machine, one.change.key), []).append(one)
    by_name = {one.machine: one for one in trend.histories}
    for (machine, key), changes in list(by_figure.items())[:MOST_CHANGED]:
        both = [*changes, *of_pace.get(machine, [])]
        yield _figure_chart(trend, by_name[machine], key, both)


def _figure_chart(
    trend: Trend, history: History, key: Key, changes: Sequence[StandingChange]
) -> Chart:
    track = history.tracks[key]
    days = _days(history, trend.newest)
    several = len(trend.histories) > 1
    where = f"{history.machine}: " if several else ""
    return Chart(
        name=slug("trend", history.machine if several else "", *key),
        title=f"{where}{figure_label(key)}",
        kind="line",
        x=_time_axis(trend),
        y=Axis(title="bandwidth" if track.unit == "GB/s" else "latency", unit=track.unit),
        series=[
            Series(
                name="runs",
                x=[*days],
                y=track.values,
                joined=False,
                notes=[f"{one.started_at:%Y-%m-%d %H:%M}" for one in history.runs],
            ),
            _levels(history, track.values, days, [one.change for one in changes]),
        ],
        rules=_rules(changes, days),
        note="Levels: medians of the runs between changes of the figure and of the pace. Upright: "
        "the first run at another level.",
    )


def _levels(
    history: History,
    values: Sequence[float | None],
    days: Sequence[float],
    changes: Sequence[Change],
) -> Series:
    """A flat line for each stretch without a change on the same hardware, gaps between them."""
    ends = {era.begin for era in history.eras} | {one.first for one in changes}
    borders = [*sorted(ends), len(days)]
    x: list[float | str] = []
    y: list[float | None] = []
    for begin, end in pairwise(borders):
        known = [value for value in values[begin:end] if value is not None]
        if known:
            x += [days[begin], days[end - 1], days[end - 1]]
            y += [median(known), median(known), None]
    return Series(name="level", x=x, y=y)


def _rules(changes: Sequence[StandingChange], days: Sequence[float]) -> list[Rule]:
    return [
        Rule(label=f"{one.until:%Y-%m-%d}", axis="x", value=days[one.change.first])
        for one in sorted(changes, key=lambda one: one.change.first)
    ]


def _paces(trend: Trend) -> Iterator[Chart]:
    """What all figures of a run have in common, of up to six machines."""
    found = [
        series
        for history in trend.histories
        if (series := _pace(history, trend.tested[history.machine], trend.newest)) is not None
    ]
    changed = {one.change.machine for one in trend.changes}
    found.sort(key=lambda one: one.name not in changed)
    if found:
        yield Chart(
            name="trend-pace",
            title="Pace: what all figures of a run have in common",
            kind="line",
            x=_time_axis(trend),
            y=Axis(title="speed against the usual", unit="%"),
            series=found[:MOST_CHANGED],
            note="The median over the figures of a run of their distance from their own level; "
            "0 is the usual pace.",
        )


def _pace(history: History, eras: Sequence[Tested], newest: datetime) -> Series | None:
    pace = [value for era in eras for value in era.pace]
    if not any(value is not None for value in pace):
        return None
    return Series(
        name=history.machine,
        x=[*_days(history, newest)],
        y=[None if value is None else math.expm1(value) for value in pace],
        joined=False,
        notes=[f"{one.started_at:%Y-%m-%d %H:%M}" for one in history.runs],
    )


def _fleet(trend: Trend) -> Iterator[Chart]:
    """A heat map for each kind with several machines."""
    for at, kind in enumerate(trend.kinds):
        if len(kind.machines) > 1 and kind.judged.spreads:
            yield _heat_map(at, kind, trend)


def _heat_map(at: int, kind: Kind, trend: Trend) -> Chart:
    keys = key_figures(kind.judged)
    levels = {
        machine: {one.key: one.value.value for one in trend.tested[machine][-1].levels}
        for machine in kind.machines
    }
    speeds = {
        machine: [_speed(kind, key, of_machine.get(key)) for key in keys]
        for machine, of_machine in levels.items()
    }
    ordered = sorted(
        speeds, key=lambda name: -max((abs(s) for s in speeds[name] if s is not None), default=0.0)
    )
    shown = sorted(ordered[:MOST_ROWS])
    left = len(ordered) - len(shown)
    return Chart(
        name=slug("trend", "machines", str(at + 1)),
        title=f"Machines now: {kind.kind}",
        kind="heatmap",
        x=Axis(title="figure", unit=""),
        y=Axis(title="speed against the middle", unit="%"),
        rows=Axis(title="machine", unit=""),
        series=[
            Series(name=name, x=[label_of(key) for key in keys], y=speeds[name]) for name in shown
        ],
        note="Levels since the last change; 0 is the median of the machines, below 0 is slower."
        + (f" The {MOST_ROWS} farthest from it; {left} others lie closer." if left else ""),
    )


def _speed(kind: Kind, key: Key, value: float | None) -> float | None:
    spread = kind.judged.spreads[key]
    if value is None or spread.median <= 0:
        return None
    ratio = value / spread.median
    return ratio - 1 if spread.figure.direction == "higher" else 1 / ratio - 1
