"""One cross-check: two figures of the same thing, how far apart they are, and may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio

BANDWIDTH_SHARE = 0.03
"""That two bandwidths of the same load may differ by: code and layout differ, memory does not."""

NO_INTERVAL = "too few samples for an interval"
WIDE = "the intervals are too wide to decide"
LATENCY_CAUSES = (
    "other programs' traffic or other guests during one of the two, rings of different footprints "
    "that hit the last-level cache unequally, other pages than were asked for"
)
BANDWIDTH_CAUSES = (
    "another program took bandwidth or processor time from one of the two, the host moved the "
    "threads, the threads of the two sit on cores of different reach, or a window that was cut "
    "wrongly"
)

Outcome = Literal["agrees", "disagrees", "not known"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one comparison."""

    what: str
    unit: str
    one_name: str
    """Point of the first side, as is the next of the other."""
    other_name: str
    one: Estimate | None = None
    other: Estimate | None = None
    figure: str | None = None
    """Which figures are compared: sustained, median, or those of a level."""
    difference: float | None = None
    """Of the first side from the other, as a share of the other."""
    allowed: float | None = None
    outcome: Outcome = "not known"
    why: str | None = None
    """Why it cannot be determined."""
    causes: str = ""
    """Likely ones of a disagreement."""


class Side(msgspec.Struct, frozen=True):
    """A point in one regime."""

    point: str
    summary: PointSummary

    @property
    def name(self) -> str:
        """Point and regime."""
        return f"{self.point}, {self.summary.regime}" if self.summary.regime else self.point


def untold(what: str, one: str, other: str, unit: str, why: str) -> Check:
    """A check that cannot be made because one side has no figure.

    Args:
        what: What would be compared, such as `loaded, longest delay`.
        one: Point of the first side, or the experiment that should have measured it.
        other: The same of the other side.
        unit: `ns` or `GB/s`.
        why: Reason for which no figure can be compared, as a clause without a full stop.
    """
    return Check(what=what, one_name=one, other_name=other, unit=unit, why=why)


def _faced(what: str, unit: str, one: Side, other: Side, causes: str) -> Check:
    """Both sides by figures that can be compared, not yet judged."""
    figure, mine, its = comparable(one.summary, other.summary)
    return Check(
        what=what,
        unit=unit,
        one_name=one.name,
        other_name=other.name,
        one=mine,
        other=its,
        figure=figure,
        causes=causes,
    )


def latency_check(what: str, one: Side, other: Side, drift: float) -> Check:
    """Agree where their intervals are no further apart than the run-to-run drift of the machine.

    Args:
        what: What is compared, such as `loaded, longest delay`.
        one: Latency to judge, in one regime.
        other: Latency of the same by another experiment; differences are shares of it.
        drift: Run-to-run drift as a share; 0 where it is not known.
    """
    check = _faced(what, "ns", one, other, LATENCY_CAUSES)
    mine, its = check.one, check.other
    if mine is None or its is None or not its.value:
        return msgspec.structs.replace(check, why=NO_INTERVAL)
    if not (has_interval(mine) and has_interval(its)):
        difference = mine.value / its.value - 1
        return msgspec.structs.replace(check, difference=difference, why=NO_INTERVAL)
    return judged(check, facing(mine, its) + drift)


def bandwidth_check(what: str, one: Side, other: Side, beside_gb_per_s: float = 0.0) -> Check:
    """Agree within 3%; a first side that is the lower may differ by `beside_gb_per_s` besides.

    Args:
        what: What is compared, such as `mix, reads alone, GPU`.
        one: Bandwidth to judge, in one regime.
        other: Bandwidth of the same load by another experiment; differences are shares of it.
        beside_gb_per_s: What the first side may lack for a known reason, such as a probe that reads
            beside it or a cache that serves the other side.
    """
    check = _faced(what, "GB/s", one, other, BANDWIDTH_CAUSES)
    mine, its = check.one, check.other
    between = ratio(mine, its)
    if between is None or mine is None or its is None:
        return msgspec.structs.replace(check, why=NO_INTERVAL)
    lower = mine.value < its.value
    allowed = BANDWIDTH_SHARE + (beside_gb_per_s / its.value if lower else 0.0)
    if not has_interval(between):
        found = msgspec.structs.replace(check, why=NO_INTERVAL, allowed=allowed)
        return msgspec.structs.replace(found, difference=between.value - 1)
    return _within(judged(check, allowed), between, allowed)


def facing(one: Estimate, other: Estimate) -> float:
    """The halves of both intervals that lie between the two values, as a share of the other."""
    if one.value > other.value:
        return (one.value - one.low + other.high - other.value) / other.value
    return (one.high - one.value + other.value - other.low) / other.value


def judged(check: Check, allowed: float) -> Check:
    """By the difference of both sides alone."""
    if check.one is None or check.other is None:
        return check
    difference = check.one.value / check.other.value - 1
    outcome: Outcome = "agrees" if abs(difference) <= allowed else "disagrees"
    return msgspec.structs.replace(
        check, difference=difference, allowed=allowed, outcome=outcome, why=None
    )


def _within(check: Check, between: Estimate, allowed: float) -> Check:
    """Undecided where the interval of the ratio leaves both outcomes possible, or is too wide."""
    half_width = (between.high - between.low) / 2
    touches = between.low <= 1 + allowed and between.high >= 1 - allowed
    if half_width > allowed or (check.outcome == "disagrees" and touches):
        return msgspec.structs.replace(check, outcome="not known", why=WIDE)
    return check


def comparable(
    one: PointSummary, other: PointSummary
) -> tuple[str, Estimate | None, Estimate | None]:
    """The sustained figures of both; medians where only these have intervals on both sides."""
    sustained = ("sustained", one.sustained, other.sustained)
    medians = ("median", one.median, other.median)
    for pair in (sustained, medians):
        if has_interval(pair[1]) and has_interval(pair[2]):
            return pair
    return sustained


def by_kind(
    ones: Sequence[PointSummary], others: Sequence[PointSummary]
) -> list[tuple[PointSummary, PointSummary]]:
    """Figures of two teams in regimes of the same kind.

    A team of one thread has no regime, and the distances of two teams differ in ns, so kinds are
    compared, not names. Where one side has no regimes, the other counts in that in which it is
    fastest: there its threads, or a probe beside them, share least.
    """
    if len(ones) > 1 and len(others) > 1:
        kinds = {regime_kind(summary.regime): summary for summary in others}
        pairs = ((one, kinds.get(regime_kind(one.regime))) for one in ones)
        return [(one, other) for one, other in pairs if other is not None]
    return [(_fastest(ones), _fastest(others))]


def _fastest(summaries: Sequence[PointSummary]) -> PointSummary:
    """Of bandwidths."""
    return max(summaries, key=lambda s: s.sustained.value if s.sustained else 0.0)
