"""This machine as one to simulate: what the system shows of its caches, completed by assumptions.

What a system shows, and what a virtual machine hides of it, is in `system/topology/caches.py`.
Whatever had to be assumed stands in the machine's `assumptions`.

Sources: AMD, Software Optimization Guide for the AMD Family 17h and 19h processors, section on the
data cache hierarchy: the L2 includes the L1, the L3 is filled by victims of the L2. IBM, POWER9
Processor User's Manual: lines of 128 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.model.cache_machine import THIS, CacheLevel, CacheMachine, Inclusion
from memgauge.model.errors import RequestError
from memgauge.model.system import Cache, Cpu, System

ASSUMED_WAYS = 16
"""Of a cache whose ways and sets the system does not show."""
_LINES = {"ppc64le": 128, "ppc64": 128}
_ALWAYS_ASSUMED = (
    "every level replaces the least recently used line; processors rarely document their policies",
    "sets are numbered by the address; large caches are spread over slices by hashes",
    "hardware prefetchers are not simulated: they read ahead, and a little beyond a stream's end",
    "every ordinary store that misses reads its line first",
)


def this_machine(system: System) -> CacheMachine:
    """The caches of the first allowed CPU, with the cores of its socket.

    Raises:
        RequestError: the system shows no data cache of it.
    """
    cpu = _first_cpu(system)
    caches = _seen_by(system, cpu)
    if cpu is None or not caches:
        raise RequestError(
            f"machine {THIS}: the system shows no caches of this machine; choose another machine, "
            "or give a TOML file"
        )
    line_bytes, assumed = _line_bytes(caches, system.architecture)
    cores = {one.cpu: one.core for one in system.cpus}
    socket = {one.core for one in system.cpus if one.socket == cpu.socket}
    levels = []
    for cache in caches:
        sharing = len({cores.get(number, number) for number in cache.cpus} & socket)
        level, notes = _level(cache, caches, system, line_bytes)
        levels.append(msgspec.structs.replace(level, cores=sharing or 1))
        assumed += notes
    return CacheMachine(
        name=THIS,
        title=f"this machine, {system.cpu_model}",
        source="what the system shows of its caches",
        line_bytes=line_bytes,
        sector_bytes=line_bytes,
        levels=_nested(levels, len(socket)),
        machine_cores=len(socket),
        cores=1,
        assumptions=[*assumed, *_told_by_kind(system), *_ALWAYS_ASSUMED],
    )


def _level(
    cache: Cache, caches: Sequence[Cache], system: System, line_bytes: int
) -> tuple[CacheLevel, list[str]]:
    """As seen by one core, and what was assumed of it."""
    ways, of_ways = _ways(cache, line_bytes)
    inclusion, of_inclusion = _inclusion(cache, caches, system)
    level = CacheLevel(
        name=f"L{cache.level}",
        bytes=_whole_bytes(cache.bytes, line_bytes, ways),
        ways=ways,
        inclusion=inclusion,
        source="what the system shows in /sys/devices/system/cpu",
    )
    return level, [*of_ways, *of_inclusion]


def _first_cpu(system: System) -> Cpu | None:
    allowed = set(system.allowed_cpus)
    found = [cpu for cpu in system.cpus if cpu.cpu in allowed] or system.cpus
    return found[0] if found else None


def _seen_by(system: System, cpu: Cpu | None) -> list[Cache]:
    """Its caches of data, from the core on."""
    if cpu is None:
        return []
    found = [c for c in system.caches if c.type != "instruction" and cpu.cpu in c.cpus]
    return sorted(found, key=lambda cache: cache.level)


def _line_bytes(caches: Sequence[Cache], architecture: str) -> tuple[int, list[str]]:
    shown = [cache.line_bytes for cache in caches if cache.line_bytes]
    if shown:
        return shown[0], []
    usual = _LINES.get(architecture, 64)
    return usual, [f"the system does not show the length of a line: {usual} bytes are assumed"]


def _ways(cache: Cache, line_bytes: int) -> tuple[int, list[str]]:
    """As shown, or from the sets, or assumed."""
    lines = cache.bytes // line_bytes
    if cache.ways is not None and cache.ways <= lines:
        return cache.ways, []
    if cache.sets and not lines % cache.sets:
        return lines // cache.sets, []
    ways = min(ASSUMED_WAYS, lines)
    return ways, [f"the system does not show the ways of the L{cache.level}: {ways} are assumed"]


def _whole_bytes(size: int, line_bytes: int, ways: int) -> int:
    """What whole sets hold of it."""
    row = line_bytes * (ways or 1)
    return max(size // row, 1) * row


def _inclusion(
    cache: Cache, caches: Sequence[Cache], system: System
) -> tuple[Inclusion, list[str]]:
    if cache.level == caches[0].level:
        return "non-inclusive", []
    if "AMD" in system.cpu_model and cache.level in {2, 3}:
        known: Inclusion = "inclusive" if cache.level == 2 else "exclusive"
        return known, [f"the L{cache.level} is {known}, as AMD's optimization guides describe Zen"]
    return "non-inclusive", [
        (
            f"the L{cache.level} is taken as neither inclusive nor exclusive: the system does not "
            "report it"
        )
    ]


def _nested(levels: list[CacheLevel], cores: int) -> list[CacheLevel]:
    """A last level that all cores share serves all, however many are simulated."""
    last = levels[-1]
    if len(levels) > 1 and last.cores >= cores:
        levels[-1] = msgspec.structs.replace(last, cores=0)
    return levels


def _told_by_kind(system: System) -> list[str]:
    """What a reader must know where the machine is virtual or has several kinds of cores."""
    notes = []
    if system.virtualisation:
        notes.append(
            f"seen from inside a {system.virtualisation}: others may use the last level too, and "
            "it is simulated as if all of it that is shown were free"
        )
    kinds = sorted({cpu.core_type for cpu in system.cpus if cpu.core_type})
    if len(kinds) > 1:
        notes.append(
            f"cores are of {len(kinds)} kinds ({', '.join(kinds)}): all are simulated with the "
            "caches of the first that this process may use"
        )
    return notes
