"""The pause with which generators move as many bytes as requested.

The time between two bytes grows with the pause, in a straight line once the memory is not full: so
the next pause to try is where that line has the requested rate. Near full speed, where the line is
flat, the bracket is halved geometrically instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from memgauge.experiments.loaded.parameters import LARGEST_DELAY

CLOSE_ENOUGH = 0.02
"""Share of the requested rate."""
MOST_TRIES = 20
HALVED_EVERY = 2
"""One in so many tries halves the bracket, however straight the line is."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A pause, and what was found about the ends of what is possible."""

    delay: int
    most: float | None = None
    """Rate without a pause, where it is less than requested;"""
    least: float | None = None
    """with the longest one, where it is more."""


def pause_for(rate: float, moved: Callable[[int], float]) -> Setting:
    """The pause with which `moved` is closest to the rate.

    Args:
        rate: Requested, in any unit.
        moved: Measures the rate with a pause of so many units.
    """
    fastest = moved(0)
    if fastest <= rate:
        short = fastest < rate * (1 - CLOSE_ENOUGH)
        return Setting(delay=0, most=fastest if short else None)
    slowest = moved(LARGEST_DELAY)
    if slowest >= rate:
        return Setting(delay=LARGEST_DELAY, least=slowest)
    return Setting(delay=_between(rate, moved, fastest, slowest))


def _between(rate: float, moved: Callable[[int], float], fastest: float, slowest: float) -> int:
    low, high = (0, fastest), (LARGEST_DELAY, slowest)
    best = min(low, high, key=lambda one: abs(one[1] - rate))
    for tried in range(1, MOST_TRIES + 1):
        if high[0] - low[0] <= 1 or abs(best[1] - rate) <= CLOSE_ENOUGH * rate:
            break
        place = _halved(low[0], high[0]) if tried % HALVED_EVERY == 0 else _on_line(rate, low, high)
        place = min(max(place, low[0] + 1), high[0] - 1)
        found = (place, moved(place))
        best = min(best, found, key=lambda one: abs(one[1] - rate))
        low, high = (found, high) if found[1] > rate else (low, found)
    return best[0]


def _halved(low: int, high: int) -> int:
    return round(math.sqrt((low + 1) * (high + 1))) - 1


def _on_line(rate: float, low: tuple[int, float], high: tuple[int, float]) -> int:
    """Where the time between two bytes, in a straight line between both, is the requested one."""
    if high[1] <= 0:
        return _halved(low[0], high[0])
    first, last = 1 / low[1], 1 / high[1]
    if last <= first:
        return _halved(low[0], high[0])
    return round(low[0] + (high[0] - low[0]) * (1 / rate - first) / (last - first))
