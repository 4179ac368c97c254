"""The points of `traffic`: a kernel of one size, executed by a number of threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.traffic.machines import (
    Machines,
    here,
    part_of,
    sockets_of,
)
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.shapes import cap_for, extents_of, probe_size, sizes_of
from memgauge.model.cache_machine import with_cores
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.nests import EXTENTS, KINDS, STUDY_GRID, Extents
from memgauge.model.records import Point, Scalar
from memgauge.model.system import System
from memgauge.system.topology.placement import POLICIES, UNKNOWN_CACHE_BYTES, cpus_for

LEFT_OUT = "left_out"
"""Fact of a point that is not measured: why."""


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """Threads that execute a kernel, and what they share."""

    threads: int
    cpus: list[int]
    """Empty: nothing is run."""
    per_socket: list[int]
    cached_bytes: int | None
    """What one of them may keep in this machine's caches; None: hidden, or nothing is run."""


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of elements that one execution by one thread reads and writes if it finds none."""

    read_bytes: int
    write_bytes: int
    allocate_bytes: int
    """Of what is written and not read."""


def teams_of(parameters: TrafficParameters, system: System, machines: Machines) -> list[Team]:
    """Numbers of threads asked for, or one; batched, one for each core.

    Where nothing is run, those of the machines are counted: batched, as many as all of them have.
    """
    if parameters.simulate_only:
        most = min((machine.machine_cores for machine in machines.of), default=1)
        counts = (most,) if parameters.batched else parameters.threads or (1,)
        return [_nowhere(threads) for threads in counts]
    if parameters.batched:
        policy = "cores" if parameters.cpus in POLICIES else parameters.cpus
        return [_team(cpus_for(policy, None, system), system)]
    return [
        _team(cpus_for(parameters.cpus, threads, system), system)
        for threads in parameters.threads or (1,)
    ]


def points_of(
    parameters: TrafficParameters, machines: Machines, teams: Sequence[Team]
) -> list[list[Point]]:
    """For each team its points, by rising size."""
    cap = _cap(parameters, machines, teams) if parameters.kernel == "gemv" else None
    return [
        [_point(parameters, machines, team, size, cap) for size in sizes_of(parameters)]
        for team in teams
    ]


def spec_of(point: Point) -> _core.NestSpec:
    """The loop nest that a point executes."""
    extents = {
        name: int(value) for name in EXTENTS if (value := point.actual.get(name)) is not None
    }
    return _core.NestSpec(
        str(point.requested["kernel"]),
        store_prefetch=bool(point.requested["store_prefetch"]),
        **extents,
    )


def small_spec(parameters: TrafficParameters) -> _core.NestSpec:
    """The kernel's loop nest of a size that takes no time."""
    small = probe_size(parameters)
    extents = extents_of(parameters, small, small)
    return _core.NestSpec(parameters.kernel, store_prefetch=parameters.store_prefetch, **extents)


def element_traffic(spec: _core.NestSpec, kernel: str, extents: Mapping[str, int]) -> Element:
    """What an execution reads and writes by its elements, each once as far as caches can help.

    Capped GEMV walks its matrix again and again, and of strided arrays only every n-th double.
    """
    if kernel == "strided-copy":
        moved = extents["n"] * 8
        return Element(read_bytes=moved, write_bytes=moved, allocate_bytes=moved)
    reads = sum(array.bytes for array in spec.arrays if array.read)
    if kernel == "gemv":
        reads += (extents["m"] - min(extents["m"], extents["cap"])) * extents["n"] * 8
    return Element(
        read_bytes=reads,
        write_bytes=sum(array.bytes for array in spec.arrays if array.written),
        allocate_bytes=sum(a.bytes for a in spec.arrays if a.written and not a.read),
    )


def with_facts(point: Point, facts: Mapping[str, Scalar]) -> Point:
    """The point with more of what was got."""
    return msgspec.structs.replace(point, actual={**point.actual, **facts})


def _point(
    parameters: TrafficParameters, machines: Machines, team: Team, size: int, cap: int | None
) -> Point:
    extents = extents_of(parameters, size, cap)
    kernel, prefetch = parameters.kernel, parameters.store_prefetch
    spec = _requested_spec(parameters, size, extents)
    once = element_traffic(spec, kernel, extents)
    counted = once.read_bytes + once.write_bytes
    parts = ["traffic", kernel, str(size), f"{team.threads}t", *["prefetched"] * prefetch]
    return Point(
        point="/".join(parts),
        experiment="traffic",
        quantity="bandwidth",
        requested=_requested(parameters, machines, size, cap),
        actual={
            **({"cpus": format_cpu_list(team.cpus)} if team.cpus else {}),
            **extents,
            **{f"{array.name}_bytes": array.bytes for array in spec.arrays},
            "read_bytes": once.read_bytes * team.threads,
            "write_bytes": once.write_bytes * team.threads,
            "cached_bytes": team.cached_bytes,
            "simulated_in_part": _in_part(machines, team),
        },
        bytes_counted=counted * team.threads,
        bytes_moved=(counted + once.allocate_bytes) * team.threads,
        threads=team.threads,
        role="counted",
    )


def _requested_spec(parameters: TrafficParameters, size: int, extents: Extents) -> _core.NestSpec:
    try:
        return _core.NestSpec(
            parameters.kernel, store_prefetch=parameters.store_prefetch, **extents
        )
    except RequestError as error:
        raise RequestError(f"--sizes {size}: {error}") from error


def _requested(
    parameters: TrafficParameters, machines: Machines, size: int, cap: int | None
) -> dict[str, Scalar]:
    grid = parameters.grid or STUDY_GRID
    return {
        "kernel": parameters.kernel,
        "size": size,
        "batched": parameters.batched,
        "grid": str(grid) if KINDS[parameters.kernel].is_resort else None,
        "cap": cap,
        "store_prefetch": parameters.store_prefetch,
        "machines": machines.names,
        "repetitions": str(parameters.repetitions),
        "memory": str(parameters.memory),
        "pages": parameters.pages,
    }


def _in_part(machines: Machines, team: Team) -> str | None:
    """Machines of which a part is simulated and its figures multiplied; None: all are whole."""
    found = []
    for machine in machines.of:
        try:
            part = part_of(machine, team.per_socket)
        except RequestError:
            continue
        if part.times > 1:
            found.append(machine.name)
    return ",".join(found) or None


def _cap(parameters: TrafficParameters, machines: Machines, teams: Sequence[Team]) -> int:
    """As asked, or so that neither this machine nor a simulated one keeps the matrix."""
    if parameters.cap is not None:
        return parameters.cap
    here_bytes = [
        team.cached_bytes or UNKNOWN_CACHE_BYTES // team.threads for team in teams if team.cpus
    ]
    there_bytes = [
        with_cores(machine, min(team.threads, machine.machine_cores)).cached_bytes
        for team in teams
        for machine in machines.of
    ]
    return cap_for([*here_bytes, *there_bytes])


def _team(cpus: list[int], system: System) -> Team:
    return Team(
        threads=len(cpus),
        cpus=cpus,
        per_socket=sockets_of(cpus, system),
        cached_bytes=_kept(cpus, system),
    )


def _nowhere(threads: int) -> Team:
    return Team(threads=threads, cpus=[], per_socket=[threads], cached_bytes=None)


def _kept(cpus: Sequence[int], system: System) -> int | None:
    """What one thread may keep: the caches of its core, its share of those that more use."""
    machine = here(system)
    if machine is None:
        return None
    busiest = min(max(sockets_of(cpus, system)), machine.machine_cores)
    return with_cores(machine, busiest).cached_bytes
