"""Levels of address translation from what an access costs more as it goes over more pages.

The curve of that cost over the number of pages is cut into constant pieces by optimal partitioning,
as the levels of caches are (see `memgauge.analysis.statistics.levels`). Costs begin at nothing, so
the partition is of log(1 + cost / s), where s is the time of an access that misses nothing: near
zero that is linear, as the noise of differences is, and further up logarithmic, as the noise of
costs is. Pieces nearer to each other than `LEAST_STEP` are one level; what rises on to the end is
the last one. A level ends where two numbers of pages in a row cost more than it; one alone is
noise.

What would invalidate it: less than two numbers of pages beyond a reach; a number of pages that fits
a level only in part, where the level is not managed by anything like least-recently-used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from statistics import median

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.levels import SMALLEST_STEP, Piece, partition

LEAST_STEP = 0.35
"""Of log(1 + cost / s): a miss costs 40% of the fastest access, or it is not seen as one."""
LEAST_POINTS = 3
FREE = 0.2
"""Of log(1 + cost / s): a level that costs more is not one that translates for nothing."""

CostCurve = Sequence[tuple[int, Estimate]]
"""Number of pages, and ns that an access costs more than with all of its lines on few pages."""


class TlbLevel(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of pages over which an access costs the same."""

    cost: Estimate
    """ns of translation: the median, and from the least to the most on the level."""
    first: int
    """Smallest number of pages on it."""
    reach: int
    """Largest number of pages that costs no more than this level."""
    beyond: int | None
    """Smallest number that costs more; None: the curve shows none, the reach is at least that."""


def extra(access: Estimate, packed: Estimate) -> Estimate:
    """What one access costs more than another, in ns.

    The interval recovers the variances of both, independent, figures from their bounds (MOVER: Zou
    and Donner 2008).
    """
    value = access.value - packed.value
    if not (has_interval(access) and has_interval(packed)):
        return Estimate(value, min(value, 0.0), math.inf)
    below = math.hypot(access.value - access.low, packed.high - packed.value)
    above = math.hypot(access.high - access.value, packed.value - packed.low)
    return Estimate(value, value - below, value + above)


def spread_of(costs: Sequence[Estimate]) -> Estimate:
    """The median, and all that the values and the intervals there are cover; open where none is."""
    values = [cost.value for cost in costs]
    known = [cost for cost in costs if has_interval(cost)]
    if not known:
        return Estimate(median(values), min(0.0, *values), math.inf)
    low = min(*values, *(cost.low for cost in known))
    return Estimate(median(values), low, max(*values, *(cost.high for cost in known)))


def find_tlb_levels(curve: CostCurve, scale_ns: float) -> list[TlbLevel]:
    """The levels, nearest first; empty where the curve is too short or starts beyond a reach.

    Args:
        curve: cost by number of pages, in any order.
        scale_ns: time of an access that misses nothing.
    """
    points = sorted(curve, key=lambda point: point[0])
    if len(points) < LEAST_POINTS or scale_ns <= 0:
        return []
    heights = [_log(cost.value, scale_ns) for _, cost in points]
    groups = _steady(_grouped(heights, _noise(points, scale_ns)), heights)
    if not groups or _height(heights, groups[0]) > FREE:
        return []
    levels: list[TlbLevel] = []
    start = 0
    for group, beyond in zip_longest(groups, groups[1:]):
        end = _last(heights, group) if beyond is None else _end(heights, group, beyond)
        levels.append(_level(points, group, start, end, ends=beyond is not None))
        start = end
    return levels


def _log(cost_ns: float, scale_ns: float) -> float:
    return math.log1p(max(cost_ns, 0.0) / scale_ns)


def _noise(points: CostCurve, scale_ns: float) -> float:
    """Half the interval of a point, on the scale of the partition."""
    halves = [
        (_log(cost.high, scale_ns) - _log(cost.low, scale_ns)) / 2
        for _, cost in points
        if has_interval(cost)
    ]
    return max(median(halves) if halves else 0.0, SMALLEST_STEP)


def _grouped(heights: Sequence[float], noise: float) -> list[Piece]:
    """Pieces, those that are alike as one."""
    penalty = 3 * noise**2 * math.log(len(heights))  # as in levels: a place and a mean (Yao 1988)
    groups: list[Piece] = []
    for begin, end in partition(heights, penalty):
        here = _height(heights, (begin, end))
        if groups and abs(here - _height(heights, groups[-1])) < LEAST_STEP:
            groups[-1] = (groups[-1][0], end)
        else:
            groups.append((begin, end))
    return groups


def _steady(groups: Sequence[Piece], heights: Sequence[float]) -> list[Piece]:
    """Without single points, which belong to a level in part; several at the end are the last."""
    kept: list[Piece] = []
    for group in groups:
        if group[1] - group[0] < 2:
            continue
        if kept and _height(heights, group) - _height(heights, kept[-1]) < LEAST_STEP:
            kept[-1] = (kept[-1][0], group[1])
        else:
            kept.append(group)
    if kept and len(heights) - kept[-1][1] >= 2:
        rest = (kept[-1][1], len(heights))
        if _height(heights, rest) - _height(heights, kept[-1]) >= LEAST_STEP:
            kept.append(rest)
    return kept


def _height(heights: Sequence[float], piece: Piece) -> float:
    return median(heights[slice(*piece)])


def _end(heights: Sequence[float], group: Piece, beyond: Piece) -> int:
    """Index from which on two in a row lie above the level."""
    here = _height(heights, group)
    limit = here + min(LEAST_STEP, (_height(heights, beyond) - here) / 2)
    for index in range(group[0], beyond[0]):
        if all(height > limit for height in heights[index : index + 2]):
            return index
    return beyond[0]


def _last(heights: Sequence[float], group: Piece) -> int:
    """Index behind the last point that the level surely reaches; one alone above it decides not."""
    end = len(heights)
    while end > group[1] and heights[end - 1] > _height(heights, group) + LEAST_STEP:
        end -= 1
    return end


def _level(points: CostCurve, group: Piece, start: int, end: int, *, ends: bool) -> TlbLevel:
    """The cost is that of the points wholly on the level, where there are any."""
    inside = [cost for _, cost in points[max(start, group[0]) : min(end, group[1])]]
    return TlbLevel(
        cost=spread_of(inside or [cost for _, cost in points[start:end]]),
        first=points[start][0],
        reach=points[end - 1][0],
        beyond=points[end][0] if ends else None,
    )
