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


def paired(values: Sequence[float], confidence: float = 0.95) -> Estimate | None:
    """Median and its interval; None: too few values for this confidence, or beyond doubles.

    Args:
        values: One of each round.
        confidence: That the interval has at least, from 0 to 1.
    """
    if not all(map(isfinite, values)):
        return None
    ordered = sorted(values)
    rank = _rank(len(ordered), confidence)
    if rank == 0:
        return None
    return Estimate(median(ordered), ordered[rank - 1], ordered[-rank])


@lru_cache(maxsize=256)
def _rank(count: int, confidence: float) -> int:
    """The largest k for which the k-th smallest to the k-th largest cover the median; 0: none."""
    outside, rank = 0, 0
    most = (1 - confidence) * 2**count / 2
    while outside + comb(count, rank) <= most:
        outside += comb(count, rank)
        rank += 1
    return rank
