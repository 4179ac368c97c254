"""Events the kernel names itself: of the cores, of its own software, and tracepoints.

On hybrid processors each core type has a PMU. The kernel then takes the type of the PMU in the
upper half of `config`, so that every core type is counted by counters of its own; counts of
different types are never added. Without that, a generic event counts on one type only.

Source: include/uapi/linux/perf_event.h (PERF_TYPE_*, PERF_COUNT_*, PERF_PMU_TYPE_SHIFT).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.model.counting.events import Domain, Quantity

HARDWARE, SOFTWARE, TRACEPOINT, CACHE = 0, 1, 2, 3
"""PERF_TYPE_*."""
TYPE_SHIFT = 32
"""PERF_PMU_TYPE_SHIFT."""
CORE_TYPES = {"cpu_core": "performance", "cpu_atom": "efficiency", "cpu_lowpower": "low-power"}
"""Of Intel's core PMUs; others are called by the name of their PMU."""

_L1D, _LAST_LEVEL, _DTLB, _ITLB, _NODE = 0, 2, 3, 4, 6
_READ, _WRITE = 0, 1
_ACCESS, _MISS = 0, 1


class Generic(msgspec.Struct, frozen=True, kw_only=True):
    """An event with a name of its own."""

    name: str
    type: int
    config: int
    quantity: Quantity
    meaning: str
    domain: Domain = "core"
    unit: Literal["", "s"] = ""
    scale: float = 1.0


def _cache(cache: int, operation: int, result: int) -> int:
    return cache | operation << 8 | result << 16


def _loads(
    name: str, cache: int, what: str, quantities: tuple[Quantity, Quantity]
) -> list[Generic]:
    made = []
    for operation, word in ((_READ, "load"), (_WRITE, "store")):
        for result, (suffix, said) in enumerate((("s", ""), ("-misses", " that missed"))):
            made.append(
                Generic(
                    name=f"{name}-{word}{suffix}",
                    type=CACHE,
                    config=_cache(cache, operation, result),
                    quantity=quantities[result] if operation == _READ else "count",
                    meaning=f"{word}s that looked into {what}{said}",
                )
            )
    return made


CORE: list[Generic] = [
    Generic(name="cycles", type=HARDWARE, config=0, quantity="cycles",
            meaning="cycles of the core while it was not halted"),
    Generic(name="instructions", type=HARDWARE, config=1, quantity="instructions",
            meaning="instructions retired"),
    Generic(name="cache-references", type=HARDWARE, config=2, quantity="cache_loads",
            meaning="accesses of the last-level cache, of which kinds differs by processor"),
    Generic(name="cache-misses", type=HARDWARE, config=3, quantity="cache_misses",
            meaning="misses of the last-level cache, of which kinds differs by processor"),
    Generic(name="branches", type=HARDWARE, config=4, quantity="count",
            meaning="branch instructions retired"),
    Generic(name="branch-misses", type=HARDWARE, config=5, quantity="count",
            meaning="branches that the processor predicted wrongly"),
    Generic(name="ref-cycles", type=HARDWARE, config=9, quantity="cycles",
            meaning="cycles of constant frequency while the core was not halted"),
    *_loads("l1d", _L1D, "the first-level data cache", ("cache_loads", "cache_misses")),
    *_loads("llc", _LAST_LEVEL, "the last-level cache", ("cache_loads", "cache_misses")),
    *_loads("dtlb", _DTLB, "the data TLB", ("tlb_loads", "tlb_misses")),
    Generic(name="itlb-load-misses", type=CACHE, config=_cache(_ITLB, _READ, _MISS),
            quantity="tlb_misses", meaning="instruction fetches that missed the instruction TLB"),
    Generic(name="node-loads", type=CACHE, config=_cache(_NODE, _READ, _ACCESS),
            quantity="count", meaning="loads answered by memory, of which kinds differs"),
    Generic(name="node-load-misses", type=CACHE, config=_cache(_NODE, _READ, _MISS),
            quantity="count", meaning="loads answered by memory of another node"),
]  # fmt: skip
"""Counted by the PMU of the core."""

KERNEL: list[Generic] = [
    Generic(name="page-faults", type=SOFTWARE, config=2, quantity="page_faults",
            domain="software", meaning="page faults, minor and major"),
    Generic(name="minor-faults", type=SOFTWARE, config=5, quantity="page_faults",
            domain="software", meaning="page faults that needed no I/O"),
    Generic(name="major-faults", type=SOFTWARE, config=6, quantity="page_faults",
            domain="software", meaning="page faults that needed I/O"),
    Generic(name="context-switches", type=SOFTWARE, config=3, quantity="context_switches",
            domain="software", meaning="switches from one thread to another"),
    Generic(name="cpu-migrations", type=SOFTWARE, config=4, quantity="migrations",
            domain="software", meaning="moves of a thread to another CPU"),
    Generic(name="cpu-clock", type=SOFTWARE, config=0, quantity="time", unit="s", scale=1e-9,
            domain="software", meaning="time by the clock of the CPU"),
    Generic(name="task-clock", type=SOFTWARE, config=1, quantity="time", unit="s", scale=1e-9,
            domain="software", meaning="time for which the thread ran"),
]  # fmt: skip
"""Counted by the kernel."""

KERNEL_SIDE = frozenset({"context-switches", "cpu-migrations"})
"""What happens in the kernel always: with the kernel's part left out, as without rights, these
would read zero."""

BY_NAME = {one.name: one for one in (*CORE, *KERNEL)}


def core_pmus(names: list[str]) -> list[str]:
    """Which of the PMUs count on cores."""
    known = ("cpu", *CORE_TYPES)
    return [n for n in names if n in known or n.startswith(("armv7", "armv8", "armv9", "apple_"))]


def core_type(pmu: str, pmus: list[str]) -> str | None:
    """The type of the cores a PMU counts; None where all cores are alike."""
    return CORE_TYPES.get(pmu, pmu) if len(pmus) > 1 else None
