"""The knee of a bandwidth-latency curve: where more bandwidth begins to cost much more latency.

Kneedle (Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack", ICDCS workshops
2011) for a convex rising curve: bandwidth and latency are scaled to 0..1 over the curve, and the
knee is where the curve lies furthest below the diagonal. Curves are short and their points carry
intervals, so nothing is smoothed; the estimate carries an interval instead, made of two parts:

- what the points resolve: the distance from the diagonal of a convex curve has one maximum, which
  lies between the points beside the highest one;
- what the intervals of the points allow: the same for every point that is the highest in a
  noticeable share of curves drawn inside them (200, always the same ones).

There is no knee where the latency hardly rises, or where no curve drawn inside the intervals bends:
generators that never saturate the memory leave a curve without one. Whether there is one cannot be
told where some of these curves bend and others do not, where the latency falls again and again by
more than a part of its rise (more load cannot make it shorter, so something else moved it; see
`monotone`), or where the distance is within its noise. Where the knee may lie anywhere in a gap
of a quarter of the bandwidths, it is unresolved.

What would invalidate it: points of different regimes in one curve, or a sweep that ends before
saturation, whose knee is then that of the part seen.
"""

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Literal

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA, bounds, has_interval
from memgauge.analysis.statistics.monotone import unevenness

LEAST_POINTS = 5
LEAST_RISE = 0.1
"""Latency at saturation over the least one, less one: below it the memory is not saturated."""
LEAST_BEND = 0.1
"""Distance from the diagonal; a parabola from a level start has 0.25, a straight line 0."""
LEAST_SIGNAL = 4.0
"""Times its noise that the distance must have."""
MOST_UNEVEN = 0.08
"""Of the range of latency: root mean square by which it may miss a rising curve."""
MOST_UNEVEN_NOISE = 1.5
"""Times the noise of its points by which it then must do so."""
WIDEST = 0.25
"""Of the largest bandwidth: a knee that may lie in a wider gap between points is unresolved."""
PLATEAU = 0.02
"""Of the range of bandwidth: the curve ends with the last point as near to the largest."""
DRAWS = 200
LEAST_SHARE = 0.025
"""Of the draws: what happens in fewer is not counted in the interval."""
_Z = 1.96

Status = Literal["knee", "none", "unclear", "uneven", "unresolved", "too few points"]


class LoadPoint(msgspec.Struct, frozen=True):
    """One point of a curve: bandwidth and the latency measured beside it, in the same units."""

    bandwidth: Estimate
    latency: Estimate


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The knee, or why there is none."""

    status: Status
    """unclear: whether the curve bends lies within the noise of its points. uneven: its latency
    rises and falls, beyond that noise. unresolved: it bends somewhere in a wide gap."""
    index: int | None = None
    """Of the point at the knee, in the curve as given; None also where it is unresolved."""
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
    rise = max(ys) / min(ys) - 1
    if _is_uneven(ys, [_deviation(point.latency, 0.0) for point in points]):
        return Knee(status="uneven", rise=rise)
    best = highest(xs, ys, noise)
    curves = _draws(xs, ys, noise)
    drawn = [highest(*curve, noise) for curve in curves]
    if best is None or drawn.count(None) > LEAST_SHARE * DRAWS:
        bent = sum(_furthest(*curve) is not None for curve in curves)
        certain = best is None and bent <= LEAST_SHARE * DRAWS
        return Knee(status="none" if certain else "unclear", rise=rise)
    likely = {at for at in {*drawn} if at is not None and drawn.count(at) >= LEAST_SHARE * DRAWS}
    around = sorted({end for at in likely | {best} for end in _around(points, at)})
    near = points[around[0] : around[-1] + 1]
    bandwidth = _hull(points[best].bandwidth, [points[at].bandwidth for at in around])
    met = sorted(point.bandwidth.value for point in near)
    resolved = all(after - before <= WIDEST * max(xs) for before, after in pairwise(met))
    return Knee(
        status="knee" if resolved else "unresolved",
        index=places[best] if resolved else None,
        bandwidth=bandwidth,
        latency=_hull(points[best].latency, [point.latency for point in near]),
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
    found = _furthest(xs, ys)
    if found is None:
        return None
    best, below = found
    typical = math.hypot(
        median(x for x, _ in noise) / (max(xs) - min(xs)),
        median(y for _, y in noise) / (max(ys) - min(ys)),
    )
    return best if below >= LEAST_SIGNAL * typical else None


def _furthest(xs: Sequence[float], ys: Sequence[float]) -> tuple[int, float] | None:
    """The point furthest below the diagonal and its distance; None where no curve would bend."""
    x_least, y_least = min(xs), min(ys)
    x_range, y_range = max(xs) - x_least, max(ys) - y_least
    if x_range <= 0 or y_range < LEAST_RISE * y_least:
        return None
    below = [(x - x_least) / x_range - (y - y_least) / y_range for x, y in zip(xs, ys, strict=True)]
    best = max(range(len(below)), key=below.__getitem__)
    return (best, below[best]) if below[best] >= LEAST_BEND else None


def _is_uneven(ys: Sequence[float], noise: Sequence[float]) -> bool:
    """Latency falls where it should rise, by more than its noise and much of its rise."""
    if max(ys) - min(ys) < LEAST_RISE * min(ys):
        return False
    missed = unevenness(ys)
    known = [one for one in noise if one > 0]
    allowed = MOST_UNEVEN_NOISE * median(known) if known else 0.0
    return missed > max(MOST_UNEVEN * (max(ys) - min(ys)), allowed)


def share_of(knee: Knee, peak: Estimate | float | None) -> Estimate | None:
    """Bandwidth at the knee over a peak, such as the curve's saturated bandwidth; None without."""
    if knee.bandwidth is None or peak is None or knee.status == "unresolved":
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
) -> list[tuple[list[float], list[float]]]:
    """Curves drawn inside the intervals; the same ones every time."""
    rng = random.Random(2011)

    def drawn(values: Sequence[float], deviations: Sequence[float]) -> list[float]:
        return [
            value + deviation * max(-_Z, min(_Z, rng.gauss(0, 1)))
            for value, deviation in zip(values, deviations, strict=True)
        ]

    x_noise, y_noise = [x for x, _ in noise], [y for _, y in noise]
    return [(drawn(xs, x_noise), drawn(ys, y_noise)) for _ in range(DRAWS)]


def _around(points: Sequence[LoadPoint], at: int) -> tuple[int, int]:
    """The nearest points whose bandwidth is surely less and surely more than that of `at`."""
    low, high = bounds(points[at].bandwidth)
    below = (i for i in range(at - 1, -1, -1) if bounds(points[i].bandwidth)[1] < low)
    above = (i for i in range(at + 1, len(points)) if bounds(points[i].bandwidth)[0] > high)
    return next(below, 0), next(above, len(points) - 1)


def _hull(value: Estimate, others: Sequence[Estimate]) -> Estimate:
    ends = [bounds(one) for one in (value, *others)]
    return Estimate(value.value, min(low for low, _ in ends), max(high for _, high in ends))
