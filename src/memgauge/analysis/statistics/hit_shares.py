"""Caches by the share of loads that hit them, where latency rises too gradually for plateaus.

A random walk over a footprint s hits a cache of capacity c with the share min(1, (c / s)^p): p is 1
where lines are replaced at random or the cache is shared by a hash of many slices, larger the
nearer its replacement is to least-recently-used (Hartstein, Srinivasan, Puzak and Emma, "On the
nature of cache miss behavior: is it sqrt(2)?", Journal of Instruction-Level Parallelism 10, 2008,
for misses as a power of size). So the latency is that of the nearest level plus, for each cache,
what a miss adds times the share of misses; address translation adds such a term of its own.

The terms are chosen one by one, each where it explains most, and moved in turn until none improves
(backfitting). A term must pay for its place, its power and its height by the Bayesian information
criterion (Schwarz 1978). Errors are relative ones, so weights are those of the values fitted.

What would invalidate it: a curve whose steps are not those of hit shares, which is why a fit that
leaves more than the noise is none.
"""

import math
from collections.abc import Sequence
from operator import mul

import msgspec

from memgauge.analysis.statistics.segmented import solve

POWERS = (1.0, 2.0, 8.0)
MOST_TERMS = 6
LEAST_NOISE = 0.02
"""Relative: no curve is known to fit any closer."""
PASSES = 3
_COST = 3.0

Curve = Sequence[tuple[int, float]]


class Cache(msgspec.Struct, frozen=True):
    """One term: what misses of a cache, or of translation, add."""

    capacity_bytes: float
    power: float
    adds_ns: float

    def missed(self, size: float) -> float:
        """Share of loads over a footprint that miss."""
        return _missed(self.capacity_bytes, self.power, size)


class Hits(msgspec.Struct, frozen=True):
    """A curve as a sum of such terms, the nearest first."""

    nearest_ns: float
    caches: tuple[Cache, ...]
    error: float
    """Root mean square of what is left, relative."""

    def latency_ns(self, size: float) -> float:
        """At a footprint."""
        return self.nearest_ns + sum(one.adds_ns * one.missed(size) for one in self.caches)


Place = tuple[float, float]
"""Capacity and power."""


def fit_hits(points: Curve, noise: float) -> Hits | None:
    """The terms that the curve surely has; None without points.

    Args:
        points: Footprints, ascending, and ns.
        noise: Relative standard deviation of the latencies.
    """
    if not points:
        return None
    sizes = [float(size) for size, _ in points]
    places = [(size, power) for size in sizes[:-1] for power in POWERS]
    variance = max(noise, LEAST_NOISE) ** 2
    chosen: list[Place] = []
    best = _fit(points, chosen)
    while len(chosen) < MOST_TERMS:
        added, larger = _improved(points, [*chosen, places[0]], len(chosen), places)
        for _ in range(PASSES):
            before = larger.error
            for at in range(len(added)):
                added, larger = _improved(points, added, at, places)
            if larger.error >= before:
                break
        gain = len(points) * (best.error**2 - larger.error**2) / variance
        if gain < _COST * math.log(len(points)):
            break
        chosen, best = added, larger
    return best


def _improved(
    points: Curve, chosen: Sequence[Place], at: int, places: Sequence[Place]
) -> tuple[list[Place], Hits]:
    """With one of the terms where it fits best, the others as they are."""
    others = [place for one, place in enumerate(chosen) if one != at]
    weights = _weights(points, _fit(points, others))
    gram = _Gram(points, [*others, *places], weights)
    count = len(others)
    best = min(
        range(count, count + len(places)), key=lambda column: gram.error([*range(count), column])
    )
    found = [*chosen[:at], places[best - count], *chosen[at + 1 :]]
    return found, _fit(points, found)


class _Gram:
    """Products of all columns, so that a choice of them is fitted by a small system."""

    def __init__(self, points: Curve, places: Sequence[Place], weights: Sequence[float]) -> None:
        columns = [weights, *(_column(points, place, weights) for place in places)]
        values = [ns * weight for (_, ns), weight in zip(points, weights, strict=True)]
        self._columns, self._values = columns, values
        self._right = [_dot(column, values) for column in columns]
        self._square = _dot(values, values)
        self._products: dict[tuple[int, int], float] = {}

    def heights(self, chosen: Sequence[int]) -> list[float] | None:
        """The nearest latency and what each chosen place adds; None where one would take away."""
        used = [0, *(one + 1 for one in chosen)]
        matrix = [[self._product(one, other) for other in used] for one in used]
        found = solve(matrix, [self._right[one] for one in used])
        return found if found is not None and min(found) > 0 else None

    def error(self, chosen: Sequence[int]) -> float:
        """Sum of squares that is left; infinite where the heights are impossible."""
        found = self.heights(chosen)
        if found is None:
            return math.inf
        right = [self._right[0], *(self._right[one + 1] for one in chosen)]
        return max(0.0, self._square - _dot(found, right))

    def _product(self, one: int, other: int) -> float:
        key = (min(one, other), max(one, other))
        if key not in self._products:
            self._products[key] = _dot(self._columns[one], self._columns[other])
        return self._products[key]


def _fit(points: Curve, places: Sequence[Place]) -> Hits:
    """The heights of chosen terms, by weights of the values that they give."""
    found = Hits(math.exp(sum(math.log(ns) for _, ns in points) / len(points)), (), math.inf)
    weights = [1 / ns for _, ns in points]
    for _ in range(PASSES):
        heights = _Gram(points, places, weights).heights(range(len(places)))
        if heights is None:
            return found
        caches = sorted(
            (Cache(*place, height) for place, height in zip(places, heights[1:], strict=True)),
            key=lambda one: one.capacity_bytes,
        )
        found = Hits(heights[0], tuple(caches), 0.0)
        weights = _weights(points, found)
    left = [math.log(ns / found.latency_ns(size)) for size, ns in points]
    return msgspec.structs.replace(found, error=math.sqrt(_dot(left, left) / len(left)))


def _weights(points: Curve, fit: Hits) -> list[float]:
    return [1 / fit.latency_ns(size) for size, _ in points]


def _column(points: Curve, place: Place, weights: Sequence[float]) -> list[float]:
    return [
        _missed(*place, size) * weight for (size, _), weight in zip(points, weights, strict=True)
    ]


def _missed(capacity: float, power: float, size: float) -> float:
    return 1 - (capacity / size) ** power if size > capacity else 0.0


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    total: float = sum(map(mul, a, b))
    return total
