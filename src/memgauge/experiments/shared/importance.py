"""What of a group of points matters most, and what a sample of each point costs.

A survey whose budget is too short for all points measures the most important ones often enough for
an interval, and leaves the others out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import msgspec


class Importance(IntEnum):
    """What a survey measures first; the lower, the more important."""

    ESSENTIAL = 0
    """Always measured: bandwidth of all cores and of one, idle latency, one curve under load."""
    LEVELS = 1
    """Caches: how large and how fast they are."""
    CURVES = 2
    """Further curves of bandwidth and of latency under load."""
    PAIRS = 3
    """Memory of other nodes."""
    MIXES = 4
    """Shares of reads and writes."""
    SHAPES = 5
    """Strides, address translation, cost of misses."""
    TEAMS = 6
    """Numbers of threads between one and all."""
    PASSES = 7
    """Whole passes, as STREAM times them."""
    FINER = 8
    """Steps between those of a coarse sweep; each halving of the steps is one less important."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What one sampling pass does, untimed parts included."""

    bytes: int = 0
    """Moved by all threads together."""
    loads: int = 0
    """That wait for the load before them, out of memory."""
    seconds: float = 0.0
    """Time that is given, however fast the machine is."""
    threads: int = 1
    nodes: int | None = None
    """Memory nodes that give the bytes; None: as many as the threads are spread over."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What opening a group does."""

    filled_bytes: int = 0
    """Written once, by all threads."""
    linked_bytes: int = 0
    """Memory of rings, linked in random order."""
    linkers: int = 1
    """Threads that link each ring together."""
    threads: int = 1


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Points of a group that are equally important."""

    importance: Importance
    points: Sequence[str]
    """Of a sweep in its order; without those that are measured with another point."""
    works: Sequence[Work]
    """Of each point."""
    least: int | None = None
    """A sweep keeps its shape with so many points; None: no sweep, measured whole or not at all."""

    def halvings(self) -> list[list[int]]:
        """Indices of points by step size: the coarsest sweep, then what each halving adds.

        Each is evenly spaced over the whole sweep and includes both of its ends.
        """
        count = len(self.points)
        stride = 1
        while self.least is not None and count > self.least and count // (2 * stride) >= self.least:
            stride *= 2
        found = [sorted({*range(0, count, stride), count - 1})] if count else []
        seen = set(found[0]) if found else set()
        while stride > 1:
            stride //= 2
            added = [index for index in range(0, count, stride) if index not in seen]
            seen.update(added)
            found.append(added)
        return found
