"""Whether values come from two speeds by turns: phases that last, not noise.

The logarithms of the values are split in two where the variance within both parts is least (Fisher
1958, exact in one dimension). The parts are two speeds if their medians lie far apart: by 3% and by
five times the spread within them, where halves of normal values are 2.3 and those of a sine 3.6
times apart. The speeds last if the values change between them in their order of time more rarely
than chance has it (Wald and Wolfowitz, Annals of Mathematical Statistics 11, 1940).

What would invalidate it: a steady trend from one speed to another is two speeds that last, too, if
it is quick; three speeds are taken for two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median

import msgspec

from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA

LEAST_VALUES = 40
LEAST_SHARE = 0.02
LEAST_MEMBERS = 4
LEAST_RATIO = 0.03
"""Log of one speed over the other."""
LEAST_SPREADS = 5.0
LEAST_Z = 3.3
"""Standard score of how rarely the speed changes; chance gives that in one of two thousand."""


class TwoSpeeds(msgspec.Struct, frozen=True, kw_only=True):
    """Two levels of the values of one point, and how they follow each other."""

    low: float
    """Median of the lower values, in their unit,"""
    high: float
    """and of the higher ones."""
    high_share: float
    """Of the values that are higher ones."""
    stretches: int
    """How many stretches of either speed there were."""


def two_speeds(values: Sequence[float]) -> TwoSpeeds | None:
    """Both speeds; None where there is one, or they change as quickly as chance has it.

    Args:
        values: At least 40 above 0, in order of time; of fewer nothing is known.
    """
    if len(values) < LEAST_VALUES or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    ordered = sorted(logs)
    cut = _cut(ordered)
    lower, higher = ordered[:cut], ordered[cut:]
    if min(len(lower), len(higher)) < max(LEAST_MEMBERS, LEAST_SHARE * len(logs)):
        return None
    apart = median(higher) - median(lower)
    spread = MAD_TO_SIGMA * max(_deviation(lower), _deviation(higher))
    if apart < max(LEAST_RATIO, LEAST_SPREADS * spread):
        return None
    border = (lower[-1] + higher[0]) / 2
    states = [log > border for log in logs]
    stretches = 1 + sum(before != after for before, after in pairwise(states))
    if _rarity(len(lower), len(higher), stretches) < LEAST_Z:
        return None
    return TwoSpeeds(
        low=math.exp(median(lower)),
        high=math.exp(median(higher)),
        high_share=len(higher) / len(logs),
        stretches=stretches,
    )


def _cut(ordered: Sequence[float]) -> int:
    """Number of values in the lower part of the split with the least variance within both."""
    sums = list(accumulate(ordered))
    total, count = sums[-1], len(ordered)

    def between(cut: int) -> float:
        below = sums[cut - 1]
        return below * below / cut + (total - below) ** 2 / (count - cut)

    return max(range(1, count), key=between)


def _deviation(values: Sequence[float]) -> float:
    middle = median(values)
    return median(abs(value - middle) for value in values)


def _rarity(lower: int, higher: int, stretches: int) -> float:
    """Standard deviations by which there are fewer stretches than in a random order."""
    count = lower + higher
    expected = 1 + 2 * lower * higher / count
    variance = (expected - 1) * (expected - 2) / (count - 1)
    return (expected - stretches) / math.sqrt(variance) if variance > 0 else 0.0
