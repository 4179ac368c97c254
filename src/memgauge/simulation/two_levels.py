"""Approximates a machine's caches with the two levels that callgrind can simulate.

It has a first level for data and one for instructions and a last level, all least recently used
and not inclusive, without sectors; sets must be powers of two (Valgrind User Manual, 5.9).
"""

from __future__ import annotations

import math

import msgspec

from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.units import KIB, format_bytes

LEAST_LINE_BYTES = 16
_INSTRUCTIONS = (32 * KIB, 8)


class Cache(msgspec.Struct, frozen=True, kw_only=True):
    """One of callgrind's three caches."""

    bytes: int
    ways: int
    line_bytes: int

    @property
    def option(self) -> str:
        """The form for --D1, --I1 and --LL."""
        return f"{self.bytes},{self.ways},{self.line_bytes}"

    @property
    def text(self) -> str:
        """Description for notes."""
        return f"{format_bytes(self.bytes)}, {self.ways} ways"


class TwoLevels(msgspec.Struct, frozen=True, kw_only=True):
    """The simulated caches, and how they differ from the machine."""

    instructions: Cache
    first: Cache
    last: Cache
    notes: list[str]


def two_levels(machine: CacheMachine) -> TwoLevels:
    """The caches nearest to a machine's first level and to the cache that one core may fill.

    Raises:
        RequestError: the machine's lines are too short, or its first level is smaller than a line.
    """
    unit = machine.sector_bytes
    if unit < LEAST_LINE_BYTES:
        raise RequestError(
            f"machine {machine.name}: callgrind cannot simulate lines of {unit} bytes; use "
            "--engine trace"
        )
    level = machine.levels[0]
    first = nearest(level.bytes, level.ways, unit)
    held = max(machine.cached_bytes, level.bytes)
    last = nearest(held, machine.levels[-1].ways, unit)
    instructions = nearest(*_INSTRUCTIONS, unit)
    return TwoLevels(
        instructions=instructions,
        first=first,
        last=last,
        notes=[*_differences(machine, first, last, held, instructions)],
    )


def nearest(size: int, ways: int, line_bytes: int) -> Cache:
    """A cache with a power of two of sets: nearest in size, then nearest in ways.

    Args:
        size: Wanted capacity in bytes.
        ways: Wanted number of lines in a set; 0 means fully associative.
        line_bytes: Length of a line, kept exactly.
    """
    lines = max(size // line_bytes, 1)
    wanted = min(ways or lines, lines)
    power = 1 << max(math.floor(math.log2(lines / wanted)), 0)

    def with_sets(sets: int) -> Cache:
        near = max(round(lines / sets), 1)
        return Cache(bytes=near * sets * line_bytes, ways=near, line_bytes=line_bytes)

    made = [with_sets(max(sets, 1)) for sets in (power // 2, power, 2 * power)]
    return min(made, key=lambda one: (abs(one.bytes - size), abs(one.ways - wanted)))


def _differences(
    machine: CacheMachine, first: Cache, last: Cache, held: int, instructions: Cache
) -> list[str]:
    levels = machine.levels
    notes = [
        f"simulated levels: {levels[0].name} of {first.text} and a last level of {last.text}",
        f"the last level represents the {format_bytes(held)} of cache that one core may fill",
        f"instructions have an assumed first level of {instructions.text} and share the last level",
    ]
    if machine.sector_bytes != machine.line_bytes:
        notes.append(
            f"lines are the {machine.sector_bytes} bytes that memory moves, not "
            f"{machine.line_bytes} in sectors"
        )
    odd = [f"{one.name} {_unlike(one)}" for one in levels if _unlike(one)]
    if odd:
        notes.append(
            "simulated without these features, with least-recently-used replacement: "
            f"{'; '.join(odd)}"
        )
    if machine.store_streams.lines:
        notes.append(
            "every store that misses reads its line first; use --engine trace to simulate stores "
            "that bypass the caches"
        )
    if machine.prefetchers.next_line or machine.prefetchers.stride:
        notes.append("use --engine trace to simulate the machine's prefetchers")
    return notes


def _unlike(level: CacheLevel) -> str:
    words = [
        *([level.inclusion] if level.inclusion != "non-inclusive" else []),
        *([level.replacement] if level.replacement != "lru" else []),
    ]
    return " and ".join(words)
