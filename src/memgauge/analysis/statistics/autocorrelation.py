"""How many samples in a row count as one: the integrated autocorrelation time of a series.

It is estimated of the series "slower or faster than a quantile" by Geyer's initial positive
sequence (Geyer, Statistical Science 7, 1992) and checked against the variance between batches; the
larger of the two counts.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

_BATCHES = 12
_BATCH_CHI2 = 21.92
"""97.5% point of chi-square with 11 degrees of freedom: above it batches differ beyond chance."""


def autocorrelation_time(values: Sequence[float], quantile: float = 0.9) -> float:
    """Samples that tell as much as one independent sample about the quantile; at least 1."""
    if len(values) < 4:
        return 1.0
    ordered = sorted(values)
    time = 1.0
    for level in {quantile, 0.5}:
        threshold = _threshold(ordered, level)
        above = [value > threshold for value in values]
        time = max(time, _initial_sequence_time(above), _batch_time(above))
    return time


def _threshold(ordered: Sequence[float], quantile: float) -> float:
    """The value above which a sample counts as beyond the quantile; below the largest value."""
    threshold = ordered[max(0, math.ceil(quantile * len(ordered) - 1e-9) - 1)]
    if threshold < ordered[-1]:
        return threshold
    return max((value for value in ordered if value < threshold), default=threshold)


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
