"""Do two sides differ, each measured in several runs: common pace, figures, and chance.

What varies between runs of one machine is partly common to all figures of a run: its *pace*. It is
estimated as the median over the figures of their distance from the figure's mean over all runs, and
removed. What is left is tested for each figure with a variance that borrows strength from the other
figures (`moderated`), and of the differences those stand that Benjamini and Hochberg's procedure
leaves. A figure that really changed would spoil the pace, so the pace is estimated again from the
figures that do not stand, at most four times. The paces of both sides are compared apart (Welch
1947).

One side may be a single run against three or more of the other: the variance is then that of the
other side, and the difference has the variance of one new value beside that of a mean.

Too few figures tell no pace from their own noise, and no prior: each is then tested alone.

What would invalidate it: a change of most figures, which looks like pace; groups of figures that
vary together beside the pace; runs that are not independent, as of one side in the morning and the
other at night.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median, variance

import msgspec

from memgauge.analysis.statistics.moderated import LEAST_VARIANCE, moderated
from memgauge.analysis.statistics.significance import stand
from memgauge.analysis.statistics.student import half_width, two_sided

LEAST_FIGURES = 8
"""From which on a pace is removed and variances are moderated."""

LEAST_FREEDOM = 2
"""Degrees of freedom of a variance within the sides: two runs a side, or three beside one."""

MOST_FREEDOM_OF_ONE = 60
"""Degrees of freedom where one side is a single run, at most. Its tails are those of one value,
which no mean makes normal, however well the variance is known: without this bound, 50 runs beside
one and 30 figures, 7% of equal sides had a standing difference in simulation."""

MOST_REPEATS = 4

Runs = Sequence[Sequence[float]]
"""For each run the logs of all figures, in one order, faster being more."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Other less baseline, in logs of speed."""

    value: float
    half_width: float
    """Of its 95% interval."""
    p_value: float
    stands: bool
    """Among all figures; of a pace by itself."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Two sides, compared."""

    figures: list[Difference]
    """Apart from the pace where one was removed."""
    pace: Difference | None
    """None: of too few figures, nothing was removed."""
    baseline_paces: list[float]
    """Of each run, from the mean of all runs; empty without a pace."""
    other_paces: list[float]


def can_be_judged(baseline: int, other: int) -> bool:
    """Whether so many runs a side tell a difference from what varies between runs."""
    return min(baseline, other) >= 1 and baseline + other - 2 >= LEAST_FREEDOM


def judge(baseline: Runs, other: Runs, *, has_pace: bool = True) -> Judged:
    """Test every figure, and the pace.

    Args:
        baseline: Its runs.
        other: Its runs; both sides together must satisfy `can_be_judged`.
        has_pace: Whether the figures of a run may have a pace in common, as speeds have and
            amounts have not; without one nothing is removed.
    """
    centred = _centred([*baseline, *other])
    count = len(centred[0])
    if count < LEAST_FIGURES or not has_pace:
        figures = _tested(centred, len(baseline))
        return Judged(figures=figures, pace=None, baseline_paces=[], other_paces=[])
    flagged = [False] * count
    for _ in range(MOST_REPEATS):
        paces = [_pace(run, flagged) for run in centred]
        apart = [[one - pace for one in run] for run, pace in zip(centred, paces, strict=True)]
        figures = _tested(apart, len(baseline))
        before, flagged = flagged, [one.stands for one in figures]
        if flagged == before:
            break
    first, second = paces[: len(baseline)], paces[len(baseline) :]
    return Judged(
        figures=figures, pace=welch(first, second), baseline_paces=first, other_paces=second
    )


def _centred(runs: Runs) -> list[list[float]]:
    """Each figure as its distance from its mean over all runs."""
    middles = [fmean(of_figure) for of_figure in zip(*runs, strict=True)]
    return [[one - middle for one, middle in zip(run, middles, strict=True)] for run in runs]


def _pace(run: Sequence[float], flagged: Sequence[bool]) -> float:
    """The median of the figures that do not stand; of all where these are too few."""
    kept = [one for one, out in zip(run, flagged, strict=True) if not out]
    return median(kept if len(kept) >= LEAST_FIGURES else run)


def _tested(runs: Runs, baseline: int) -> list[Difference]:
    """Every figure, with a moderated variance where there are enough of them."""
    columns = list(zip(*runs, strict=True))
    sides = [(of_figure[:baseline], of_figure[baseline:]) for of_figure in columns]
    freedom = len(runs) - 2
    variances = [_pooled(first, second, freedom) for first, second in sides]
    known: float = freedom
    if len(columns) >= LEAST_FIGURES:
        shared = moderated(variances, freedom)
        variances, known = shared.variances, shared.freedom
    if min(baseline, len(runs) - baseline) == 1:
        known = min(known, MOST_FREEDOM_OF_ONE)
    share = 1 / baseline + 1 / (len(runs) - baseline)
    differences = [
        _difference(fmean(second) - fmean(first), math.sqrt(one * share), known)
        for (first, second), one in zip(sides, variances, strict=True)
    ]
    standing = stand([one.p_value for one in differences])
    return [
        msgspec.structs.replace(one, stands=stands)
        for one, stands in zip(differences, standing, strict=True)
    ]


def _pooled(first: Sequence[float], second: Sequence[float], freedom: int) -> float:
    """Variance within both sides; a single run adds nothing to it."""
    squares = sum((len(side) - 1) * variance(side) for side in (first, second) if len(side) > 1)
    return max(squares / freedom, LEAST_VARIANCE)


def _difference(value: float, error: float, freedom: float) -> Difference:
    p = two_sided(value / error, freedom)
    return Difference(
        value=value, half_width=error * half_width(freedom), p_value=p, stands=p <= 0.05
    )


def welch(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Difference of two means of unequal variances; of one value and a mean, by the mean's.

    Args:
        first: Values of the one side.
        second: Values of the other; at least one side has two or more.
    """
    value = fmean(second) - fmean(first)
    if min(len(first), len(second)) == 1:
        many = max(first, second, key=len)
        spread = max(variance(many), LEAST_VARIANCE) * (1 + 1 / len(many))
        return _difference(value, math.sqrt(spread), len(many) - 1)
    parts = [max(variance(side), LEAST_VARIANCE) / len(side) for side in (first, second)]
    squares = [
        part * part / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True)
    ]
    total = sum(parts)
    return _difference(value, math.sqrt(total), total * total / sum(squares))
