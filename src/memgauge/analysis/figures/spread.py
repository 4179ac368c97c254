"""Whether the values of a point lie further apart at the end of a run than at its beginning.

The first and the last third of the values, in order of time, are compared by how far each value
lies from the middle of its own third: the absolute deviations of the logarithms from their median
(Brown and Forsythe 1974), put in order together and tested by the sum of ranks (Wilcoxon 1945; Mann
and Whitney 1947), as Fligner and Killeen (1976) did. So a figure that moved without spreading is
not taken for one that spread, and one outlier counts as one. Values that follow each other are
alike: the statistic is scaled down by the autocorrelation time of the deviations.

What would invalidate it: a change of pace inside one third only, which widens that third.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.figures.summary import noise_of
from memgauge.analysis.statistics.autocorrelation import autocorrelation_time

LEAST_VALUES = 12
"""In one third."""


class Growth(msgspec.Struct, frozen=True):
    """How the spread of one point changed over its values."""

    first: float
    """(90th - 10th percentile) / median of the first third,"""
    last: float
    """and of the last."""
    p: float
    """Chance of a sum of ranks like this or more where nothing grew."""


def growth(values: Sequence[float]) -> Growth | None:
    """The change of spread over values in order of time; None if there are too few."""
    third = len(values) // 3
    if third < LEAST_VALUES:
        return None
    ends = (values[:third], values[-third:])
    first, last = (noise_of(end) for end in ends)
    if first is None or last is None or min(values) <= 0:
        return None
    early, late = (_deviations(end) for end in ends)
    time = max(autocorrelation_time(early, 0.5), autocorrelation_time(late, 0.5))
    return Growth(first, last, _upper_tail(_rank_sum_z(early, late) / math.sqrt(time)))


def _deviations(values: Sequence[float]) -> list[float]:
    logs = [math.log(value) for value in values]
    middle = median(logs)
    return [abs(log - middle) for log in logs]


def _rank_sum_z(early: Sequence[float], late: Sequence[float]) -> float:
    """Standard score of the ranks of `late` among all; ties share their mean rank."""
    n, m = len(early), len(late)
    ordered = sorted([(value, 0) for value in early] + [(value, 1) for value in late])
    rank_sum = tied = 0.0
    start = 0
    while start < n + m:
        end = start
        while end < n + m and ordered[end][0] == ordered[start][0]:
            end += 1
        alike = end - start
        mean_rank = (start + 1 + end) / 2
        rank_sum += mean_rank * sum(late for _, late in ordered[start:end])
        tied += alike**3 - alike
        start = end
    total = n + m
    variance = n * m / 12 * (total + 1 - tied / (total * (total - 1)))
    return (rank_sum - m * (total + 1) / 2) / math.sqrt(variance) if variance > 0 else 0.0


def _upper_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2
