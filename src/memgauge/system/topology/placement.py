"""Which CPUs a team of threads is pinned to, and the caches and nodes those CPUs use.

The policies' names are those of the field (KMP_AFFINITY, likwid-pin); pure functions of a System.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from memgauge.model.cpulist import format_cpu_list, parse_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.system import Cache
from memgauge.model.text import quoted

if TYPE_CHECKING:
    from memgauge.model.system import Cpu, System

POLICIES = ("compact", "scatter", "cores")
LINE_BYTES = 64
"""The smallest line of any supported processor; `line_bytes_of` reports larger ones."""

MOST_TOUCHING = 32
"""CPUs of a node that touch memory at the same time: more get no more pages from the kernel."""

UNKNOWN_CACHE_BYTES = 64 << 20
"""Assumed cache size in bytes for a team whose caches the system hides."""

_TYPE_ORDER = {"performance": 0, "efficiency": 2, "low-power": 3}

Policy = str | Sequence[int]
"""One of `POLICIES`, a CPU list in text form, or its numbers."""


class LastLevel(NamedTuple):
    """The last-level caches of some CPUs."""

    caches: list[Cache]
    bytes: int
    """Their sum; 0 if the system hides all of them."""


def cpus_for(policy: Policy, threads: int | None, system: System) -> list[int]:
    """CPUs for the ranks 0, 1, ... of a team.

    - `compact`: neighbouring hardware threads, siblings side by side, node by node.
    - `scatter`: sockets in turn, in each its nodes in turn; SMT siblings only once every core has a
      thread.
    - `cores`: one thread per physical core, node by node; more threads than cores are refused.
    - a list such as `0-3,8`: those CPUs in that order, the first `threads` of them.

    On hybrid processors `scatter` and `cores` begin with the performance cores.

    Args:
        policy: how to choose.
        threads: size of the team; None takes all the policy offers.
        system: the machine, whose `allowed_cpus` are the only ones used.

    Raises:
        RequestError: a CPU is offline, not allowed or named twice, or there are too few.
    """
    _check_count(threads)
    if isinstance(policy, str) and policy in POLICIES:
        order = _by_policy(policy, system)
    else:
        order = _explicit(policy, system)
    if not order:
        raise RequestError("this process may not use any CPU: widen its affinity mask or cpuset")
    wanted = len(order) if threads is None else threads
    if wanted > len(order):
        raise RequestError(_too_many(policy, wanted, len(order), system))
    return order[:wanted]


def within(system: System, nodes: Sequence[int] | None) -> System:
    """The machine as seen by a program that uses the CPUs of some NUMA nodes only.

    Raises:
        RequestError: no such node, or none of its CPUs may be used.
    """
    if nodes is None:
        return system
    present = sorted({node.node for node in system.nodes})
    missing = sorted(set(nodes) - set(present))
    if missing:
        raise RequestError(
            f"--nodes {missing[0]}: this machine has no such node; choose among "
            f"{format_cpu_list(present)}"
        )
    there = {cpu.cpu for cpu in system.cpus if cpu.node in set(nodes)}
    allowed = [cpu for cpu in system.allowed_cpus if cpu in there]
    if not allowed:
        raise RequestError(
            f"--nodes {format_cpu_list(sorted(nodes))}: has no CPU that this process may use; "
            f"choose another node, or widen the affinity mask"
        )
    return msgspec.structs.replace(system, allowed_cpus=allowed)


def default_team_sizes(system: System, policy: Policy = "scatter") -> tuple[int, ...]:
    """Team sizes 1, 2, 4, ... up to all CPUs of the policy, plus the number of cores and one more.

    One more thread than cores is the first team with two threads on a core.
    """
    offered = cpus_for(policy, None, system)
    most = len(offered)
    cores = len({cpu.core for cpu in system.cpus if cpu.cpu in set(offered)})
    doubling = (1 << power for power in range(most.bit_length()))
    return tuple(sorted({*doubling, cores, min(cores + 1, most), most}))


def caches_of(cpu: int, system: System) -> dict[int, Cache]:
    """Data and unified caches in front of a CPU by level; unknown levels are missing."""
    mine = [c for c in system.caches if c.type != "instruction" and cpu in c.cpus]
    return {cache.level: cache for cache in sorted(mine, key=lambda cache: cache.level)}


def line_bytes_of(cpu: int, system: System) -> int:
    """The largest line of the caches in front of a CPU, 64 bytes or more."""
    lines = (cache.line_bytes for cache in caches_of(cpu, system).values())
    return max([LINE_BYTES, *lines])


class Touching:
    """CPUs that touch and fill memory together for a thread: one for each core of a node."""

    def __init__(self, system: System) -> None:
        """Sort the machine's `allowed_cpus`, the only ones used, by node and core."""
        allowed = set(system.allowed_cpus)
        self._nodes: dict[int, dict[int, int]] = {}
        self._place: dict[int, tuple[int, int]] = {}
        for one in sorted(system.cpus, key=lambda one: (one.sibling, one.cpu)):
            if one.cpu in allowed:
                self._nodes.setdefault(one.node, {}).setdefault(one.core, one.cpu)
                self._place[one.cpu] = one.node, one.core

    def cpus(self, cpu: int, memory_node: int | None) -> list[int]:
        """CPUs of the memory's node, which reach it fastest.

        Where no node was asked for, who touches a page places it, so they are those of the CPU's
        own node; as they are for memory of a node whose CPUs may not be used, or that has none.

        Args:
            cpu: Who will use the memory; the first of them where its node is used.
            memory_node: Node whose memory it is; None: memory without a policy, or no node's.
        """
        own, core = self._place.get(cpu, (None, None))
        for node in (memory_node, own):
            firsts = self._nodes.get(node, {}) if node is not None else {}
            if firsts:
                others = [first for of, first in firsts.items() if node != own or of != core]
                return ([cpu, *others] if node == own else others)[:MOST_TOUCHING]
        return [cpu]


def last_level_caches(cpus: Iterable[int], system: System) -> LastLevel:
    """Distinct last-level caches in front of the CPUs and their sum, for the STREAM run rules.

    A CPU whose caches are hidden adds nothing (see `hides_caches`). If a level is hidden, the level
    below it counts as the last.
    """
    last_of = _last_levels(system)
    found = {id(last): last for cpu in cpus if (last := last_of.get(cpu)) is not None}
    return LastLevel(list(found.values()), sum(cache.bytes for cache in found.values()))


def _last_levels(system: System) -> dict[int, Cache]:
    """The last data or unified cache in front of each CPU that has one, in one pass over all."""
    found: dict[int, Cache] = {}
    for cache in system.caches:
        if cache.type == "instruction":
            continue
        for cpu in cache.cpus:
            if cpu not in found or found[cpu].level <= cache.level:
                found[cpu] = cache
    return found


def hides_caches(cpus: Iterable[int], system: System) -> bool:
    """Whether any of the CPUs has no known cache, so that a sum over caches is too small."""
    last_of = _last_levels(system)
    return not all(cpu in last_of for cpu in cpus)


def cached_bytes(cpus: Sequence[int], system: System) -> int:
    """Total bytes of the last-level caches in front of the CPUs; an assumed size if hidden."""
    hidden = hides_caches(cpus, system)
    return UNKNOWN_CACHE_BYTES if hidden else last_level_caches(cpus, system).bytes


def _check_count(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise RequestError(f"{threads} threads cannot be run: use at least 1")


def _by_policy(policy: str, system: System) -> list[int]:
    ranked = _allowed_with_rank(system)
    if policy == "compact":
        return [cpu.cpu for cpu, _ in sorted(ranked, key=lambda pair: _place(pair[0]))]
    if policy == "scatter":
        return _scatter(ranked)
    firsts = [cpu for cpu, rank in ranked if rank == 0]
    return [cpu.cpu for cpu in sorted(firsts, key=lambda cpu: (_type(cpu), *_place(cpu)))]


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
    ordered = sorted(cpus, key=lambda cpu: (cpu.socket, cpu.node, _type(cpu), *_place(cpu)))
    return _interleave(
        [
            _interleave([list(node) for _, node in groupby(socket, lambda cpu: cpu.node)])
            for _, socket in groupby(ordered, lambda cpu: cpu.socket)
        ]
    )


def _interleave(queues: list[list[Cpu]]) -> list[Cpu]:
    return [cpu for turn in zip_longest(*queues) for cpu in turn if cpu is not None]


def _explicit(policy: Policy, system: System) -> list[int]:
    requested = _parsed(policy) if isinstance(policy, str) else list(policy)
    if not requested:
        raise RequestError("the CPU list names no CPU: give numbers such as 0-3,8")
    if len(set(requested)) != len(requested):
        raise RequestError(
            f"CPU list {quoted(format_cpu_list(requested))} names a CPU twice: name each once"
        )
    online = {cpu.cpu for cpu in system.cpus}
    _refuse(requested, online, "offline or missing", "online")
    _refuse(requested, set(system.allowed_cpus), "outside this process's affinity mask", "allowed")
    return requested


def _parsed(text: str) -> list[int]:
    try:
        return parse_cpu_list(text)
    except ValueError as error:
        raise RequestError(
            f"CPU list {quoted(text)} cannot be used: {error}; give {', '.join(POLICIES)} or "
            "numbers such as 0-3,8"
        ) from None


def _refuse(requested: list[int], usable: set[int], why: str, word: str) -> None:
    unusable = sorted(set(requested) - usable)
    if unusable:
        subject = "CPU {} is" if len(unusable) == 1 else "CPUs {} are"
        raise RequestError(
            f"{subject.format(format_cpu_list(unusable))} {why}: choose among those {word}, "
            f"{format_cpu_list(sorted(usable))}"
        )


def _too_many(policy: Policy, wanted: int, most: int, system: System) -> str:
    if policy == "cores":
        siblings = wanted <= len(system.allowed_cpus)
        further = ", or use --cpus scatter to use SMT siblings too" if siblings else ""
        return (
            f"--threads {wanted}: {wanted} threads need a physical core each, {most} can be used; "
            f"use at most {most}{further}"
        )
    where = "can be used by this process" if policy in POLICIES else "are listed by --cpus"
    return (
        f"--threads {wanted}: {wanted} threads need one CPU each, but only {most} {where}; use at "
        f"most {most}"
    )
