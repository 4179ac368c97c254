"""Which CPUs a team of threads is pinned to, and the caches and nodes those CPUs use.

The policies' names are those of the field (KMP_AFFINITY, likwid-pin); pure functions of a System.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from memgauge.model.cpulist import format_cpu_list, parse_cpu_list
from memgauge.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgauge.model.system import Cache, Cpu, System

POLICIES = ("auto", "compact", "scatter", "cores")
_TYPE_ORDER = {"performance": 0, "efficiency": 2, "low-power": 3}
_MISSPELT_LENGTH = 40


def cpus_for(policy: str, threads: int | None, system: System) -> list[int]:
    """CPUs for the ranks 0, 1, ... of a team.

    - `auto`, the default: one thread per physical core, performance cores first, node by node; SMT
      siblings in the same order once every core has a thread.
    - `cores`: the same, but more threads than cores are refused.
    - `compact`: neighbouring hardware threads, siblings side by side, node by node.
    - `scatter`: nodes in turn, sockets first, siblings only once every core has a thread.
    - a list such as `0-3,8`: those CPUs in that order, the first `threads` of them.

    Args:
        policy: one of `POLICIES` or a CPU list.
        threads: size of the team; None takes all the policy offers.
        system: the machine, whose `allowed_cpus` are the only ones used.

    Raises:
        RequestError: a CPU is offline, not allowed or named twice, or there are too few.
    """
    _check_count(threads)
    listed = policy not in POLICIES
    order = _explicit(policy, system) if listed else _by_policy(policy, system)
    wanted = len(order) if threads is None else threads
    if wanted > len(order):
        raise RequestError(_too_many(policy, wanted, order, system))
    if not order:
        raise RequestError("no CPU is allowed to this process: widen its affinity mask or cpuset")
    return order[:wanted]


def physical_cores(system: System) -> int:
    """Physical cores of which at least one hardware thread is allowed."""
    allowed = set(system.allowed_cpus)
    return len({cpu.core for cpu in system.cpus if cpu.cpu in allowed})


def caches_of(cpu: int, system: System) -> dict[int, Cache]:
    """Data and unified caches in front of a CPU by level; a level not told is not there."""
    mine = [c for c in system.caches if c.type != "instruction" and cpu in c.cpus]
    return {cache.level: cache for cache in sorted(mine, key=lambda cache: cache.level)}


def last_level_caches(cpus: Iterable[int], system: System) -> list[Cache]:
    """Distinct last-level caches in front of the CPUs; none for CPUs whose caches are hidden."""
    found: dict[tuple[int, ...], Cache] = {}
    for cpu in cpus:
        levels = caches_of(cpu, system)
        if levels:
            last = levels[max(levels)]
            found[last.level, *last.cpus] = last
    return list(found.values())


def last_level_bytes(cpus: Iterable[int], system: System) -> int | None:
    """Sum over `last_level_caches`, as the STREAM run rules need it.

    None where the caches of any of the CPUs are hidden: the sum would be too small.
    """
    cpus = list(cpus)
    if not all(caches_of(cpu, system) for cpu in cpus):
        return None
    return sum(cache.bytes for cache in last_level_caches(cpus, system))


def nodes_of(cpus: Iterable[int], system: System) -> list[int]:
    """NUMA nodes the CPUs belong to, rising."""
    wanted = set(cpus)
    return sorted({cpu.node for cpu in system.cpus if cpu.cpu in wanted})


def _check_count(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise RequestError(f"{threads} threads cannot be run: ask for at least 1")


def _by_policy(policy: str, system: System) -> list[int]:
    ranked = _allowed_with_rank(system)
    if policy == "compact":
        return [cpu.cpu for cpu, _ in sorted(ranked, key=lambda pair: _place(pair[0]))]
    if policy == "scatter":
        return _scatter(ranked)
    order = sorted(ranked, key=lambda pair: (pair[1], _type(pair[0]), _place(pair[0])))
    return [cpu.cpu for cpu, rank in order if policy == "auto" or rank == 0]


def _allowed_with_rank(system: System) -> list[tuple[Cpu, int]]:
    """Allowed CPUs with their rank among the allowed threads of their core."""
    allowed = set(system.allowed_cpus)
    seen: dict[int, int] = {}
    ranked = []
    for cpu in sorted(system.cpus, key=lambda cpu: (cpu.sibling, cpu.cpu)):
        if cpu.cpu in allowed:
            rank = seen.get(cpu.core, 0)
            seen[cpu.core] = rank + 1
            ranked.append((cpu, rank))
    return ranked


def _place(cpu: Cpu) -> tuple[int, ...]:
    return (cpu.socket, cpu.node, cpu.core, cpu.sibling, cpu.cpu)


def _type(cpu: Cpu) -> int:
    return _TYPE_ORDER.get(cpu.core_type or "performance", 1)


def _scatter(ranked: list[tuple[Cpu, int]]) -> list[int]:
    order: list[int] = []
    for sibling in range(max((rank for _, rank in ranked), default=-1) + 1):
        of_rank = [cpu for cpu, rank in ranked if rank == sibling]
        order += [cpu.cpu for cpu in _in_turn(of_rank)]
    return order


def _in_turn(cpus: list[Cpu]) -> list[Cpu]:
    """Sockets in turn, and within each socket its nodes in turn."""
    sockets = []
    for socket in sorted({cpu.socket for cpu in cpus}):
        members = [cpu for cpu in cpus if cpu.socket == socket]
        nodes = [
            sorted((c for c in members if c.node == node), key=lambda c: (_type(c), _place(c)))
            for node in sorted({cpu.node for cpu in members})
        ]
        sockets.append(_interleave(nodes))
    return _interleave(sockets)


def _interleave(queues: list[list[Cpu]]) -> list[Cpu]:
    return [cpu for turn in zip_longest(*queues) for cpu in turn if cpu is not None]


def _explicit(text: str, system: System) -> list[int]:
    shown = text if len(text) <= _MISSPELT_LENGTH else f"{text[:_MISSPELT_LENGTH]}..."
    try:
        asked = parse_cpu_list(text)
    except ValueError as error:
        raise RequestError(
            f"CPU list {shown!r} cannot be used: {error}; give {', '.join(POLICIES)} or numbers "
            "such as 0-3,8"
        ) from None
    if not asked:
        raise RequestError(f"CPU list {shown!r} names no CPU: give numbers such as 0-3,8")
    online = {cpu.cpu for cpu in system.cpus}
    _refuse(asked, online, "are offline or do not exist", "online")
    _refuse(asked, set(system.allowed_cpus), "are outside this process's affinity mask", "allowed")
    return asked


def _refuse(asked: list[int], usable: set[int], why: str, word: str) -> None:
    unusable = sorted(set(asked) - usable)
    if unusable:
        verb = why if len(unusable) > 1 else _singular(why)
        raise RequestError(
            f"CPU{'s' if len(unusable) > 1 else ''} {format_cpu_list(unusable)} {verb}: choose "
            f"among those {word}, {format_cpu_list(sorted(usable))}"
        )


def _singular(why: str) -> str:
    return why.replace("are ", "is ", 1).replace("do not", "does not")


def _too_many(policy: str, wanted: int, order: list[int], system: System) -> str:
    if policy == "cores":
        allowed = len(system.allowed_cpus)
        remedy = "use --cpus auto to go on to SMT siblings" if wanted <= allowed else "ask for less"
        return (
            f"{wanted} threads need a physical core each, {len(order)} are there: "
            f"ask for at most {len(order)}" + (f" or {remedy}" if wanted <= allowed else "")
        )
    where = f"the list {policy} names" if policy not in POLICIES else "this process may use"
    return (
        f"{wanted} threads need a CPU each, {where} {len(order)}: ask for at most {len(order)} "
        "threads"
    )
