"""The knee of a bandwidth-latency curve: where more bandwidth begins to cost much more latency.

Kneedle (Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack", ICDCS workshops
2011) for a convex rising curve: bandwidth and latency are scaled to 0..1 over the curve, and the
knee is where the curve lies furthest below the diagonal. Curves are short and their points carry
intervals, so nothing is smoothed; the estimate carries an interval instead, made of two parts:

- what the points resolve: the distance from the diagonal of a convex curve has one maximum, which
  lies between the points beside the highest one;
- what the intervals of the points allow: the same for every point that is the highest in a
  noticeable share of curves drawn inside them (200, always the same ones).

There is no knee where the latency hardly rises or the distance is within its noise: generators that
never saturate the memory leave a curve without one.

What would invalidate it: points of different regimes in one curve, or a sweep that ends before
saturation, whose knee is then that of the part seen.
"""

import math
import random
from collections.abc import Sequence
from statistics import median
from typing import Literal

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA, bounds, has_interval

LEAST_POINTS = 5
LEAST_RISE = 0.1
"""Latency at saturation over the least one, less one: below it the memory is not saturated."""
LEAST_BEND = 0.1
"""Distance from the diagonal; a parabola from a level start has 0.25, a straight line 0."""
LEAST_SIGNAL = 4.0
"""Times its noise that the distance must have."""
PLATEAU = 0.02
"""Of the range of bandwidth: the curve ends with the last point as near to the largest."""
DRAWS = 200
LEAST_SHARE = 0.025
"""Of the draws: what happens in fewer is not counted in the interval."""
_Z = 1.96

Status = Literal["knee", "none", "unclear", "too few points"]


class LoadPoint(msgspec.Struct, frozen=True):
    """One point of a curve: bandwidth and the latency measured beside it, in the same units."""

    bandwidth: Estimate
    latency: Estimate


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The knee, or why there is none."""

    status: Status
    """unclear: whether the curve bends lies within the noise of its points."""
    index: int | None = None
    """Of the point at the knee, in the curve as given."""
    bandwidth: Estimate | None = None
    """Interval: from the point below that may bound the knee to the one above."""
    latency: Estimate | None = None
    """Interval: the latencies of all points that may bound the knee."""
    rise: float | None = None
    """Largest latency of the curve over its least, less one."""


def find_knee(curve: Sequence[LoadPoint]) -> Knee:
    """The knee of a curve, its points in order of rising load (the longest delay first)."""
    places = [at for at, point in enumerate(curve) if _is_usable(point)]
    points = _until_saturated([curve[at] for at in places])
    if len(points) < LEAST_POINTS:
        return Knee(status="too few points")
    noise = _noise(points)
    xs = [point.bandwidth.value for point in points]
    ys = [point.latency.value for point in points]
    best = highest(xs, ys, noise)
    drawn = _draws(xs, ys, noise)
    seen = sum(at is not None for at in drawn) / len(drawn)
    rise = max(ys) / min(ys) - 1
    if best is None or seen < 1 - LEAST_SHARE:
        certain = best is None and seen <= LEAST_SHARE
        return Knee(status="none" if certain else "unclear", rise=rise)
    likely = {at for at in {*drawn} if at is not None and drawn.count(at) >= LEAST_SHARE * DRAWS}
    around = sorted({end for at in likely | {best} for end in _around(points, at)})
    return Knee(
        status="knee",
        index=places[best],
        bandwidth=_hull(points[best].bandwidth, [points[at].bandwidth for at in around]),
        latency=_hull(
            points[best].latency, [p.latency for p in points[around[0] : around[-1] + 1]]
        ),
        rise=rise,
    )


def highest(
    xs: Sequence[float], ys: Sequence[float], noise: Sequence[tuple[float, float]]
) -> int | None:
    """Index of the point furthest below the diagonal; None where the curve does not bend.

    Args:
        xs: Bandwidth of each point, in order of rising load.
        ys: Latency of each point, beside `xs`; above 0.
        noise: Standard deviations of x and y of each point, beside `xs`.
    """
    x_range, y_range = max(xs) - min(xs), max(ys) - min(ys)
    if x_range <= 0 or y_range < LEAST_RISE * min(ys):
        return None
    x_least, y_least = min(xs), min(ys)
    below = [(x - x_least) / x_range - (y - y_least) / y_range for x, y in zip(xs, ys, strict=True)]
    best = max(range(len(below)), key=below.__getitem__)
    typical = math.hypot(
        median(x for x, _ in noise) / x_range,
        median(y for _, y in noise) / y_range,
    )
    return best if below[best] >= max(LEAST_BEND, LEAST_SIGNAL * typical) else None


def share_of(knee: Knee, peak: Estimate | float | None) -> Estimate | None:
    """Bandwidth at the knee over a peak, such as the curve's saturated bandwidth; None without."""
    if knee.bandwidth is None or peak is None:
        return None
    top = peak if isinstance(peak, Estimate) else Estimate(peak, peak, peak)
    if top.value <= 0:
        return None
    low, high = (top.low, top.high) if has_interval(top) and top.low > 0 else (top.value, top.value)
    at = knee.bandwidth
    return Estimate(at.value / top.value, at.low / high, at.high / low)


def _is_usable(point: LoadPoint) -> bool:
    values = (point.bandwidth.value, point.latency.value)
    return all(math.isfinite(value) and value > 0 for value in values)


def _until_saturated(points: Sequence[LoadPoint]) -> Sequence[LoadPoint]:
    """Up to the last point near the largest bandwidth: beyond, more load gives less of it."""
    values = [point.bandwidth.value for point in points]
    if not values:
        return points
    enough = max(values) - PLATEAU * (max(values) - min(values))
    return points[: max(at for at, value in enumerate(values) if value >= enough) + 1]


def _noise(points: Sequence[LoadPoint]) -> list[tuple[float, float]]:
    """Standard deviations of bandwidth and latency: from the intervals, else from the scatter."""
    scatter = _scatter(points)
    return [(_deviation(p.bandwidth, 0.0), _deviation(p.latency, scatter)) for p in points]


def _deviation(estimate: Estimate, unknown: float) -> float:
    if not has_interval(estimate):
        return unknown
    return (estimate.high - estimate.low) / 2 / _Z


def _scatter(points: Sequence[LoadPoint]) -> float:
    """Standard deviation of latencies about the mean of their neighbours', by the median.

    The median passes over the bend, where latencies differ from it by more than noise.
    """
    ys = [point.latency.value for point in points]
    beside = [abs(b - (a + c) / 2) for a, b, c in zip(ys, ys[1:], ys[2:], strict=False)]
    return MAD_TO_SIGMA * median(beside) / math.sqrt(1.5)


def _draws(
    xs: Sequence[float], ys: Sequence[float], noise: Sequence[tuple[float, float]]
) -> list[int | None]:
    """Where curves drawn inside the intervals have their knee; the same ones every time."""
    rng = random.Random(2011)

    def drawn(values: Sequence[float], deviations: Sequence[float]) -> list[float]:
        return [
            value + deviation * max(-_Z, min(_Z, rng.gauss(0, 1)))
            for value, deviation in zip(values, deviations, strict=True)
        ]

    x_noise, y_noise = [x for x, _ in noise], [y for _, y in noise]
    return [highest(drawn(xs, x_noise), drawn(ys, y_noise), noise) for _ in range(DRAWS)]


def _around(points: Sequence[LoadPoint], at: int) -> tuple[int, int]:
    """The nearest points whose bandwidth is surely less and surely more than that of `at`."""
    low, high = bounds(points[at].bandwidth)
    below = (i for i in range(at - 1, -1, -1) if bounds(points[i].bandwidth)[1] < low)
    above = (i for i in range(at + 1, len(points)) if bounds(points[i].bandwidth)[0] > high)
    return next(below, 0), next(above, len(points) - 1)


def _hull(value: Estimate, others: Sequence[Estimate]) -> Estimate:
    ends = [bounds(one) for one in (value, *others)]
    return Estimate(value.value, min(low for low, _ in ends), max(high for _, high in ends))
