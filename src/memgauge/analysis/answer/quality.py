"""The grade of a run: how far its figures can be trusted as a whole.

Each condition has two limits, beyond which a run is fair or poor; the worst of them is the grade.
It judges conditions, not results: a slow machine can be measured well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memgauge.analysis.figures.conditions import (
    OTHERS_SHARE,
    SET_ASIDE_SHARE,
    STEAL_SHARE,
    others_share,
    reached_counts,
    set_aside_share,
    steal_share,
)
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.section import Grade, Quality
from memgauge.model.units import format_count

STEAL = (STEAL_SHARE, 0.05)
OTHERS = (OTHERS_SHARE, 0.2)
"""Shares of the processors' time that the hypervisor and other programs took,"""
SET_ASIDE = (SET_ASIDE_SHARE, 0.2)
"""of the samples that were set aside,"""
DRIFT = (0.01, 0.05)
"""and by which the pace of the whole machine drifted: from these on a run is fair, or poor."""
ROUNDS = (16, 6)
"""A 90th percentile of speed has an interval from the first on, a median from the second."""
PRECISE = (0.5, 0.05)
"""Share of points within the requested precision, below which a run is fair, or poor."""
MOST_REASONS = 3


class _Condition(NamedTuple):
    severity: float
    """Below 1: good; below 2: fair; else poor."""
    words: str


@once
def quality_of(figures: Figures) -> Quality:
    """The grade of a run and its reasons."""
    run = figures.run
    if not any(run.samples.values()):
        return Quality(grade="nothing measured", reasons=["the run holds no samples"])
    found = sorted(_conditions(figures), key=lambda one: -one.severity)
    worst = found[0].severity
    grade: Grade = "good" if worst < 1 else "fair" if worst < 2 else "poor"
    shown = [one.words for one in found if one.severity >= 1] or [one.words for one in found]
    return Quality(grade=grade, reasons=shown[:MOST_REASONS])


def _conditions(figures: Figures) -> Iterator[_Condition]:
    run = figures.run
    reached, points = reached_counts(figures)
    if points:
        words = f"{reached} of {points} points within {100 * figures.precision:g}%"
        yield _Condition(_below(reached / points, *PRECISE), words)
    yield _Condition(_below(run.rounds, *ROUNDS), format_count(run.rounds, "round"))
    for share, limits, what in (
        (others_share(figures), OTHERS, "other programs used {} of the processors' time"),
        (steal_share(figures), STEAL, "the hypervisor took {} of the processors' time"),
        (set_aside_share(figures), SET_ASIDE, "{} of the samples were set aside"),
        (figures.run_to_run_drift, DRIFT, "the machine's pace drifted by {}"),
    ):
        if share is not None:
            yield _Condition(_above(share, *limits), what.format(f"{share:.1%}"))
    failed = [one for one in run.validations if not all(check.passed for check in one.checks)]
    if failed:
        yield _Condition(3.0, "arrays did not hold what the kernels must have left")
    if run.end is None or run.end.status in {"interrupted", "failed"}:
        yield _Condition(1.5, "the run did not end as planned")


def _above(value: float, fair: float, poor: float) -> float:
    """Severity of a share of which less is better; it grows with the share."""
    if value < fair:
        return value / fair
    return 1 + (value - fair) / (poor - fair)


def _below(value: float, fair: float, poor: float) -> float:
    """Severity of what had better be more."""
    if value >= fair:
        return fair / value / 2
    return 1 + (fair - value) / (fair - poor)
