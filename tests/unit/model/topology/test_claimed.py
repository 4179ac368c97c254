"""How the topology groups CPUs, whatever order and whichever of them are asked about."""

from __future__ import annotations

from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.experiments.machines import a_machine

from memgauge.model.system import Cache, System
from memgauge.model.topology.claimed import Claimed, claimed_groups, shared_level


def with_complexes(system: System, cores: int) -> System:
    """The machine with a last-level cache for each so many cores."""
    groups: dict[int, list[int]] = {}
    for cpu in system.cpus:
        groups.setdefault(cpu.core // cores, []).append(cpu.cpu)
    caches = [
        Cache(
            level=3, type="unified", bytes=1 << 25, line_bytes=64, ways=16, sets=None, cpus=members
        )
        for members in groups.values()
    ]
    return msgspec.structs.replace(system, caches=caches)


def all_cpus(system: System) -> list[int]:
    return [cpu.cpu for cpu in system.cpus]


def test_levels_that_group_alike_are_one_and_the_last_is_the_machine() -> None:
    system = with_complexes(a_machine(8, sockets=2, threads_per_core=2), 4)
    claims = claimed_groups(system, all_cpus(system))
    assert [one.name for one in claims] == [
        "core",
        "L3 cache",
        "NUMA node and package",
        "machine",
    ]
    assert [len(one.groups) for one in claims] == [16, 4, 2, 1]
    assert claims[0].groups[0] == [0, 16]
    assert claims[1].groups[1] == [4, 5, 6, 7, 20, 21, 22, 23]


def test_a_level_that_groups_no_two_of_the_cpus_is_left_out() -> None:
    system = with_complexes(a_machine(8, threads_per_core=2), 4)
    claims = claimed_groups(system, [0, 1, 4])
    assert [one.name for one in claims] == ["L3 cache", "NUMA node and package"]
    assert shared_level(claims, 0, 1) == 0
    assert shared_level(claims, 0, 4) == 1


def test_what_is_not_reported_of_every_cpu_is_no_level() -> None:
    system = with_complexes(a_machine(4), 2)
    hidden = msgspec.structs.replace(system, caches=system.caches[:1])
    assert [one.name for one in claimed_groups(hidden, [0, 1, 2, 3])] == ["NUMA node and package"]


def test_a_level_that_cuts_through_a_finer_one_is_left_out() -> None:
    system = with_complexes(a_machine(6), 2)
    halves = [
        msgspec.structs.replace(system.caches[0], level=4, cpus=cpus)
        for cpus in ([0, 1, 2], [3, 4, 5])
    ]
    torn = msgspec.structs.replace(system, caches=[*system.caches, *halves])
    assert [one.name for one in claimed_groups(torn, range(6))] == [
        "L3 cache",
        "NUMA node and package",
    ]


def test_names_are_joined_as_one_says_them() -> None:
    alike = Claimed(names=("L3 cache", "NUMA node", "package"), group_of={0: 0})
    assert alike.name == "L3 cache, NUMA node and package"
    assert Claimed(names=("core",), group_of={0: 0}).name == "core"


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 2), st.integers(1, 4), st.data())
def test_each_level_is_coarser_than_the_one_before(
    cores: int, sockets: int, threads: int, complex_: int, data: st.DataObject
) -> None:
    machine = a_machine(cores, sockets=sockets, threads_per_core=threads)
    system = with_complexes(machine, complex_)
    every = all_cpus(system)
    cpus = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    claims = claimed_groups(system, cpus)
    assert len(claims[-1].groups) == 1
    for finer, coarser in pairwise(claims):
        assert len(coarser.groups) < len(finer.groups)
        for group in finer.groups:
            assert len({coarser.group_of[cpu] for cpu in group}) == 1
