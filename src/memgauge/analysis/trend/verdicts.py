"""Verdicts on runs over time: what changed, what stands out, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from memgauge.analysis.cluster.outliers import LEAST_NODES
from memgauge.analysis.cluster.verdicts import outlier_text
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.between_runs import LEAST_FIGURES
from memgauge.analysis.trend.changes import LEAST_RUNS
from memgauge.analysis.trend.fleet import Trend
from memgauge.analysis.trend.history import History
from memgauge.analysis.trend.names import beside_text, change_text, figure_label, named, time_text
from memgauge.model.text import few
from memgauge.model.units import format_count, format_long

MOST_SAID = 10
"""Changes with a sentence of their own; the table holds all."""
LONG_GAP = 5
"""Times the usual distance between runs."""
MANY_ERAS = 4
"""From which on a machine's hardware changes so often that it looks like several machines."""


def verdicts(trend: Trend) -> list[Verdict]:
    """All of them."""
    return [
        *_changes(trend),
        *_kept(trend),
        *_nothing(trend),
        *_outliers(trend),
        *_too_few(trend),
        *_replaced(trend),
        *_gaps(trend),
        *_left_out(trend),
        *_without_pace(trend),
        *_skipped(trend),
        *(Verdict(level="note", text=note) for note in trend.notes),
        *_too_few_machines(trend),
    ]


def _changes(trend: Trend) -> Iterator[Verdict]:
    several = len(trend.histories) > 1
    for one in trend.changes[:MOST_SAID]:
        slower = one.change.is_slower
        text = change_text(one, with_machine=several)
        yield Verdict(
            level="warning" if slower else "note",
            text=f"{text}; {beside_text(one.beside)}.",
            remedy="look in the logs of this time for updates, settings, cooling and neighbours"
            if slower and not one.beside
            else None,
        )
    more = len(trend.changes) - MOST_SAID
    if more > 0:
        yield Verdict(level="note", text=f"{format_count(more, 'further change')}: see the table.")


def _kept(trend: Trend) -> Iterator[Verdict]:
    names = list(dict.fromkeys(figure_label(one.key) for one in trend.kept_level))
    if names:
        yield Verdict(
            level="note",
            text=f"When the pace changed, these kept their level: {named(names)}.",
        )


def _nothing(trend: Trend) -> Iterator[Verdict]:
    if trend.tests and not trend.changes:
        machines = format_count(trend.machines_tested, "machine")
        yield Verdict(
            level="good",
            text=f"No figure changed by more than chance ({trend.tests} series of {machines} "
            "tested).",
        )


def _outliers(trend: Trend) -> Iterator[Verdict]:
    machines = list(dict.fromkeys(one.node for one in trend.outliers))
    for machine in machines[:MOST_SAID]:
        first, *rest = [one for one in trend.outliers if one.node == machine]
        more = f", and {format_count(len(rest), 'further figure')} of it" if rest else ""
        yield Verdict(
            level="warning" if first.is_worse else "note",
            text=f"{machine} stands out now: {outlier_text(first)}{more}.",
            remedy="check its memory modules, firmware settings and cooling"
            if first.is_worse
            else None,
        )
    if len(machines) > MOST_SAID:
        yield Verdict(
            level="warning", text=f"Further machines that stand out: {named(machines[MOST_SAID:])}."
        )


def _too_few(trend: Trend) -> Iterator[Verdict]:
    by_count: dict[int, list[str]] = {}
    for one in trend.too_few:
        if one.is_latest:
            by_count.setdefault(one.runs, []).append(one.machine)
    for runs, machines in sorted(by_count.items()):
        yield Verdict(
            level="note",
            text=f"{named(machines)}: too few runs to tell: {runs} of the {LEAST_RUNS} that are "
            "needed on unchanged hardware.",
        )


def _replaced(trend: Trend) -> Iterator[Verdict]:
    for one in trend.replaced[:MOST_SAID]:
        yield Verdict(
            level="note",
            text=f"{one.machine}: another machine description "
            f"{time_text(one.after, one.until)}: {one.what}. Runs before and after it are judged "
            "apart, and never averaged.",
        )
    more = len(trend.replaced) - MOST_SAID
    if more > 0:
        yield Verdict(
            level="note",
            text=f"{format_count(more, 'further machine description')}: see the table of machines.",
        )
    mixed = [one.machine for one in trend.histories if len(one.eras) >= MANY_ERAS]
    if mixed:
        yield Verdict(
            level="warning",
            text=f"{named(mixed)}: the machine description changes so often that the runs seem "
            "to be of several machines.",
            remedy="put the runs of each machine into a directory of its own, or name it with "
            "--machine when they are added to a store",
        )


def _gaps(trend: Trend) -> Iterator[Verdict]:
    gaps = [gap for history in trend.histories for gap in _gaps_of(history)]
    if gaps:
        machine, seconds, after, until = max(gaps, key=lambda one: one[1])
        more = f", and {format_count(len(gaps) - 1, 'further gap')}" if len(gaps) > 1 else ""
        yield Verdict(
            level="note",
            text=f"{machine}: no runs for {format_long(seconds)} {time_text(after, until)}{more}: "
            "a change in this time has no better date.",
        )


def _gaps_of(history: History) -> Iterator[tuple[str, float, datetime, datetime]]:
    times = [one.started_at for one in history.runs]
    steps = [after - before for before, after in pairwise(times)]
    if len(steps) < LEAST_RUNS:
        return
    usual_s = median(step.total_seconds() for step in steps)
    long = max(timedelta(seconds=LONG_GAP * usual_s), timedelta(hours=1))
    for before, after in pairwise(times):
        if after - before > long:
            yield history.machine, (after - before).total_seconds(), before, after


def _left_out(trend: Trend) -> Iterator[Verdict]:
    counts = {
        (history.machine, key): track.left_out
        for history in trend.histories
        for key, track in history.tracks.items()
        if track.left_out
    }
    if counts:
        names = [figure_label(key) for _, key in counts]
        yield Verdict(
            level="note",
            text=f"{format_count(sum(counts.values()), 'value')} of other statistics than the "
            f"usual one are left out: {named(list(dict.fromkeys(names)))}.",
            remedy="give each run the same, or a longer, --budget",
        )


def _without_pace(trend: Trend) -> Iterator[Verdict]:
    runs = sum(era.without_pace for eras in trend.tested.values() for era in eras)
    if runs:
        yield Verdict(
            level="note",
            text=f"{format_count(runs, 'run')} with fewer than {LEAST_FIGURES} figures left out: "
            "what is common to their figures cannot be known.",
        )


def _skipped(trend: Trend) -> Iterator[Verdict]:
    if trend.skipped:
        runs = format_count(len(trend.skipped), "run")
        yield Verdict(level="warning", text=f"{runs} left out: {few(trend.skipped, 3)}.")


def _too_few_machines(trend: Trend) -> Iterator[Verdict]:
    if len(trend.histories) < 2:
        return
    small = [kind for kind in trend.kinds if len(kind.machines) < LEAST_NODES]
    if small:
        machines = [name for kind in small for name in kind.machines]
        yield Verdict(
            level="note",
            text=f"Whether {named(machines)} stand out cannot be told: that needs {LEAST_NODES} "
            "machines of one kind.",
        )
