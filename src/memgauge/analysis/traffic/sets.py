"""Whether what a nest walks in strides can stay in the sets that it falls into.

A line may lie in one set only, line % sets, and a set holds as many lines as it has ways. What all
levels together can hold of a column, whatever the order in which they give lines up, is the sum of
what each can: where that is less than the column, part of it is read again each time it is walked,
though the caches are larger. Nothing is guessed from the size: strides and places are those of the
nest, sets and ways those of the machine.
"""

from __future__ import annotations

import math
from collections import Counter

import msgspec

from memgauge.analysis.traffic.expected import Nest
from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.nests import KINDS

_COLUMNS = {
    ("gemm", "B"): (("n",), ("n",)),
    ("transpose", "b"): (("m",), ("n",)),
    ("s1cf", "out"): (("planes", "rows"), ("cols",)),
    ("s1pf", "out"): (("cols", "rows"), ("planes",)),
    ("s1cf-second", "tmp"): (("cols",), ("planes", "rows")),
    ("s1pf-second", "tmp"): (("planes",), ("cols", "rows")),
}
"""By kernel and array that is walked so before its lines come again: extents whose product is the
stride, and extents whose product is the number of places, in elements."""


class Column(msgspec.Struct, frozen=True):
    """What is walked before its lines are needed again."""

    stride_bytes: int
    places: int

    def lines(self, line_bytes: int) -> list[int]:
        """Numbers of the lines, each once, from that of the first place on."""
        return list(dict.fromkeys(n * self.stride_bytes // line_bytes for n in range(self.places)))


class SetConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A column that the caches cannot hold for want of sets."""

    stride_bytes: int
    lines: int
    level: str
    """The last,"""
    sets: int
    used_sets: int
    """those of it that the column falls into,"""
    held: int
    """and how many of its lines these can hold."""


def crowd(nest: Nest, array: str, machine: CacheMachine) -> SetConflict | None:
    """The column of an array that the caches cannot hold for want of sets.

    None where all levels together have room for the column, or no column is known.

    Args:
        nest: Nest that walks the array.
        array: Name of the operand; one that is not walked in columns gives None.
        machine: Machine with the caches. None follows where a level is fully associative, or where
            a level borrows instances of idle cores.
    """
    column = _column(nest, array)
    last = machine.levels[-1]
    lends = machine.idle_cores and any(level.borrows_idle for level in machine.levels)
    if column is None or lends or not all(level.ways for level in machine.levels):
        return None
    lines = column.lines(machine.line_bytes)
    held = [_held(lines, level, machine.line_bytes) for level in machine.levels]
    if sum(held) >= len(lines):
        return None
    sets = _sets(last, machine.line_bytes)
    return SetConflict(
        stride_bytes=column.stride_bytes,
        lines=len(lines),
        level=last.name,
        sets=sets,
        used_sets=len({line % sets for line in lines}),
        held=held[-1],
    )


def _column(nest: Nest, array: str) -> Column | None:
    found = _COLUMNS.get((nest.kernel, array))
    if found is None:
        return None
    stride, places = (math.prod(nest.extents[name] for name in names) for names in found)
    return Column(stride * KINDS[nest.kernel].element_bytes, places)


def _held(lines: list[int], level: CacheLevel, line_bytes: int) -> int:
    """How many of the lines the level can hold at once."""
    sets = _sets(level, line_bytes)
    return sum(min(count, level.ways) for count in Counter(line % sets for line in lines).values())


def _sets(level: CacheLevel, line_bytes: int) -> int:
    return max(1, level.bytes // (line_bytes * level.ways))
