"""Which CPUs a program under diagnosis gets, and which are left to generate pressure."""

from __future__ import annotations

import msgspec

from memgauge.experiments.diagnose.parameters import DiagnoseOptions
from memgauge.model.errors import RequestError
from memgauge.model.system import Cpu, System
from memgauge.system.topology.placement import caches_of


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """CPUs of both sides."""

    program: list[int]
    pressure: list[int]
    """Empty: no CPU is left for generators."""
    same_cache: bool | None
    """Whether all generators share a last-level cache with the program's first CPU; None: unknown,
    or there are none."""
    llc_bytes: int | None
    """Of the last-level cache in front of the program's first CPU."""


def places(options: DiagnoseOptions, system: System) -> Places:
    """The CPUs that were asked for, or half of the cores of each last-level cache for each side.

    Raises:
        RequestError: a CPU is not allowed to this process.
    """
    allowed = {cpu.cpu: cpu for cpu in system.cpus if cpu.cpu in set(system.allowed_cpus)}
    for flag, asked in (
        ("--program-cpus", options.program_cpus),
        ("--pressure-cpus", options.pressure_cpus),
    ):
        for cpu in asked or ():
            if cpu not in allowed:
                raise RequestError(f"{flag}: CPU {cpu} is not one that this process may use")
    program = list(options.program_cpus or _first_halves(allowed, system, options.pressure_cpus))
    if not program:
        raise RequestError("--pressure-cpus: leaves no CPU for the program")
    pressure = list(options.pressure_cpus or _other_cores(program, allowed, system))
    last = max(caches_of(program[0], system).values(), key=lambda c: c.level, default=None)
    return Places(
        program=program,
        pressure=pressure,
        same_cache=set(pressure) <= set(last.cpus) if last and pressure else None,
        llc_bytes=last.bytes if last else None,
    )


def _first_halves(
    allowed: dict[int, Cpu], system: System, taken: tuple[int, ...] | None
) -> list[int]:
    """CPUs of the first half of the cores of each last-level cache, all their siblings too.

    A cache with one core goes to the program as a whole, every second of them to the generators.
    """
    if taken is not None:
        cores = {allowed[cpu].core for cpu in taken}
        return [cpu for cpu, one in allowed.items() if one.core not in cores]
    found: list[int] = []
    single = 0
    for group in _cores_by_cache(allowed, system):
        if len(group) == 1:
            single += 1
            found += group[0] if single % 2 else []
            continue
        for core in group[: len(group) - len(group) // 2]:
            found += core
    return found


def _other_cores(program: list[int], allowed: dict[int, Cpu], system: System) -> list[int]:
    """One CPU of each core that the program does not use; those of its caches, where there are."""
    used = {allowed[cpu].core for cpu in program}
    beside: list[int] = []
    elsewhere: list[int] = []
    for cores in _cores_by_cache(allowed, system):
        free = [core[0] for core in cores if allowed[core[0]].core not in used]
        is_mine = any(set(core) & set(program) for core in cores)
        (beside if is_mine else elsewhere).extend(free)
    return beside or elsewhere


def _cores_by_cache(allowed: dict[int, Cpu], system: System) -> list[list[list[int]]]:
    """CPUs by core by last-level cache."""
    groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for cpu, one in sorted(allowed.items(), key=lambda item: (item[1].sibling, item[0])):
        last = max(caches_of(cpu, system).values(), key=lambda c: c.level, default=None)
        shared = tuple(sorted(last.cpus)) if last else ()
        groups.setdefault(shared, {}).setdefault(one.core, []).append(cpu)
    return [list(cores.values()) for cores in groups.values()]
