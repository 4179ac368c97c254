"""The picture of measured memory traffic by phase, with its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from memgauge.analysis.profile.moments import begins
from memgauge.analysis.profile.phases import Phase, Roles
from memgauge.analysis.profile.timeline import Traced
from memgauge.analysis.section import Axis, Chart, Series

GB = 1e-9
MOST_PHASES = 40
LEAST_INNER_BINS = 3
"""Of a phase without the bins at its ends, which may hold some of its neighbours."""


def traffic_chart(roles: Roles, phases: Sequence[Phase]) -> Chart | None:
    """Bars of each phase; None where traffic was not counted, or there is one phase only.

    Args:
        roles: Tracks of the timeline by what they stand for.
        phases: Phases of that timeline.
    """
    sides = [("read", roles.reads), ("written", roles.writes)]
    if not (roles.reads or roles.writes):
        sides = [("read or written", roles.traffic)]
    shown = phases[:MOST_PHASES]
    x: list[float | str] = [f"{phase.number} ({begins(phase)} s)" for phase in shown]
    series = [_series(name, tracks, x, shown) for name, tracks in sides if tracks]
    known = [value for one in series for value in one.y if value is not None]
    if len(phases) < 2 or not known:
        return None
    left_out = len(phases) - len(shown)
    return Chart(
        name="profile-traffic",
        title="Memory traffic by phase",
        kind="bar",
        x=Axis(title="Phase (begin)", unit=""),
        y=Axis(title="Traffic", unit="GB/s", from_zero=True),
        series=series,
        around="least and most in the phase",
        note="Of the whole machine, other programs included. Bars: mean over the phase; whiskers: "
        "the least and the most in it, over windows as in the table of tracks, without those at "
        "its ends, and added up over what counts a part of the machine each, so that the sum was "
        f"within them at any moment.{f' {left_out} later phases omitted.' if left_out else ''}",
    )


def _series(
    name: str, tracks: Sequence[Traced], x: list[float | str], phases: Sequence[Phase]
) -> Series:
    return Series(
        name=name,
        x=x,
        y=[_sum([one.mean(phase.begin_bin, phase.end_bin) for one in tracks]) for phase in phases],
        low=[_sum([_extreme(one.low, phase, min) for one in tracks]) for phase in phases],
        high=[_sum([_extreme(one.high, phase, max) for one in tracks]) for phase in phases],
    )


def _extreme(
    values: Sequence[float | None], phase: Phase, of: Callable[[Sequence[float]], float]
) -> float | None:
    begin, end = phase.begin_bin, phase.end_bin
    if end - begin >= LEAST_INNER_BINS + 2:
        begin, end = begin + 1, end - 1
    known = [value for value in values[begin:end] if value is not None]
    return of(known) if known else None


def _sum(values: Sequence[float | None]) -> float | None:
    """In GB/s; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return math.fsum(known) * GB if known and len(known) == len(values) else None
