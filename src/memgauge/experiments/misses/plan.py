"""The walks and rings of `misses`: what each should hit, how it is walked and how it is warmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.shared.powers_of_two import power_above, power_below
from memgauge.experiments.shared.rings import (
    SLICE_HOPS,
    SWEEPS,
    WARM_HOPS,
    WARM_MULTIPLE,
    cache_footprints,
)
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.system import Cache
from memgauge.model.units import format_bytes
from memgauge.system.topology.placement import LINE_BYTES

MIB = 1 << 20
WORD_BYTES = 8
FLOAT_BYTES = 4
PAGE_BYTES = 4096
MEMORY = "DRAM"
MARGIN_BYTES = 64 << 10
"""Beyond both arrays: y is moved by a few lines against x."""

MEMORY_MULTIPLE = 3
MEMORY_LEAST_BYTES = 128 * MIB
MEMORY_MOST_BYTES = 1 << 30
SMALLEST_BYTES = 1 << 20
LEAST_BYTES = 4 << 10
"""Of a fine sweep."""

LEAD_IN_MOST_BYTES = 32 * MIB
"""Walked before each sample: as much as the last level holds, up to this."""

LEAD_IN_FLUSHED_BYTES = 4 * MIB
"""Where what is timed is flushed in any case."""

IN_CACHE = {"sequential": 400_000, "stride": 50_000, "random": 30_000}
IN_MEMORY = {"sequential": 400_000, "stride": 20_000, "random": 5_000}
"""Elements of one sample: a fraction of a millisecond; fewer where each line is flushed before."""


class Ring(msgspec.Struct, frozen=True, kw_only=True):
    """Dependent loads that hit one cache level."""

    level: str
    bytes: int
    capacity_bytes: int
    """Of the level, as the topology claims."""
    above_bytes: int

    @property
    def name(self) -> str:
        """Name of the point."""
        return f"misses/level/{self.level}"

    @property
    def hops(self) -> int:
        """Loads of one sample."""
        return SLICE_HOPS[self.level]

    @property
    def warm_hops(self) -> int:
        """As many as make the level above forget the sweeps."""
        return max(WARM_HOPS, self.above_bytes * WARM_MULTIPLE // (LINE_BYTES * 2))


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """One way through x and y, or dependent loads of memory."""

    pattern: str
    level: str
    footprint_bytes: int
    """Of what is walked: x and y together."""
    stride_bytes: int
    lead_in_bytes: int
    """Of lines walked before each sample: they push out what the level above still holds."""
    kind: str = "saxpy"
    requested_accesses: int | None = None

    @property
    def name(self) -> str:
        """Name of the point."""
        if self.kind != "saxpy":
            return f"misses/level/{self.level}"
        far = self.pattern == "stride" and self.stride_bytes != LINE_BYTES
        pattern = f"stride-{self.stride_bytes}" if far else self.pattern
        return f"misses/{pattern}/{self.footprint_bytes}"

    @property
    def sweeps(self) -> int:
        """Reads of both arrays, in order, before each sample, where a cache should hold them."""
        return 0 if self.level == MEMORY else SWEEPS

    @property
    def flush(self) -> bool:
        """Whether caches must not hold what is timed, whoever brought it there: in memory.

        Every float in order needs none: its lead-in has pushed out all that other walks left, and
        the same line would be flushed 16 times. A walk with few lines for its footprint is left to
        the caches, as it would be elsewhere.
        """
        return self.level == MEMORY and self.stride_bytes == LINE_BYTES

    @property
    def order(self) -> str:
        """Of the slots."""
        return "random" if self.pattern in {"random", "dependent"} else "sequential"

    @property
    def arrays(self) -> int:
        """Walked at the same time: x and y, or one."""
        return 2 if self.kind == "saxpy" else 1

    @property
    def slots(self) -> int:
        """Places in each array."""
        return self.footprint_bytes // self.arrays // self.stride_bytes

    @property
    def lines_of_each(self) -> int:
        """Lines of each array."""
        return self.footprint_bytes // self.arrays // LINE_BYTES

    @property
    def touched_bytes(self) -> int:
        """Of the lines that the walk comes to: what a cache must hold of it."""
        return self.arrays * self.slots * min(self.stride_bytes, LINE_BYTES)

    @property
    def spread_lines(self) -> int:
        """Slots a page apart use all sets of a cache."""
        return PAGE_BYTES // LINE_BYTES if self.stride_bytes >= PAGE_BYTES else 1

    @property
    def accesses(self) -> int:
        """Elements, or loads, of one sample."""
        usual = IN_MEMORY if self.level == MEMORY else IN_CACHE
        return self.requested_accesses or usual[self.pattern]

    @property
    def warm_accesses(self) -> int:
        """Untimed ones before them, at most a walk over all."""
        each = self.arrays * min(self.stride_bytes, LINE_BYTES)
        most = LEAD_IN_FLUSHED_BYTES if self.flush else LEAD_IN_MOST_BYTES
        return min(self.slots, min(most, self.lead_in_bytes) // each)


def rings(caches: Mapping[int, Cache]) -> list[Ring]:
    """A ring for each cache level that is known."""
    capacities = _capacities(caches)
    return [
        Ring(level=level, bytes=footprint, capacity_bytes=capacities[level], above_bytes=above)
        for level, footprint, above in cache_footprints(caches)
    ]


def walks(caches: Mapping[int, Cache], memory_bytes: int, *, fine: bool = False) -> list[Walk]:
    """Three patterns in each level and in memory, and in memory one float of each page too.

    Footprints are powers of two, as a scrambled order needs them, and the same for all patterns.

    Args:
        caches: Caches in front of the CPU by level; empty if none is known: memory alone is walked.
        memory_bytes: Largest footprint in memory, x and y together; a power of two.
        fine: Walk every footprint that lies well inside a level or in memory, not one for each.
    """
    found: list[Walk] = []
    capacities = _capacities(caches)
    for level, target, above in cache_footprints(caches):
        most = capacities[level] // 4 * 3
        lead_in = above * WARM_MULTIPLE // 2
        coarse = [power_below(target)] if power_below(target) > above else []
        for footprint in _powers(max(LEAST_BYTES, above + 1), most) if fine else coarse:
            found += _patterns(level, footprint, lead_in)
    last = max((cache.bytes for cache in caches.values()), default=0)
    lead_in = min(last or LEAD_IN_MOST_BYTES, LEAD_IN_MOST_BYTES)
    for footprint in _powers(2 * last or memory_bytes, memory_bytes) if fine else [memory_bytes]:
        found += _patterns(MEMORY, footprint, lead_in)
    found.append(_walk("stride", MEMORY, memory_bytes, PAGE_BYTES, lead_in))
    return found


def _capacities(caches: Mapping[int, Cache]) -> dict[str, int]:
    """By the name that `cache_footprints` gives a level."""
    return {f"L{level}": cache.bytes for level, cache in caches.items()}


def _powers(least: int, most: int) -> list[int]:
    """Powers of two from one bound to the other."""
    first = (least - 1).bit_length()
    return [1 << power for power in range(first, most.bit_length())]


def flushed(saxpy: Sequence[Walk]) -> Walk:
    """Dependent loads over the same memory, from lines that no cache holds: memory's latency."""
    memory = saxpy[-1]
    return Walk(
        pattern="dependent",
        level=MEMORY,
        footprint_bytes=memory.footprint_bytes,
        stride_bytes=LINE_BYTES,
        lead_in_bytes=0,
        kind="dependent",
        requested_accesses=SLICE_HOPS[MEMORY],
    )


def _patterns(level: str, footprint: int, lead_in: int) -> list[Walk]:
    strides = {"sequential": FLOAT_BYTES, "stride": LINE_BYTES, "random": LINE_BYTES}
    return [
        _walk(pattern, level, footprint, stride, lead_in) for pattern, stride in strides.items()
    ]


def _walk(pattern: str, level: str, footprint: int, stride: int, lead_in: int) -> Walk:
    return Walk(
        pattern=pattern,
        level=level,
        footprint_bytes=footprint,
        stride_bytes=stride,
        lead_in_bytes=lead_in,
    )


def memory_footprint(
    caches: Mapping[int, Cache], largest_bytes: int | None, available_bytes: int
) -> int:
    """Bytes of x and y together when they are walked in memory: a power of two.

    By default they are at least three times the last-level cache, but only at least twice where
    more would exceed 1 GiB or a quarter of the available memory.

    Args:
        caches: Caches in front of the CPU by level; empty if none is known.
        largest_bytes: Requested footprint, rounded down to a power of two; None: the default.
        available_bytes: Memory that may still be allocated; it limits the default only.

    Raises:
        RequestError: what was requested sits in a cache.
        DoesNotFit: memory is too small for arrays that no cache holds.
    """
    last = max((cache.bytes for cache in caches.values()), default=0)
    if largest_bytes is not None:
        footprint = power_below(largest_bytes)
        least = max(SMALLEST_BYTES, 2 * last)
        if footprint < least:
            raise RequestError(
                f"--largest-bytes {format_bytes(largest_bytes)} may fit into the caches, which "
                f"hold {format_bytes(least // 2)}; use {format_bytes(power_above(least))} or more"
            )
        return footprint
    usual = power_above(max(MEMORY_LEAST_BYTES, MEMORY_MULTIPLE * last))
    bounded = min(usual, max(MEMORY_MOST_BYTES, power_above(2 * last)))
    footprint = min(bounded, power_below(max(1, available_bytes // 4)))
    if footprint < 2 * last or footprint < SMALLEST_BYTES:
        raise DoesNotFit(
            f"misses: {format_bytes(available_bytes)} of memory may be used, too little for "
            f"arrays that exceed a cache of {format_bytes(last)}; free some memory"
        )
    return footprint
