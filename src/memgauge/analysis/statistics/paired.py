"""The median of paired rounds with an interval that assumes no distribution.

Each round gives one value, made of a load and an idle time beside it, so that what the machine's
other users do steadily cancels, and slow drift reaches both alike. The interval runs between two
order statistics: the k-th smallest of n values exceeds the median with probability
P(Bin(n, 1/2) < k), whatever they are distributed like (David and Nagaraja, "Order Statistics", 3rd
edition, 7.1). A burst of traffic in a few rounds moves it not at all.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, isfinite
from statistics import median

from memgauge.analysis.statistics.estimate import Estimate

LEAST_ROUNDS = 6
"""Below it no interval has 95%: all n values lie on one side with probability 2 / 2**n."""


def paired(values: Sequence[float]) -> Estimate | None:
    """Median and its interval of at least 95%; None below `LEAST_ROUNDS`, or beyond doubles."""
    if len(values) < LEAST_ROUNDS or not all(map(isfinite, values)):
        return None
    ordered = sorted(values)
    rank = _rank(len(ordered))
    return Estimate(median(ordered), ordered[rank - 1], ordered[-rank])


@lru_cache(maxsize=256)
def _rank(count: int) -> int:
    """The largest k for which the k-th smallest to the k-th largest cover the median with 95%."""
    outside, rank = 0, 0
    while 2 * (outside + comb(count, rank)) <= 0.05 * 2**count:
        outside += comb(count, rank)
        rank += 1
    return rank
