"""Groups by distance: planted ones are found, exactly, and none where distances have no jump."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.core_to_core.clusters import find_levels

NEAR, FAR = 25.0, 100.0


def planted(
    sizes: list[int], *, noise: float = 0.0, seed: int = 1
) -> tuple[list[list[int]], dict[tuple[int, int], float]]:
    """Groups of these sizes over things in a scrambled order, and the distances between all."""
    rng = random.Random(seed)
    things = [*range(sum(sizes))]
    rng.shuffle(things)
    groups, begin = [], 0
    for size in sizes:
        groups.append(sorted(things[begin : begin + size]))
        begin += size
    of = {thing: number for number, group in enumerate(groups) for thing in group}
    distances = {
        (one, other): (NEAR if of[one] == of[other] else FAR) * rng.uniform(1 - noise, 1 + noise)
        for one, other in combinations(range(len(things)), 2)
    }
    return sorted(groups), distances


@given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.integers(0, 1000))
def test_planted_groups_are_found(sizes: list[int], seed: int) -> None:
    groups, distances = planted(sizes, noise=0.1, seed=seed)
    found = find_levels(range(sum(sizes)), distances)
    if max(sizes) == 1:
        assert found == []  # all are equally far
        return
    (level,) = found
    assert level.groups == groups
    assert level.within == pytest.approx(NEAR, rel=0.1)
    assert level.across == pytest.approx(FAR, rel=0.1)


def test_groups_in_groups_are_two_levels_the_finer_first() -> None:
    distances = {
        (one, other): 10.0 if one // 2 == other // 2 else 30.0 if one // 4 == other // 4 else 90.0
        for one, other in combinations(range(8), 2)
    }
    fine, coarse = find_levels(range(8), distances)
    assert fine.groups == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert coarse.groups == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (fine.within, coarse.across) == (10.0, 90.0)


@given(st.integers(2, 12), st.integers(0, 1000))
def test_equal_distances_make_no_groups(count: int, seed: int) -> None:
    _, distances = planted([count], noise=0.1, seed=seed)
    assert find_levels(range(count), distances) == []


def test_a_ring_has_no_groups() -> None:
    count = 16
    distances = {
        (one, other): 40.0 + 3.0 * min(other - one, count - other + one)
        for one, other in combinations(range(count), 2)
    }
    assert find_levels(range(count), distances) == []


def test_two_things_have_one_distance_and_no_groups() -> None:
    assert find_levels([0, 1], {(0, 1): 50.0}) == []
