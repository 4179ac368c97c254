"""Where a bandwidth-latency curve bends: which delays are worth measuring beside those there are.

A knee read off a coarse sweep lies somewhere between two of its delays. Each gap between neighbours
is rated by its length times the sharper of the upward turns at its ends, in a picture whose axes
both run from 0 to 1 (a knee is where a curve bends most: Satopaa et al., "Finding a 'Kneedle' in a
Haystack", 2011). The best gap is halved in delay, geometrically, and the curve is looked at again
once that point is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

LEAST_RATING = 0.05
"""A gap of a tenth of the picture beside a turn of about 30 degrees; less is noise."""

LEAST_RISE = 0.25
"""Of the lowest latency: a curve that rises less is not stretched over the whole picture."""

Place = tuple[float, float]
"""Bandwidth and latency, in any units."""


def further_delays(curve: Mapping[int, Place], most: int) -> list[int]:
    """At most `most` delays between those of the curve, the most useful first.

    Args:
        curve: what was measured, by delay in units.
        most: how many to return; fewer, where the curve is straight or its delays leave no room.
    """
    delays = sorted(curve)
    if len(delays) < 3:
        return []
    places = _normalised([curve[delay] for delay in delays])
    turns = [0.0, *map(_turn, places, places[1:], places[2:]), 0.0]
    rated = [
        (math.dist(*gap) * max(ends), middle)
        for gap, ends, (low, high) in zip(
            pairwise(places), pairwise(turns), pairwise(delays), strict=True
        )
        if (middle := _between(low, high)) is not None
    ]
    worthwhile = sorted((one for one in rated if one[0] >= LEAST_RATING), reverse=True)
    return [delay for _, delay in worthwhile[:most]]


def _between(low: int, high: int) -> int | None:
    """The geometric middle in whole units, counted from 1 so that 0 has one; None: no room."""
    middle = round(math.sqrt((low + 1) * (high + 1))) - 1
    return middle if low < middle < high else None


def _normalised(places: Sequence[Place]) -> list[Place]:
    bandwidth = max(b for b, _ in places)
    lowest = min(latency for _, latency in places)
    rise = max(latency for _, latency in places) - lowest
    scale = max(rise, LEAST_RISE * lowest)
    return [(b / bandwidth, (latency - lowest) / scale) for b, latency in places]


def _turn(before: Place, here: Place, after: Place) -> float:
    """By how many radians latency begins to rise faster at a point; 0 where it does not.

    With rising delay a curve is followed from its steep end, so such a turn is clockwise.
    """
    inward = math.atan2(here[1] - before[1], here[0] - before[0])
    outward = math.atan2(after[1] - here[1], after[0] - here[0])
    return max(0.0, -math.remainder(outward - inward, math.tau))
