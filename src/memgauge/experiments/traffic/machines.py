"""Machines whose caches `traffic` simulates, with so many of their cores at work."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from memgauge.experiments.shared.cache_machines import load_simulable
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.machines.library import load
from memgauge.model.cache_machine import THIS, CacheMachine, with_cores
from memgauge.model.errors import RequestError
from memgauge.model.system import System


class Machines(msgspec.Struct, frozen=True, kw_only=True):
    """What was requested, and why this machine is missing, if it is."""

    of: list[CacheMachine]
    missing: str | None = None

    @property
    def names(self) -> str:
        """Between commas; `none` where there are none."""
        return ",".join(machine.name for machine in self.of) or "none"


class MachinePart(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it is simulated for a number of threads."""

    machine: CacheMachine
    """With all its cores at work."""
    unit: CacheMachine
    """What is simulated of it,"""
    times: int
    """so often: its parts share no cache and work alike."""


def machines_of(parameters: TrafficParameters, system: System) -> Machines:
    """The machines requested.

    Raises:
        RequestError: one is not known; this one shows no caches, and no other was named.
    """
    found, missing = [], None
    for name in parameters.machines:
        try:
            found.append(load_simulable(name, system))
        except RequestError as error:
            if name != THIS or parameters.simulate_only:
                raise
            missing = str(error)
    return Machines(of=found, missing=missing)


def here(system: System) -> CacheMachine | None:
    """This machine's caches; None where the system hides them."""
    try:
        return load(THIS, system)
    except RequestError:
        return None


def sockets_of(cpus: Sequence[int], system: System) -> list[int]:
    """Threads on each socket that has any."""
    socket = {cpu.cpu: cpu.socket for cpu in system.cpus}
    counts: dict[int, int] = {}
    for cpu in cpus:
        counts[socket.get(cpu, 0)] = counts.get(socket.get(cpu, 0), 0) + 1
    return list(counts.values())


def part_of(machine: CacheMachine, per_socket: Sequence[int]) -> MachinePart:
    """What must be simulated of a machine for threads on its sockets.

    A socket is simulated; of several that work alike, one. Of a socket whose cores share caches in
    groups, and borrow none, one group. Arrays of different cores begin a multiple of the page
    apart, which numbers the sets of a core anew and changes nothing else: all counts are equal.

    Raises:
        RequestError: the machine has not so many cores, or its sockets do not work alike.
    """
    threads = sum(per_socket)
    if len(per_socket) == 1 or machine.name != THIS:
        per_socket = [threads]
    if len(set(per_socket)) > 1:
        raise RequestError(
            f"machine {machine.name}: {' and '.join(map(str, per_socket))} threads on its sockets "
            "cannot be simulated; use the same number on each"
        )
    at_work = with_cores(machine, per_socket[0])
    group = _group(at_work)
    unit = msgspec.structs.replace(
        at_work, cores=group, idle_cores=at_work.idle_cores if group == at_work.cores else 0
    )
    return MachinePart(machine=at_work, unit=unit, times=threads // group)


def _group(machine: CacheMachine) -> int:
    """Cores of the smallest part whose caches no other core uses."""
    borrows = machine.idle_cores and any(level.borrows_idle for level in machine.levels)
    if borrows or any(not level.cores for level in machine.levels):
        return machine.cores
    group = math.lcm(*(level.cores for level in machine.levels))
    return group if machine.cores % group == 0 else machine.cores
