"""Quantiles of single loads, each timed by itself: the tail that a mean does not show.

A quantile of counts needs no model: its interval lies between two of the ordered values, whose
ranks follow from the binomial distribution of how many values lie below the true quantile (David
and Nagaraja, Order Statistics, 2003, section 7.1). Loads of one pass are alike, so they count as
fewer: the design effect is how much more the share beyond the quantile varies between passes than
chance would have it (Woodruff, JASA 47, 1952).
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import regularized_beta
from memgauge.model.records import Clock

Histogram = Sequence[tuple[int, int]]
"""Values in ns and how many there are of each, ascending."""

_TAIL = 0.025
_Z = 1.96
_NORMAL_FROM = 100.0
"""Variance of a count from which on its distribution is taken as normal."""


class LoadTimes(msgspec.Struct, frozen=True):
    """What single loads took, the clock's own cost taken off."""

    p50: Estimate | None
    p99: Estimate | None
    """None below 368 loads, see `least_values`."""
    loads: int


def least_values(quantile: float) -> int:
    """Independent values below which no interval of the quantile is given.

    All n values lie on one side of the true quantile with probability max(q, 1 - q)^n, which must
    not exceed 2.5% (368 values for the 99th percentile, 6 for the median).
    """
    return math.ceil(math.log(_TAIL) / math.log(max(quantile, 1 - quantile)))


def load_times(passes: Sequence[Histogram], clock: Clock) -> LoadTimes:
    """Quantiles of the loads of all passes together, in ns.

    Their intervals are no narrower than a step of the clock to either side.
    """
    p50, p99 = (quantile_of(passes, quantile) for quantile in (0.5, 0.99))
    loads = sum(count for one_pass in passes for _, count in one_pass)
    return LoadTimes(_of_load(p50, clock), _of_load(p99, clock), loads)


def quantile_of(passes: Sequence[Histogram], quantile: float) -> Estimate | None:
    """The quantile of all values and its 95% interval; None where they are too few.

    Where the passes differ so much that too few values count, `high` is infinite.
    """
    pooled: Counter[int] = Counter()
    for one_pass in passes:
        for value, count in one_pass:
            pooled[value] += count
    values = sorted(pooled)
    below = list(accumulate(pooled[value] for value in values))
    total = below[-1] if below else 0
    if total < least_values(quantile):
        return None

    def at(rank: int) -> int:
        return next(v for v, up_to in zip(values, below, strict=True) if up_to >= rank)

    value = at(math.ceil(quantile * total))
    effect = design_effect(passes, value)
    if total / effect < least_values(quantile):
        return Estimate(float(value), 0.0, math.inf)
    low, high = ranks(total, quantile, effect)
    return Estimate(float(value), float(at(low)), float(at(high)))


def design_effect(passes: Sequence[Histogram], value: float) -> float:
    """How many loads count as one: how the shares beyond `value` vary between passes.

    Of the shares above it and of those from it on, the one that varies more: many loads may take
    exactly as long, by a clock that ticks slowly.
    """
    sizes: list[int] = []
    above: list[int] = []
    from_on: list[int] = []
    for one_pass in passes:
        less = equal = more = 0
        for ns, count in one_pass:
            if ns < value:
                less += count
            elif ns > value:
                more += count
            else:
                equal += count
        sizes.append(less + equal + more)
        above.append(more)
        from_on.append(equal + more)
    return max(_overdispersion(sizes, above), _overdispersion(sizes, from_on))


def _overdispersion(sizes: Sequence[int], parts: Sequence[int]) -> float:
    """Variance of the shares over that of chance; 1 where it is less, or cannot be determined."""
    seen = [(size, part) for size, part in zip(sizes, parts, strict=True) if size]
    share = sum(part for _, part in seen) / max(1, sum(size for size, _ in seen))
    if len(seen) < 2 or not 0 < share < 1:
        return 1.0
    chi2 = sum((part - size * share) ** 2 / size for size, part in seen) / (share * (1 - share))
    return max(1.0, chi2 / (len(seen) - 1))


def ranks(count: int, quantile: float, effect: float = 1.0) -> tuple[int, int]:
    """Ranks from 1 of the ordered values between which the quantile lies, in 95% of all cases.

    Where values that count fully would be many enough for the normal approximation, and these are
    not, the wider of both: a larger `effect` never gives a narrower interval.

    Args:
        count: Number of ordered values.
        quantile: Quantile that is looked for, above 0 and below 1.
        effect: Design effect: how many values count as one, at least 1.
    """
    variance = count * quantile * (1 - quantile)
    low, high = count, 1
    if variance >= _NORMAL_FROM:
        half = _Z * math.sqrt(variance * effect)
        low, high = math.floor(count * quantile - half), math.ceil(count * quantile + half) + 1
    if variance / effect < _NORMAL_FROM:
        low = min(low, _rank(count, quantile, effect, 1 - _TAIL) - 1)
        high = max(high, _rank(count, quantile, effect, _TAIL))
    return max(1, low), min(count, high)


def _rank(count: int, quantile: float, effect: float, probability: float) -> int:
    """Smallest rank with P(as many values lie below the quantile) <= probability."""
    low, high = 1, count + 1
    while low < high:
        middle = (low + high) // 2
        some = regularized_beta(quantile, middle / effect, (count - middle + 1) / effect)
        if some <= probability:
            high = middle
        else:
            low = middle + 1
    return low


def _of_load(estimate: Estimate | None, clock: Clock) -> Estimate | None:
    """Less the clock's cost, give or take its step; None where nothing is left."""
    if estimate is None or estimate.value <= clock.cost_ns:
        return None
    low = estimate.low - clock.cost_ns - clock.resolution_ns
    high = estimate.high - clock.cost_ns + clock.resolution_ns
    return Estimate(estimate.value - clock.cost_ns, max(0.0, low), high)
