"""Quantiles of samples that lie at random moments of a stretch of time, with their 95% interval.

What is estimated is the quantile of this stretch: the one that sampling without a gap would give.
The stretch is cut into as many parts as there are samples (one round, or some), and each sample
lies at a random moment of its own part. How many samples lie below the true quantile is then a sum
of independent yes-or-no trials whose mean probability is that of the quantile, whatever the
process: drift, phases and autocorrelation change the single probabilities and not their mean. The
tails of such a sum are no heavier than the binomial's (Hoeffding, Annals of Mathematical Statistics
27, 1956), so the interval between two of the ordered values (David and Nagaraja, Order Statistics,
2003, section 7.1) needs no correction for what neighbouring samples have in common.

Samples whose parts are of unequal length have weights: how many rounds each stands for. They count
as (sum of weights)^2 / (sum of their squares) samples (Kish, Survey Sampling, 1965).

What would invalidate it: samples from a part of the stretch only; moments that are not random, with
a disturbance of the same period.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import median

from memgauge.analysis.statistics.estimate import Estimate

MAD_TO_SIGMA = 1.482602
"""Standard deviation of normal values over their median absolute deviation, 1 / 0.6744898."""
CONFIDENCE = 0.95
_MISS = 1 - CONFIDENCE
LEAST_SAMPLES = 16
"""For an interval of the 90th percentile; below 29 its upper end lies above the largest value."""
_TOP = 0.65
_TOP_FROM = 36
"""The upper end is then the largest value plus 0.65 (36 / n - 1) of its distance from the median:
chosen by simulation, so that it holds for normal and for heavy-tailed values."""


def sustained(
    values: Sequence[float], quantile: float = 0.9, weights: Sequence[float] | None = None
) -> Estimate | None:
    """The quantile of `values` with its interval; None without values.

    Where the samples are too few for an interval, `low` is 0 and `high` is infinite: see
    `has_interval`.

    Args:
        values: One of each sample, in any order and in any unit.
        quantile: Which quantile, above 0 and below 1: 0.9 of a bandwidth, 0.1 of a latency.
        weights: How much of the stretch each sample stands for, above 0; None: all as much.
    """
    if not values:
        return None
    if quantile < 0.5:
        mirrored = sustained([-value for value in values], 1 - quantile, weights)
        return None if mirrored is None else _mirror(mirrored)
    if weights is None or min(weights) == max(weights):
        ordered = sorted(values)
        ranks: Sequence[float] = range(len(ordered) + 1)
        found = _equal_ends(len(ordered), quantile)
    else:
        pairs = sorted(zip(values, weights, strict=True))
        ordered = [value for value, _ in pairs]
        ranks = _effective_ranks([weight for _, weight in pairs])
        found = _ends(ranks, quantile)
    value = _at(ordered, ranks, quantile)
    low, high = _bounds(ordered, ranks[-1], found)
    return Estimate(value, min(low, value), max(high, value))


def has_interval(estimate: Estimate | None) -> bool:
    """Whether enough samples stand behind the estimate to give it an interval."""
    return estimate is not None and math.isfinite(estimate.high)


def stated(estimate: Estimate | None) -> Estimate | float | None:
    """As a report states it: the bare value where no interval is known."""
    return estimate if estimate is None or has_interval(estimate) else estimate.value


def bounds(estimate: Estimate) -> tuple[float, float]:
    """Lower and upper end of the interval; the value itself twice where there is none."""
    if has_interval(estimate):
        return estimate.low, estimate.high
    return estimate.value, estimate.value


def precision(estimate: Estimate | None) -> float:
    """Half the interval's width over the value; infinite when there is no interval."""
    return math.inf if estimate is None else estimate.precision


Ends = tuple[int, int | None] | None
"""Places of both ends among the ordered values, from 0; the upper one None: above the largest."""


def _mirror(estimate: Estimate) -> Estimate:
    if not has_interval(estimate):
        return Estimate(-estimate.value, 0.0, math.inf)
    return Estimate(-estimate.value, -estimate.high, -estimate.low)


def _effective_ranks(weights: Sequence[float]) -> list[float]:
    """Samples up to each place, from 0 to all, in units in which they are as many as they count."""
    total = sum(weights)
    effective = total * total / sum(weight * weight for weight in weights)
    return [up_to * effective / total for up_to in accumulate(weights, initial=0.0)]


def _at(ordered: Sequence[float], ranks: Sequence[float], quantile: float) -> float:
    """The quantile; between two values where the rank falls between them (Hyndman and Fan 2)."""
    rank = quantile * ranks[-1]
    slack = 1e-9 * ranks[-1]
    lower = next(at for at in range(len(ordered)) if ranks[at + 1] >= rank - slack)
    upper = lower + (ranks[lower + 1] <= rank + slack)
    return (ordered[lower] + ordered[min(upper, len(ordered) - 1)]) / 2


@lru_cache(maxsize=4096)
def _equal_ends(count: int, quantile: float) -> Ends:
    return _ends(range(count + 1), quantile)


def _ends(ranks: Sequence[float], quantile: float) -> Ends:
    """The narrowest pair of ordered values that misses the quantile in at most 5% of all cases.

    Of pairs as narrow as each other the one with the most equal tails.

    Args:
        ranks: Effective samples before each ordered value, and all of them last.
        quantile: Which quantile, from 0.5 to below 1.
    """
    effective, count = ranks[-1], len(ranks) - 1
    rank = quantile * effective
    reach = 3.5 * math.sqrt(rank * (1 - quantile)) + 1.5
    best: tuple[float, float, int, int] | None = None
    upper = bisect_right(ranks, rank) - 1
    for lower in range(bisect_left(ranks, rank - reach), bisect_right(ranks, rank)):
        low_miss = _at_most(effective, quantile, ranks[lower])
        if low_miss > _MISS:
            break
        while upper < count and low_miss + _at_least(effective, quantile, ranks[upper + 1]) > _MISS:
            upper += 1
        if upper == count:
            break
        tilt = abs(low_miss - _at_least(effective, quantile, ranks[upper + 1]))
        found = (round(ranks[upper] - ranks[lower], 9), tilt, lower, upper)
        best = min(best, found) if best else found
    if best is not None:
        return best[2], best[3]
    return _open_ends(ranks, quantile)


def _open_ends(ranks: Sequence[float], quantile: float) -> Ends:
    """The lower end alone, of too few values for an upper one; None of too few for either."""
    effective = ranks[-1]
    if effective < LEAST_SAMPLES - 1e-9:
        return None
    lower = [
        at
        for at, before in enumerate(ranks[:-1])
        if before <= quantile * effective and _at_most(effective, quantile, before) <= _MISS / 2
    ]
    return (lower[-1], None) if lower else None


def _bounds(ordered: Sequence[float], effective: float, ends: Ends) -> tuple[float, float]:
    if ends is None:
        return 0.0, math.inf
    lower, upper = ends
    if upper is not None:
        return ordered[lower], ordered[upper]
    beyond = _TOP * max(0.0, _TOP_FROM / effective - 1) * (ordered[-1] - median(ordered))
    gaps = [after - before for before, after in pairwise(ordered)]
    tick = min((gap for gap in gaps if gap > 0), default=0.0) if 0 in gaps else 0.0
    return ordered[lower], ordered[-1] + beyond + tick


def _at_most(count: float, share: float, most: float) -> float:
    """P(Bin(count, share) <= most); neither needs to be whole."""
    if most < 0 or most >= count:
        return float(most >= count)
    return regularized_beta(1 - share, count - most, most + 1)


def _at_least(count: float, share: float, least: float) -> float:
    """P(Bin(count, share) >= least); neither needs to be whole."""
    if least <= 0 or least > count * (1 + 1e-12):
        return float(least <= 0)
    return regularized_beta(share, min(least, count), max(count - least, 0.0) + 1)


def regularized_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) by its continued fraction (DLMF 8.17.22); P(Bin(n, x) >= k) = I_x(k, n - k + 1).

    Args:
        x: Upper end of the integral, from 0 to 1; outside, the result is 0 or 1.
        a: First parameter of the beta distribution, above 0, not necessarily whole.
        b: Second parameter, likewise.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - regularized_beta(1 - x, b, a)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return math.exp(log_front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)), evaluated forwards by Lentz's method until it stands still."""
    value = numerator = 1.0
    denominator = 0.0
    for term in range(1, 1000):
        m = term // 2
        if term % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / (1 + d * denominator or 1e-300)
        numerator = 1 + d / numerator or 1e-300
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-12:
            break
    return value
