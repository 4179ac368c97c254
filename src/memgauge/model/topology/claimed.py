"""How the topology groups CPUs: by core, cache, NUMA node and package, as the system claims it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.model.system import System

MACHINE = "machine"


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """One way to group CPUs."""

    names: tuple[str, ...]
    """What the members of a group share, such as `core`, `L3 cache` or `NUMA node`; several where
    they group the CPUs alike."""
    group_of: dict[int, int]
    """Number of each CPU's group, from 0 in the order of the CPUs."""

    @property
    def name(self) -> str:
        """Such as `L3 cache and package`."""
        return " and ".join(filter(None, (", ".join(self.names[:-1]), self.names[-1])))

    @property
    def groups(self) -> list[list[int]]:
        """CPUs of each group."""
        found: dict[int, list[int]] = {}
        for cpu, group in self.group_of.items():
            found.setdefault(group, []).append(cpu)
        return list(found.values())


def claimed_groups(system: System, cpus: Sequence[int]) -> list[Claimed]:
    """All ways to group these CPUs, the finest first; the last is one group of all.

    A level that parts no two CPUs otherwise than another is named with it; one that groups no two
    CPUs is left out, as is one that the system does not report of every CPU, and one that cuts
    through groups of a finer level.

    Args:
        system: The machine; all of `cpus` are among its own.
        cpus: CPUs to group, each once.
    """
    levels = [(name, _numbered(keys, cpus)) for name, keys in _levels(system)]
    known = [(name, groups) for name, groups in levels if groups is not None]
    known.sort(key=lambda level: -len(set(level[1].values())))
    found: list[Claimed] = []
    for name, groups in known:
        if found and found[-1].group_of == groups:
            found[-1] = Claimed(names=(*found[-1].names, name), group_of=groups)
        elif _groups_any(groups) and (not found or _is_coarser(groups, found[-1].group_of)):
            found.append(Claimed(names=(name,), group_of=groups))
    if not found or len(found[-1].groups) > 1:
        found.append(Claimed(names=(MACHINE,), group_of=dict.fromkeys(cpus, 0)))
    return found


def shared_level(claims: Sequence[Claimed], first: int, second: int) -> int:
    """Place of the finest of `claims` that has both CPUs in one group.

    Args:
        claims: From `claimed_groups`.
        first: A CPU.
        second: Another.
    """
    return next(
        place
        for place, claim in enumerate(claims)
        if claim.group_of[first] == claim.group_of[second]
    )


def _levels(system: System) -> list[tuple[str, dict[int, object]]]:
    """A key of each CPU that is equal within a group, by name of the level."""
    caches: dict[int, dict[int, object]] = {}
    for number, cache in enumerate(system.caches):
        if cache.type != "instruction":
            caches.setdefault(cache.level, {}).update(dict.fromkeys(cache.cpus, number))
    return [
        ("core", {cpu.cpu: cpu.core for cpu in system.cpus}),
        *((f"L{level} cache", keys) for level, keys in sorted(caches.items())),
        ("NUMA node", {cpu.cpu: cpu.node for cpu in system.cpus}),
        ("package", {cpu.cpu: cpu.socket for cpu in system.cpus}),
    ]


def _numbered(keys: dict[int, object], cpus: Sequence[int]) -> dict[int, int] | None:
    """Groups numbered in the order of the CPUs; None where a CPU has no key."""
    if not all(cpu in keys for cpu in cpus):
        return None
    numbers: dict[object, int] = {}
    return {cpu: numbers.setdefault(keys[cpu], len(numbers)) for cpu in cpus}


def _groups_any(groups: dict[int, int]) -> bool:
    return len(set(groups.values())) < len(groups)


def _is_coarser(groups: dict[int, int], finer: dict[int, int]) -> bool:
    """Whether each of the finer groups lies in one of these."""
    return len({(finer[cpu], group) for cpu, group in groups.items()}) == len(set(finer.values()))
