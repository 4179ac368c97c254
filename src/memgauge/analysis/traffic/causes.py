"""Why a simulated nest reads and writes what it does: from what the model counted, by cause.

Nothing here knows a kernel by its name. What is looked at: reads by what caused them, reads by
array, writes that bypass, and what the machine is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from memgauge.analysis.traffic.departures import TOLERANCE
from memgauge.analysis.traffic.figures import Curve, SizeResult
from memgauge.model.cache_machine import CacheMachine

EVEN = 64
"""Sizes that are multiples of a power of two from this on have rows whose addresses share so many
of their low bits that columns meet in few sets."""

MOST, LITTLE = 0.75, 0.25
"""Shares above and below which something is so or is not so; between, it is so in part."""

Stores = Literal["allocate", "bypass", "prefetch", "mixed"]


class StoreSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes that follow each other over which stores are treated alike."""

    kind: Stores
    first: int
    last: int
    allocated: float
    """Bytes read for stores over bytes stored, at the first size,"""
    prefetched: float
    """those of the software prefetch, which are those of loads too where these are prefetched,"""
    bypassed: float
    """and the share of what is written that goes past the caches."""


class Reread(msgspec.Struct, frozen=True, kw_only=True):
    """An array of which more is read than expected."""

    array: str
    first: int
    """The size from which on it is,"""
    times: float
    """how many times there,"""
    last: int
    """and at the largest size."""
    last_times: float
    whole_lines: int | None
    """Bytes of the piece that memory gives for each single element, where it is about all of one:
    nothing of it serves a second element. None: less is read."""
    element_bytes: int


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An array of which less is read than expected, though it is not stored."""

    array: str
    first: int
    share: float
    """Of the expected reads, at the largest size."""


def store_spans(curve: Curve, machine: str) -> list[StoreSpan]:
    """How stores are treated, over the sizes."""
    found: list[StoreSpan] = []
    for result in curve.results:
        span = _stores(result, machine)
        if span is None:
            continue
        if found and found[-1].kind == span.kind:
            span = msgspec.structs.replace(found.pop(), last=result.size)
        found.append(span)
    return found


def _stores(result: SizeResult, name: str) -> StoreSpan | None:
    simulated, stored = result.simulated.get(name), result.expected.write_bytes
    if simulated is None or not stored:
        return None
    allocated = simulated.allocate_read_bytes / simulated.cores / stored
    prefetched = simulated.software_prefetch_read_bytes / simulated.cores / stored
    written = simulated.write_bytes
    bypassed = simulated.bypass_write_bytes / written if written else 0.0
    kind: Stores = "mixed"
    if bypassed > MOST:
        kind = "bypass"
    elif prefetched > MOST:
        kind = "prefetch"
    elif allocated > MOST:
        kind = "allocate"
    return StoreSpan(
        kind=kind,
        first=result.size,
        last=result.size,
        allocated=allocated,
        prefetched=prefetched,
        bypassed=bypassed,
    )


def rereads(curve: Curve, machine: CacheMachine) -> list[Reread]:
    """Arrays of which more than expected is read from some size on, the most first."""
    results = [result for result in curve.results if machine.name in result.simulated]
    names = dict.fromkeys(name for result in results for name in result.expected.arrays)
    found = [one for name in names if (one := _reread(results, machine, name)) is not None]
    return sorted(found, key=lambda one: -one.last_times)


def _reread(results: Sequence[SizeResult], machine: CacheMachine, array: str) -> Reread | None:
    gone = tail_of(results, lambda one: _times_expected(one, machine.name, array) > 1 + TOLERANCE)
    if not gone:
        return None
    last = gone[-1]
    each = read_of(last, machine.name, array) / last.expected.trips
    own = last.expected.arrays[array].element_bytes
    whole = own < machine.sector_bytes and each > MOST * machine.sector_bytes
    return Reread(
        array=array,
        first=gone[0].size,
        times=_times(gone[0], machine.name, array),
        last=last.size,
        last_times=_times(last, machine.name, array),
        whole_lines=machine.sector_bytes if whole else None,
        element_bytes=own,
    )


def kept(curve: Curve, machine: CacheMachine) -> list[Kept]:
    """Arrays that stay in the caches though they were expected to be read again."""
    results = [result for result in curve.results if machine.name in result.simulated]
    loaded = {
        name: None
        for result in results
        for name, array in result.expected.arrays.items()
        if not array.write_bytes
    }
    found = []
    for name in loaded:
        gone = _below(results, machine.name, name)
        if gone:
            found.append(
                Kept(
                    array=name,
                    first=gone[0].size,
                    share=_times_expected(gone[-1], machine.name, name),
                )
            )
    return found


def _below(results: Sequence[SizeResult], machine: str, array: str) -> list[SizeResult]:
    return tail_of(results, lambda result: _times_expected(result, machine, array) < 1 - TOLERANCE)


def tail_of(results: Sequence[SizeResult], holds: Callable[[SizeResult], bool]) -> list[SizeResult]:
    """The largest sizes of which all hold."""
    kept: list[SizeResult] = []
    for result in reversed(results):
        if not holds(result):
            break
        kept.insert(0, result)
    return kept


def read_of(result: SizeResult, machine: str, array: str) -> float:
    """Simulated bytes of an array that memory gives in one execution by one core.

    Args:
        result: One size of a nest, which was simulated for that machine.
        machine: Name of the machine whose caches were simulated.
        array: Name of an operand, such as `A`; one of which nothing was read gives 0.
    """
    simulated = result.simulated[machine]
    return simulated.array_read_bytes.get(array, 0) / simulated.cores


def _times(result: SizeResult, machine: str, array: str) -> float:
    return read_of(result, machine, array) / result.expected.arrays[array].bytes


def _times_expected(result: SizeResult, machine: str, array: str) -> float:
    expected = result.expected.arrays[array].read_bytes
    return read_of(result, machine, array) / expected if expected else 0.0


def power_of_two(size: int) -> int:
    """The largest that divides it."""
    return size & -size


def own_bytes(machine: CacheMachine) -> int:
    """What a core may keep without what it borrows from idle ones."""
    levels = [msgspec.structs.replace(level, borrows_idle=False) for level in machine.levels]
    return msgspec.structs.replace(machine, levels=levels).cached_bytes
