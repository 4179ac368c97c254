"""Which CPUs a program under diagnosis gets, and which are left to generate pressure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from memgauge.experiments.diagnose.parameters import DiagnoseOptions
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.system import Cache, Cpu, System
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
    reference: int
    """CPU of the reference loops: the program's first, or one beside a process that runs on."""
    command: list[int] = []
    """CPUs of the command that reads the metric of a process; empty: there is none."""


def places(options: DiagnoseOptions, system: System) -> Places:
    """The CPUs that were asked for, or half of the cores of each last-level cache for each side.

    Raises:
        RequestError: a CPU is not allowed to this process.
    """
    allowed = _allowed(options, system)
    program = list(options.program_cpus or _first_halves(allowed, system, options.pressure_cpus))
    if not program:
        raise RequestError("--pressure-cpus: leaves no CPU for the program")
    pressure = list(options.pressure_cpus or _other_cores(program, allowed, system))
    last = _last_cache(program[0], system)
    return Places(
        program=program,
        pressure=pressure,
        same_cache=set(pressure) <= set(last.cpus) if last and pressure else None,
        llc_bytes=last.bytes if last else None,
        reference=program[0],
    )


def places_beside(process: Sequence[int], options: DiagnoseOptions, system: System) -> Places:
    """CPUs beside a process that stays where it is.

    Generators get cores that none of its threads may use, but one of them, if there are several,
    for the references and the metric's command. If its threads may use all cores, generators get
    half of those of each last-level cache, and may share CPUs with it.

    Args:
        process: CPUs that its threads may use.
        options: `pressure_cpus` is used.
        system: The machine.

    Raises:
        RequestError: a CPU is not allowed to this process.
        NotPossibleHere: no CPU is left on which pressure can be generated or seen.
    """
    allowed = _allowed(options, system)
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    used = {core_of[cpu] for cpu in process if cpu in core_of}
    last = _last_cache(next(iter(process), None), system)
    pressure = list(options.pressure_cpus or _pressure_beside(used, allowed, last, system))
    taken = {core_of[cpu] for cpu in pressure}
    left = [cpu for cpu in allowed if core_of[cpu] not in taken]
    free = [cpu for cpu in left if core_of[cpu] not in used]
    near = [cpu for cpu in left if last is None or cpu in last.cpus]
    if not pressure or not near:
        raise NotPossibleHere(
            "diagnose: no CPU is left beside the process on which pressure can be generated and "
            "seen; bind the process to fewer CPUs with taskset(1), and let memgauge use all"
        )
    return Places(
        program=list(process),
        pressure=pressure,
        same_cache=set(pressure) <= set(last.cpus) if last else None,
        llc_bytes=last.bytes if last else None,
        reference=next((cpu for cpu in near if cpu in free), near[0]),
        command=free or left,
    )


def _pressure_beside(
    used: Collection[int], allowed: dict[int, Cpu], last: Cache | None, system: System
) -> list[int]:
    """One CPU of each core that the process may not use, but one; or half where it may use all."""
    process = [cpu for cpu, one in allowed.items() if one.core in used]
    beside = _other_cores(process, allowed, system)
    if beside:
        near = [cpu for cpu in beside if last is None or cpu in last.cpus]
        return [cpu for cpu in beside if len(near) < 2 or cpu != near[-1]]
    return _other_cores(_first_halves(allowed, system, None), allowed, system)


def _allowed(options: DiagnoseOptions, system: System) -> dict[int, Cpu]:
    allowed = {cpu.cpu: cpu for cpu in system.cpus if cpu.cpu in set(system.allowed_cpus)}
    for flag, asked in (
        ("--program-cpus", options.program_cpus),
        ("--pressure-cpus", options.pressure_cpus),
    ):
        for cpu in asked or ():
            if cpu not in allowed:
                raise RequestError(f"{flag}: CPU {cpu} is not one that this process may use")
    return allowed


def _last_cache(cpu: int | None, system: System) -> Cache | None:
    if cpu is None:
        return None
    return max(caches_of(cpu, system).values(), key=lambda one: one.level, default=None)


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
        last = _last_cache(cpu, system)
        shared = tuple(sorted(last.cpus)) if last else ()
        groups.setdefault(shared, {}).setdefault(one.core, []).append(cpu)
    return [list(cores.values()) for cores in groups.values()]
