"""Levels of a curve that rises gradually: those of the hit shares that explain it.

A cache multiplies latency where it is missed; what adds less, such as address translation or lines
that a neighbour takes, is a term of the fit and no level, and so moves no capacity. Nothing is said
where the fit leaves more than the noise, where two edges are less than two octaves apart (sums of
hit shares can follow any rise), or where the curve ends before most loads miss the last cache.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from memgauge.analysis.statistics.hit_shares import Cache, Curve, Hits, fit_hits
from memgauge.analysis.statistics.level import Level

MOST_LEFT = 0.05
"""Relative, that a fit may leave without noise,"""
MOST_LEFT_NOISE = 1.5
"""and times the noise."""
MOST_NOISE = 0.12
"""Relative: beside more of it no share can be told."""
LEAST_POINTS = 12
LEAST_RATIO = 1.6
"""Latency beyond a cache over that before it; less is no level."""
LEAST_APART = 4.0
"""Capacity of a level over that of the one before."""
LEAST_MISSED = 0.6
"""Of the loads over the largest footprint, by the last cache: less shows no level behind it."""
STEPS = 1
"""Footprints either way within which a capacity is known at best."""


def gradual_levels(points: Curve, noise: float) -> list[Level]:
    """The levels, nearest first; empty where hit shares do not explain the curve.

    Args:
        points: Footprints in bytes, ascending, and ns.
        noise: Relative standard deviation of the latencies.
    """
    if len(points) < LEAST_POINTS or noise > MOST_NOISE:
        return []
    hits = fit_hits(points, noise)
    if hits is None or hits.error > max(MOST_LEFT, MOST_LEFT_NOISE * noise):
        return []
    edges = _edges(hits)
    if not edges or edges[-1].missed(points[-1][0]) < LEAST_MISSED:
        return []
    if any(far.capacity_bytes < LEAST_APART * near.capacity_bytes for near, far in pairwise(edges)):
        return []
    sizes = [size for size, _ in points]
    bounds = [None, *edges, None]
    return [_level(sizes, hits, near, far) for near, far in pairwise(bounds)]


def _edges(hits: Hits) -> list[Cache]:
    """The terms that end a level."""
    edges, before = [], hits.nearest_ns
    for cache in hits.caches:
        beyond = before + cache.adds_ns
        if beyond >= LEAST_RATIO * before:
            edges.append(cache)
        before = beyond
    return edges


def _level(sizes: Sequence[int], hits: Hits, near: Cache | None, far: Cache | None) -> Level:
    """The level beyond one edge, up to the next."""
    from_bytes = near.capacity_bytes if near else 0.0
    until_bytes = far.capacity_bytes if far else math.inf
    reached = hits.nearest_ns + sum(
        one.adds_ns for one in hits.caches if one.capacity_bytes <= from_bytes
    )
    most = reached + sum(
        one.adds_ns for one in hits.caches if from_bytes < one.capacity_bytes < until_bytes
    )
    mostly = (size for size in sizes if near is None or near.missed(size) >= 0.5)
    last = max(at for at, size in enumerate(sizes) if size <= until_bytes)
    return Level(
        latency_ns=reached,
        latency_low_ns=reached * (1 - hits.error),
        latency_high_ns=most * (1 + hits.error),
        first_bytes=min(next(mostly), sizes[last]),
        fits_bytes=sizes[last],
        capacity_low_bytes=sizes[last],
        capacity_high_bytes=sizes[min(last + 1 + STEPS, len(sizes) - 1)] if far else None,
    )
