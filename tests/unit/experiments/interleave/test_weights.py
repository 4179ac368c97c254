"""Where the search for interleave weights looks, and that it finds the top of known curves."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.experiments.interleave.weights import (
    MARGIN,
    Search,
    behind,
    fast_side,
    first_weights,
    label,
)
from memgauge.model.interleave_weights import Weights, placement, reduced
from memgauge.model.memory import parse_placement

some_weights = st.lists(st.integers(0, 255), min_size=2, max_size=5).filter(any).map(tuple)


@given(some_weights)
def test_reduced_weights_are_the_same_ratio_without_a_common_divisor(weights: Weights) -> None:
    small = reduced(weights)
    assert gcd(*small) == 1
    assert [Fraction(w, sum(weights)) for w in weights] == [Fraction(w, sum(small)) for w in small]


@given(some_weights)
def test_every_placement_is_one_that_memory_takes(weights: Weights) -> None:
    nodes = range(10, 10 + len(weights))
    where = placement(list(nodes), weights)
    assert parse_placement(str(where), "--memory") == where
    assert set(where.nodes) == {n for n, w in zip(nodes, weights, strict=True) if w}
    assert label(list(nodes), weights).count("=") == len(where.nodes)


def test_two_nodes_begin_with_each_alone_and_every_step_either_way() -> None:
    assert first_weights(2, 3) == [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]
    assert first_weights(2, 1, [(10, 4), (0, 0)]) == [(1, 0), (0, 1), (1, 1), (5, 2)]


def test_more_nodes_begin_with_few_weights() -> None:
    for count in range(3, 9):
        assert len(first_weights(count, 8)) == 2 * count + 1


def test_what_lies_between_two_nodes_weights_is_measured_next() -> None:
    known = dict.fromkeys(first_weights(2, 4), 1.0) | {(3, 1): 2.0}
    assert set(Search(100).further(known)) == {(5, 2), (7, 2)}
    assert Search(6).further(known) == []
    assert Search(7).further(known) == [(5, 2)]


def test_beyond_the_first_sweep_steps_go_on_towards_a_node_alone() -> None:
    known = dict.fromkeys(first_weights(2, 4), 1.0) | {(1, 0): 2.0}
    assert Search(100).further(known) == [(5, 1)]


def test_more_nodes_are_stepped_along_each_ones_line() -> None:
    known = dict.fromkeys(first_weights(3, 2), 1.0) | {(2, 1, 1): 2.0}
    assert set(Search(100).further(known)) == {
        *((3, 2, 2), (3, 1, 1)),  # of the first node, between 1:1:1, 2:1:1 and it alone
        *((4, 1, 2), (2, 2, 1)),  # of the second, between none of it and it alone
        *((4, 2, 1), (2, 1, 2)),
    }


def bandwidth(speeds: tuple[float, ...], weights: Weights) -> float:
    """Each node takes as long as its share needs; the slowest ends last."""
    total = sum(weights)
    return 1 / max(w / total / s for w, s in zip(weights, speeds, strict=True))


def found_by(search: Search, speeds: tuple[float, ...], up_to: int = 4) -> tuple[Weights, int]:
    known = {w: bandwidth(speeds, w) for w in first_weights(len(speeds), up_to)}
    while further := search.further(known):
        known |= {w: bandwidth(speeds, w) for w in further}
    return max(known, key=lambda w: (known[w], -sum(w))), len(known)


@pytest.mark.parametrize(
    ("speeds", "best"),
    [
        ((3.0, 1.0), (3, 1)),
        ((1.0, 3.0), (1, 3)),
        ((5.0, 2.0), (5, 2)),
        ((9.0, 1.0), (9, 1)),
        ((1.0, 1.0), (1, 1)),
        ((3.0, 3.0, 1.0), (3, 3, 1)),
    ],
)
def test_the_search_finds_weights_in_the_ratio_of_the_speeds(
    speeds: tuple[float, ...], best: Weights
) -> None:
    weights, tried = found_by(Search(64), speeds)
    assert bandwidth(speeds, weights) >= 0.97 * sum(speeds)
    assert tried < 60
    if len(speeds) == 2:
        assert weights == best


@given(st.floats(0.05, 20.0))
def test_any_two_speeds_are_used_together_to_a_few_per_cent(ratio: float) -> None:
    weights, _ = found_by(Search(128), (ratio, 1.0))
    assert bandwidth((ratio, 1.0), weights) >= 0.96 * (ratio + 1)


def test_the_search_asks_for_no_more_than_pages_can_be_dealt() -> None:
    weights, tried = found_by(Search(5), (1.0, 1.7))
    assert sum(weights) <= 5
    assert tried <= 12


def test_a_flat_top_is_not_searched_in_finer_steps() -> None:
    known = dict.fromkeys(first_weights(2, 4), 10.0) | {(1, 0): 9.0, (0, 1): 9.0}
    assert Search(1000).further(known) == []


def test_what_others_are_compared_with_is_never_ruled_out() -> None:
    speeds: dict[Weights, float] = {
        (1, 0): 1.0,
        (0, 1): 0.1,
        (1, 1): 0.2,
        (3, 1): 10.0,
        (4, 1): 10 * (1 - MARGIN) - 0.1,
    }
    assert behind(speeds) == {(4, 1)}
    assert behind({}) == set()


def test_a_speed_of_few_values_is_not_told() -> None:
    assert fast_side([1.0] * 7) is None
    assert fast_side([1.0] * 8) == 1.0
