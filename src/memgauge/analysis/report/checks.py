"""One cross-check: two figures of the same thing, how far apart they are, and may be.

An equivalence test by intervals (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
1987). Two figures *disagree* where the whole interval of their ratio lies outside what the methods
allow. They *agree* where their ratio lies inside it and its interval excludes a difference that
would matter. All else is *inconclusive*: a pair whose interval would also allow a large difference
does not agree, however near the two values are.
"""

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

LATENCY_SHARE = 0.05
"""That two latencies of the same memory may differ by: the walks meet caches and TLBs unequally."""
MATTERS = 0.1
"""A difference of that much, besides what is known to be between the two, must be excluded for two
figures to agree."""

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

Outcome = Literal["agrees", "disagrees", "inconclusive"]


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
    difference_low: float | None = None
    difference_high: float | None = None
    """What the intervals allow it to be."""
    allowed: float | None = None
    outcome: Outcome = "inconclusive"
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
    """Whether two latencies agree within 5% and the run-to-run drift of the machine.

    Args:
        what: What is compared, such as `loaded, longest delay`.
        one: Latency to judge, in one regime.
        other: Latency of the same by another experiment; differences are shares of it.
        drift: Run-to-run drift as a share; 0 where it is not known.
    """
    check = _faced(what, "ns", one, other, LATENCY_CAUSES)
    return judged(check, ratio(check.one, check.other), LATENCY_SHARE + drift)


def bandwidth_check(what: str, one: Side, other: Side, beside_gb_per_s: float = 0.0) -> Check:
    """Whether two bandwidths agree within 3%; the first may lack `beside_gb_per_s` besides.

    Args:
        what: What is compared, such as `mix, reads alone, GPU`.
        one: Bandwidth to judge, in one regime.
        other: Bandwidth of the same load by another experiment; differences are shares of it.
        beside_gb_per_s: What the first side may lack for a known reason, such as a probe that reads
            beside it or a cache that serves the other side.
    """
    check = _faced(what, "GB/s", one, other, BANDWIDTH_CAUSES)
    lacks = beside_gb_per_s / check.other.value if check.other and check.other.value else 0.0
    return judged(check, ratio(check.one, check.other), BANDWIDTH_SHARE, lacks=lacks)


def judged(
    check: Check,
    between: Estimate | None,
    allowed: float,
    *,
    lacks: float = 0.0,
    matters: float = MATTERS,
) -> Check:
    """By the ratio of both sides.

    Args:
        check: Both sides, not judged yet.
        between: The first side over the other; None where one has no figure.
        allowed: Share by which they may differ either way.
        lacks: Share that the first side may lack besides, for a known reason.
        matters: Difference that must be excluded for both to agree.
    """
    if between is None:
        return msgspec.structs.replace(check, why=NO_INTERVAL)
    lower = between.value < 1
    found = msgspec.structs.replace(
        check, difference=between.value - 1, allowed=allowed + (lacks if lower else 0.0)
    )
    if not has_interval(between):
        return msgspec.structs.replace(found, why=NO_INTERVAL)
    outcome = _outcome(
        between, (1 - allowed - lacks, 1 + allowed), (1 - matters - lacks, 1 + matters)
    )
    return msgspec.structs.replace(
        found,
        difference_low=between.low - 1,
        difference_high=between.high - 1,
        outcome=outcome,
        why=WIDE if outcome == "inconclusive" else None,
    )


def _outcome(between: Estimate, may: tuple[float, float], must: tuple[float, float]) -> Outcome:
    """By where the ratio may lie, and where all of its interval must."""
    if between.high < may[0] or between.low > may[1]:
        return "disagrees"
    excluded = must[0] <= between.low and between.high <= must[1]
    return "agrees" if excluded and may[0] <= between.value <= may[1] else "inconclusive"


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
