"""Where traffic leaves the expectation, found from the figures by one rule.

A departure begins at the first size from which the ratio to the expectation stays beyond 1 +
`TOLERANCE` (or below 1 - `TOLERANCE`) up to the largest size. Sizes beyond it that return are no
departure: they stand alone. Measured sizes at which idle traffic drowns the kernel's are left out.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, Direction

TOLERANCE = 0.1
"""Of the expectation."""

UNEVEN = 0.05
"""Of a size: caches whose sets fill unevenly cease to hold so much sooner what has room there."""

Place = Literal["before", "inside", "behind"]


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """One way of one source leaves the expectation."""

    source: str
    direction: Direction
    above: bool
    first: int
    """The size from which on it has left,"""
    ratio: float
    """and its ratio there."""
    before: int | None
    """The largest size that had not; None: none was."""
    most: int
    """The size of the largest (smallest, below) ratio,"""
    most_ratio: float
    """and that."""


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """A size beyond the expectation, behind which larger ones return to it."""

    source: str
    direction: Direction
    size: int
    ratio: float


def departures(curve: Curve, source: str) -> list[Departure]:
    """At most one each way."""
    found = []
    for direction in DIRECTIONS:
        ratios = curve.ratios(source, direction)
        for above in (True, False):
            made = _departure(ratios, source, direction, above=above)
            if made is not None:
                found.append(made)
    return found


def alone(curve: Curve, source: str) -> list[Alone]:
    """Sizes beyond the expectation that are no part of a departure."""
    left = {(one.direction, one.above): one.first for one in departures(curve, source)}
    return [
        Alone(source=source, direction=direction, size=size, ratio=ratio)
        for direction in DIRECTIONS
        for size, ratio in curve.ratios(source, direction)
        if _is_beyond(ratio, above=ratio > 1) and size < left.get((direction, ratio > 1), size + 1)
    ]


def place(departure: Departure, band: tuple[float, float]) -> Place | None:
    """Where a departure begins, beside a band of sizes.

    It begins above `before` and at `first` at the latest: before the band where `first` lies
    clearly below it, behind where `before` is already past its end. None: no size was looked at
    that would show it.
    """
    low, high = band
    if departure.first < low * (1 - UNEVEN):
        return "before"
    if departure.before is None:
        return "inside" if departure.first <= high else None
    return "behind" if departure.before >= high else "inside"


def _departure(
    ratios: list[tuple[int, float]], source: str, direction: Direction, *, above: bool
) -> Departure | None:
    tail = 0
    while tail < len(ratios) and _is_beyond(ratios[-1 - tail][1], above=above):
        tail += 1
    if not tail:
        return None
    gone = ratios[-tail:]
    most = max(gone, key=lambda one: one[1] if above else -one[1])
    return Departure(
        source=source,
        direction=direction,
        above=above,
        first=gone[0][0],
        ratio=gone[0][1],
        before=ratios[-tail - 1][0] if tail < len(ratios) else None,
        most=most[0],
        most_ratio=most[1],
    )


def _is_beyond(ratio: float, *, above: bool) -> bool:
    return ratio > 1 + TOLERANCE if above else ratio < 1 - TOLERANCE
