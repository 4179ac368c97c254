"""Sweeps are thinned evenly, both of their ends kept."""

from __future__ import annotations

import pytest

from memgauge.experiments.shared.importance import Importance, Part, Work


def part(count: int, least: int | None) -> Part:
    names = [str(index) for index in range(count)]
    return Part(importance=Importance.LEVELS, points=names, works=[Work()] * count, least=least)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 30, 54, 110])
@pytest.mark.parametrize("least", [None, 1, 2, 3, 4, 12])
def test_halvings_are_all_points_once_and_even(count: int, least: int | None) -> None:
    halvings = part(count, least).halvings()
    assert sorted(index for one in halvings for index in one) == list(range(count))
    there: set[int] = set()
    for one in halvings:
        there |= set(one)
        assert {0, count - 1} <= there
        steps = {b - a for a, b in zip(sorted(there)[:-1], sorted(there)[1:-1], strict=False)}
        assert len(steps) <= 1, "all but the last step are equal"
        assert least is None or len(halvings) == 1 or len(there) >= least


def test_what_is_no_sweep_is_not_thinned() -> None:
    assert part(100, None).halvings() == [list(range(100))]


def test_a_sweep_that_is_coarse_already_stays_whole() -> None:
    assert part(5, 3).halvings() == [list(range(5))]
    assert part(7, 3).halvings()[0] == [0, 2, 4, 6]
