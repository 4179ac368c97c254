"""What a curve of transfers over their size shows: latency, asymptote and half-bandwidth point.

Hockney and Jesshope ("Parallel Computers 2", 1988) describe a transfer of n bytes by
t = (n + n_1/2) / r_inf: r_inf is the bandwidth of endless transfers, and n_1/2 the size at which
half of it is reached, so that n_1/2 / r_inf is the time that every transfer takes however small it
is. Both are fitted by least squares of the times, each weighted by its own uncertainty; where the
points lie further from the line than that, the intervals grow by as much (Birge 1932).

Real curves bend: small transfers go another way than large ones, pageable memory is copied through
a buffer piece by piece. So the size from which on half of the best measured bandwidth is reached is
read from the curve itself too, and where points lie far from the model it is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, has_interval
from memgauge.analysis.statistics.significance import NORMAL

LEAST_SIZES = 4
"""Below it two parameters are no model."""
LEAST_SIGMA = 0.005
"""Of a time: nothing is known better than that, whatever its interval says."""
FOLLOWS = 0.15
"""Further from the model than this share of the time, a point does not follow it."""
STEP = 0.05
"""By more than this share bandwidth falls, or time shrinks, where another way of copying begins."""

Curve = Mapping[int, Estimate]
"""GB/s by bytes of one transfer, ascending."""


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """t = start_up_ns + n / asymptote, fitted."""

    asymptote: Estimate
    """r_inf, GB/s."""
    half_bytes: Estimate
    """n_1/2."""
    start_up_ns: Estimate
    """n_1/2 / r_inf."""
    worst_bytes: int
    """The size that lies furthest from it,"""
    worst: float
    """by this share of the time that the model predicts; above 0: it took longer."""

    @property
    def is_followed(self) -> bool:
        """Whether no point lies far from it."""
        return abs(self.worst) <= FOLLOWS

    def gb_per_s(self, size: int) -> float:
        """What it predicts of transfers of so many bytes."""
        return size / (self.start_up_ns.value + size / self.asymptote.value)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Two neighbouring sizes between which something else than the size changes."""

    below_bytes: int
    bytes: int
    speed: float
    """Bandwidth at the larger over that at the smaller,"""
    time: float
    """and the time of one transfer."""


def fit(curve: Curve) -> Model | None:
    """The model of a curve; None below four sizes, or where it makes no sense of them."""
    if len(curve) < LEAST_SIZES or min(one.value for one in curve.values()) <= 0:
        return None
    sizes = [float(size) for size in curve]
    times = [size / one.value for size, one in curve.items()]
    weights = [(time * _sigma(one)) ** -2 for time, one in zip(times, curve.values(), strict=True)]
    line = _line(sizes, times, weights)
    if line is None or line.start <= 0 or line.slope <= 0:
        return None
    off = {
        size: time / (line.start + line.slope * size) - 1
        for size, time in zip(curve, times, strict=True)
    }
    worst = max(off, key=lambda size: abs(off[size]))
    return Model(
        asymptote=_inverse(line.slope, line.slope_sigma),
        half_bytes=_around(line.start / line.slope, line.half_sigma),
        start_up_ns=_around(line.start, line.start_sigma),
        worst_bytes=worst,
        worst=off[worst],
    )


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """ns and ns a byte, with standard deviations."""

    start: float
    slope: float
    start_sigma: float
    slope_sigma: float
    half_sigma: float
    """Of start / slope."""


def _line(x: Sequence[float], y: Sequence[float], weights: Sequence[float]) -> _Line | None:
    """Weighted least squares."""
    total = sum(weights)
    x_mean = sum(w * one for w, one in zip(weights, x, strict=True)) / total
    y_mean = sum(w * one for w, one in zip(weights, y, strict=True)) / total
    spread = sum(w * (one - x_mean) ** 2 for w, one in zip(weights, x, strict=True))
    if not spread > 0 or not math.isfinite(spread):
        return None
    both = zip(weights, x, y, strict=True)
    slope = sum(w * (one - x_mean) * (other - y_mean) for w, one, other in both) / spread
    start = y_mean - slope * x_mean
    if not slope:
        return None
    both = zip(weights, x, y, strict=True)
    misfit = sum(w * (other - start - slope * one) ** 2 for w, one, other in both)
    scale = max(1.0, misfit / (len(x) - 2))
    slope_variance = scale / spread
    start_variance = scale / total + x_mean**2 * slope_variance
    common = -x_mean * slope_variance
    half = start / slope
    half_variance = (start_variance - 2 * half * common + half**2 * slope_variance) / slope**2
    return _Line(
        start=start,
        slope=slope,
        start_sigma=math.sqrt(start_variance),
        slope_sigma=math.sqrt(slope_variance),
        half_sigma=math.sqrt(max(0.0, half_variance)),
    )


def _sigma(speed: Estimate) -> float:
    """Standard deviation of a time, as a share of it."""
    if not has_interval(speed):
        return max(LEAST_SIGMA, STEP)
    return max(LEAST_SIGMA, (speed.high - speed.low) / 2 / NORMAL / speed.value)


def _around(value: float, sigma: float) -> Estimate:
    return Estimate(value, max(0.0, value - NORMAL * sigma), value + NORMAL * sigma)


def _inverse(slope: float, sigma: float) -> Estimate:
    low, high = slope - NORMAL * sigma, slope + NORMAL * sigma
    return Estimate(1 / slope, 1 / high, 1 / low if low > 0 else math.inf)


def best(curve: Curve) -> tuple[int, Estimate] | None:
    """The size with the most bandwidth, and that; None of an empty curve."""
    if not curve:
        return None
    size = max(curve, key=lambda one: curve[one].value)
    return size, curve[size]


def half_of_best(curve: Curve) -> Estimate | None:
    """The size from which on at least half of the best bandwidth is reached, by the curve itself.

    Between two sizes by a line in both logarithms. Its interval is from where the upper ends of
    the intervals reach half of the best one's lower end, to where the lower ends reach half of its
    upper end. None where the smallest size reaches it, or no curve is there.
    """
    top = best(curve)
    if top is None:
        return None
    low, high = bounds(top[1])
    middle = _crossing({size: one.value for size, one in curve.items()}, top[1].value / 2)
    if middle is None:
        return None
    first = _crossing({size: bounds(one)[1] for size, one in curve.items()}, low / 2)
    last = _crossing({size: bounds(one)[0] for size, one in curve.items()}, high / 2)
    if not has_interval(top[1]):
        return Estimate(middle, 0.0, math.inf)
    smallest = float(next(iter(curve)))
    return Estimate(
        middle,
        min(middle, smallest if first is None else first),
        max(middle, middle if last is None else last),
    )


def _crossing(curve: Mapping[int, float], level: float) -> float | None:
    """Beyond the last size that lies below the level; None where none does, or the last one."""
    sizes = list(curve)
    below = [at for at, size in enumerate(sizes) if curve[size] < level]
    if not below or below[-1] == len(sizes) - 1:
        return None
    one, other = sizes[below[-1]], sizes[below[-1] + 1]
    if curve[one] <= 0:
        return float(other)
    share = math.log(level / curve[one]) / math.log(curve[other] / curve[one])
    return one * math.exp(share * math.log(other / one))


def steps(curve: Curve) -> list[Step]:
    """Where larger transfers are slower, or are sooner done, than smaller ones beyond noise."""
    return list(_steps(curve))


def _steps(curve: Curve) -> Iterator[Step]:
    pairs = list(curve.items())
    for (size, one), (larger, other) in pairwise(pairs):
        if not (has_interval(one) and has_interval(other)) or one.low <= 0 or other.low <= 0:
            continue
        falls = other.high < (1 - STEP) * one.low
        shrinks = larger / other.low < (1 - STEP) * size / one.high
        if falls or shrinks:
            speed = other.value / one.value
            yield Step(below_bytes=size, bytes=larger, speed=speed, time=larger / size / speed)
