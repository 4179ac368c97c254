"""Quantiles of rounds with their 95% interval.

The percentile bootstrap of a quantile needs no drawing: the k-th smallest of n values drawn with
replacement is at most the j-th smallest with probability P(Bin(n, j/n) >= k) (Efron 1979; Maritz
and Jarrett 1978; Hutson and Ernst 2000), an incomplete beta function of j/n.

Rounds that follow each other are alike, because neighbours and hosts change slowly. What counts is
n / tau rounds, where tau is the integrated autocorrelation time of the series "slower or faster
than the quantile", whose mean decides where the quantile lies. It is estimated by Geyer's initial
positive sequence (Geyer 1992) and checked against the variance between batches of rounds; the
larger of the two counts.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from memgauge.analysis.statistics.estimate import Estimate

MAD_TO_SIGMA = 1.482602
"""Standard deviation of normal values over their median absolute deviation, 1 / 0.6744898."""
CONFIDENCE = 0.95
_TAIL = (1 - CONFIDENCE) / 2
_BATCHES = 12
_BATCH_CHI2 = 21.92
"""97.5% point of chi-square with 11 degrees of freedom: above it batches differ beyond chance."""


def sustained(values: Sequence[float], quantile: float = 0.9) -> Estimate | None:
    """The quantile of `values`, given in order of time, with its interval; None without values.

    Where too few independent rounds are there for an interval, `high` is infinite: see
    `has_interval`.
    """
    if not values:
        return None
    ordered = sorted(values)
    lower, upper = _ranks(len(ordered), quantile)
    value = (ordered[lower - 1] + ordered[upper - 1]) / 2
    low, high = _interval(values, ordered, quantile)
    return Estimate(value, min(low, value), max(high, value))


def has_interval(estimate: Estimate | None) -> bool:
    """Whether enough independent rounds stand behind the estimate to give it an interval."""
    return estimate is not None and math.isfinite(estimate.high)


def bounds(estimate: Estimate) -> tuple[float, float]:
    """Lower and upper end of the interval; the value itself twice where there is none."""
    if has_interval(estimate):
        return estimate.low, estimate.high
    return estimate.value, estimate.value


def precision(estimate: Estimate | None) -> float:
    """Half the interval's width over the value; infinite when there is no interval."""
    return math.inf if estimate is None else estimate.precision


def least_rounds(quantile: float) -> int:
    """Independent rounds below which no interval of the quantile is given.

    The interval is then open at the rarer side: all n values lie on one side of the true quantile
    with probability max(q, 1 - q)^n, which must not exceed 2.5% (36 rounds for the 90th percentile,
    6 for the median).
    """
    return math.ceil(math.log(_TAIL) / math.log(max(quantile, 1 - quantile)))


def autocorrelation_time(values: Sequence[float], quantile: float = 0.9) -> float:
    """Rounds that tell as much as one independent round about the quantile; at least 1."""
    if len(values) < 4:
        return 1.0
    ordered = sorted(values)
    time = 1.0
    for level in {quantile, 0.5}:
        threshold = _threshold(ordered, level)
        above = [value > threshold for value in values]
        time = max(time, _initial_sequence_time(above), _batch_time(above))
    return time


def _ranks(count: int, quantile: float) -> tuple[int, int]:
    """Ranks from 1 of the two values whose mean is the quantile (Hyndman and Fan's type 2)."""
    position = quantile * count
    nearest = round(position)
    if abs(position - nearest) < 1e-9:
        return max(1, nearest), min(count, nearest + 1)
    return math.ceil(position), math.ceil(position)


def _threshold(ordered: Sequence[float], quantile: float) -> float:
    """The value above which a round counts as beyond the quantile; below the largest value."""
    threshold = ordered[_ranks(len(ordered), quantile)[0] - 1]
    if threshold < ordered[-1]:
        return threshold
    return max((value for value in ordered if value < threshold), default=threshold)


def _interval(
    values: Sequence[float], ordered: Sequence[float], quantile: float
) -> tuple[float, float]:
    time = autocorrelation_time(values, quantile)
    count = len(ordered)
    if count / time < least_rounds(quantile):
        return 0.0, math.inf
    # Rounded up to steps of 2%, so that neighbouring calls share one solution.
    steps = math.ceil(math.log(time) / math.log(1.02) - 1e-9)
    low, high = _bootstrap_ranks(count, quantile, steps)
    return ordered[low - 1], ordered[high - 1]


@lru_cache(maxsize=4096)
def _bootstrap_ranks(count: int, quantile: float, time_steps: int) -> tuple[int, int]:
    """Ranks of the two bounds of the bootstrap interval, for n / tau drawn values."""
    time = 1.02**time_steps
    lower, upper = _ranks(count, quantile)
    return _rank_at(count, lower, time, _TAIL), _rank_at(count, upper, time, 1 - _TAIL)


def _rank_at(count: int, rank: int, time: float, probability: float) -> int:
    """Smallest j with P(the bootstrapped value of `rank` <= the j-th smallest) >= probability."""
    a, b = rank / time, (count - rank + 1) / time
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        if regularized_beta(middle / count, a, b) >= probability:
            high = middle
        else:
            low = middle + 1
    return low


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


def _initial_sequence_time(above: Sequence[bool]) -> float:
    """Geyer's initial monotone sequence estimate of tau, over lags up to a third of the series.

    The series is kept as the bits of one integer, so that one lag costs one shift and one count.
    """
    count = len(above)
    bits = int("".join("1" if one else "0" for one in above), 2)
    mean = bits.bit_count() / count
    variance = mean * (1 - mean)
    if not variance:
        return 1.0

    def correlation(lag: int) -> float:
        tail = (bits >> lag).bit_count()
        head = (bits & ((1 << (count - lag)) - 1)).bit_count()
        both = (bits & (bits >> lag)).bit_count()
        return (both - mean * (head + tail) + (count - lag) * mean * mean) / (count * variance)

    total, previous = 0.0, math.inf
    for lag in range(0, count // 3, 2):
        pair = correlation(lag) + correlation(lag + 1)
        if pair <= 0:
            break
        previous = min(pair, previous)
        total += previous
    return 2 * total - 1


def _batch_time(above: Sequence[bool]) -> float:
    """Tau from the variance between batches of rounds; 1 where it does not exceed chance.

    Sees drift slower than the lags that the sequence estimate can see.
    """
    length = len(above) // _BATCHES
    if length < 8:
        return 1.0
    used = length * _BATCHES
    sums = [0, *accumulate(above[-used:])]
    mean = sums[-1] / used
    variance = mean * (1 - mean)
    if not variance:
        return 1.0
    shares = [(sums[i + length] - sums[i]) / length for i in range(0, used, length)]
    chi2 = sum((share - mean) ** 2 for share in shares) * length / variance
    return chi2 / (_BATCHES - 1) if chi2 > _BATCH_CHI2 else 1.0
