"""What a virtual machine hides or misreports about the topology, found by comparing its reports."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from memgauge.model.cpulist import format_cpu_list
from memgauge.system.limits.memory import gib

if TYPE_CHECKING:
    from memgauge.model.system import Cache, System
    from memgauge.system.environment.virtualisation import Virtualisation

_MIB = 1 << 20
_MEMORY_TOLERANCE = 0.1


def topology_contradictions(system: System, virtualisation: Virtualisation) -> list[str]:
    """Sentences on what is contradictory, or may be shared with other machines."""
    caches = [cache for cache in system.caches if cache.type != "instruction"]
    notes = _overlaps(caches) + _inversions(caches) + _missing_levels(caches)
    notes += _node_memory(system)
    if virtualisation.hypervisor is not None:
        notes += _guest_notes(system, caches)
    return notes


def _overlaps(caches: list[Cache]) -> list[str]:
    by_level: dict[int, list[Cache]] = {}
    for cache in caches:
        by_level.setdefault(cache.level, []).append(cache)
    return [
        f"L{level} caches contradict each other: one is reported to serve CPUs "
        f"{format_cpu_list(one.cpus)}, another {format_cpu_list(other.cpus)}"
        for level, group in sorted(by_level.items())
        for one, other in _first(group)
    ]


def _first(group: list[Cache]) -> list[tuple[Cache, Cache]]:
    """The first overlapping pair: one sentence per level is enough."""
    owner: dict[int, Cache] = {}
    for cache in group:
        for cpu in cache.cpus:
            if cpu in owner:
                return [(owner[cpu], cache)]
            owner[cpu] = cache
    return []


def _inversions(caches: list[Cache]) -> list[str]:
    largest: dict[int, int] = {}
    for cache in caches:
        largest[cache.level] = max(largest.get(cache.level, 0), cache.bytes)
    return [
        f"the L{upper} cache is reported to be no larger than the L{lower} cache "
        f"({largest[upper] / _MIB:g} MiB and {largest[lower] / _MIB:g} MiB): compare the "
        "working-set curve"
        for lower, upper in combinations(sorted(largest), 2)
        if upper == lower + 1 and largest[upper] <= largest[lower]
    ]


def _missing_levels(caches: list[Cache]) -> list[str]:
    levels = {cache.level for cache in caches}
    if not levels:
        return ["no cache is reported: the workingset experiment measures which levels there are"]
    gaps = [f"L{level}" for level in range(1, max(levels)) if level not in levels]
    if gaps:
        return [f"no {' or '.join(gaps)} cache is reported though L{max(levels)} is"]
    if max(levels) < 3:
        return [
            (
                f"no cache above L{max(levels)} is reported: if there is one, it is hidden; the "
                "workingset experiment would show it"
            )
        ]
    return []


def _node_memory(system: System) -> list[str]:
    nodes_bytes = sum(node.bytes for node in system.nodes)
    if abs(nodes_bytes - system.memory_bytes) <= _MEMORY_TOLERANCE * system.memory_bytes:
        return []
    return [
        (
            f"the NUMA nodes hold {gib(nodes_bytes)} by their own count, the system "
            f"{gib(system.memory_bytes)}: the amount of memory may change while the system runs, "
            "as in a guest with a memory balloon"
        )
    ]


def _guest_notes(system: System, caches: list[Cache]) -> list[str]:
    notes = []
    last = max((cache.level for cache in caches), default=0)
    if last >= 3:
        size = max(cache.bytes for cache in caches if cache.level == last)
        notes.append(
            f"the hypervisor reports the L{last} cache ({size / _MIB:g} MiB) and which CPUs share "
            "it: other guests may occupy part of it, and the host may move virtual CPUs to cores "
            "that do not share it"
        )
    count = len(system.cpus)
    if count > 1 and len({cpu.socket for cpu in system.cpus}) == count:
        notes.append("the hypervisor reports each CPU as a socket of its own, which is seldom true")
    if count > 1 and all(cpu.sibling == 0 for cpu in system.cpus):
        notes.append(
            "the hypervisor reports no SMT siblings: two of its CPUs may still share a physical "
            "core"
        )
    return notes
