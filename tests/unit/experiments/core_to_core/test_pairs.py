"""Which pairs are measured: all of few CPUs, of many some of each relation and every CPU."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from tests.unit.experiments.machines import a_machine
from tests.unit.model.topology.test_claimed import all_cpus, with_complexes

from memgauge.experiments.core_to_core.pairs import chosen_pairs
from memgauge.model.system import System
from memgauge.model.topology.claimed import claimed_groups, shared_level

MOST = 2016


def chosen(system: System, most: int = MOST) -> list[tuple[int, int]]:
    cpus = all_cpus(system)
    return chosen_pairs(claimed_groups(system, cpus), cpus, most)


def test_all_pairs_of_few_cpus_near_ones_first() -> None:
    system = with_complexes(a_machine(4, sockets=2, threads_per_core=2), 2)
    pairs = chosen(system)
    assert sorted(pairs) == [*combinations(range(16), 2)]
    claims = claimed_groups(system, all_cpus(system))
    levels = [shared_level(claims, *pair) for pair in pairs]
    assert levels == sorted(levels)


@pytest.mark.parametrize(
    ("cores", "sockets", "threads", "complex_"), [(64, 2, 2, 4), (72, 4, 2, 72), (1000, 1, 1, 8)]
)
def test_a_sample_has_each_cpu_and_each_relation(
    cores: int, sockets: int, threads: int, complex_: int
) -> None:
    system = with_complexes(a_machine(cores, sockets=sockets, threads_per_core=threads), complex_)
    pairs = chosen(system)
    assert len(pairs) == len(set(pairs)) == MOST
    assert all(one < other for one, other in pairs)
    assert {cpu for pair in pairs for cpu in pair} == set(all_cpus(system))
    claims = claimed_groups(system, all_cpus(system))
    counts = Counter(shared_level(claims, *pair) for pair in pairs)
    assert set(counts) == set(range(len(claims)))
    assert pairs == chosen(system), "the same pairs each time"


def test_each_two_complexes_have_a_pair() -> None:
    system = with_complexes(a_machine(64, sockets=2, threads_per_core=2), 4)
    claims = claimed_groups(system, all_cpus(system))
    complexes = next(one for one in claims if one.name == "L3 cache")
    found = {tuple(sorted(complexes.group_of[cpu] for cpu in pair)) for pair in chosen(system)}
    assert found >= {*combinations(range(32), 2)}


@pytest.mark.parametrize("most", [1, 2, 50])
def test_no_more_than_were_asked_for(most: int) -> None:
    assert len(chosen(a_machine(40), most)) == most
