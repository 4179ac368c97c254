from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.published import alone, stream_teams

from memgauge.analysis.statistics.bends import LEAST_POINTS, find_bends, solve


@given(st.integers(2, 12), st.floats(0.0, 0.79), st.floats(0.1, 100))
def test_the_only_bend_of_two_straight_pieces_is_found(
    place: int, after: float, slope: float
) -> None:
    """Without noise exactly, wherever two points lie beyond it."""
    curve = [(x, alone(slope * (min(x, place) + after * max(0, x - place)))) for x in range(1, 16)]
    (bend,) = find_bends(curve)
    assert bend.place == place
    assert bend.low <= place <= bend.high
    assert bend.gain_before == pytest.approx(slope, rel=1e-6)
    assert bend.gain_after == pytest.approx(after * slope, abs=1e-6 * slope)


def test_places_need_not_be_dense() -> None:
    curve = [(x, alone(10.0 * min(x, 8) + max(0, x - 8))) for x in (1, 2, 4, 8, 16, 32, 64)]
    assert [bend.place for bend in find_bends(curve)] == [8]


def test_a_curve_that_bends_upwards_or_hardly_has_no_bend() -> None:
    assert find_bends([(x, alone(float(x**2))) for x in range(1, 12)]) == []
    assert find_bends([(x, alone(min(x, 6) + 0.9 * max(0, x - 6))) for x in range(1, 12)]) == []
    assert find_bends([(x, alone(100.0 - x)) for x in range(1, 12)]) == []


@pytest.mark.parametrize("count", range(LEAST_POINTS))
def test_few_points_have_no_bend(count: int) -> None:
    assert find_bends([(x, alone(float(min(x, 2)))) for x in range(1, count + 1)]) == []


def test_the_fit_is_the_best_of_all_lines() -> None:
    """Against a brute-force search of knots' heights: no line with the same bends fits better."""
    teams = stream_teams("copy")[:16]
    first, second = find_bends([(team.threads, team.bandwidth) for team in teams])
    xs = [team.threads for team in teams]
    ys = [team.bandwidth.value for team in teams]
    knots = [1, first.place, second.place, 16]
    gains = [first.gain_before, first.gain_after, second.gain_after]
    steps = [gain * (b - a) for gain, (a, b) in zip(gains, pairwise(knots), strict=True)]

    def error(heights: list[float]) -> float:
        total = 0.0
        for x, y in zip(xs, ys, strict=True):
            at = next(i for i in range(3) if x <= knots[i + 1])
            part = (x - knots[at]) / (knots[at + 1] - knots[at])
            total += (heights[at] + part * (heights[at + 1] - heights[at]) - y) ** 2
        return total

    level = sum(y - yy for y, yy in zip(ys, _shape(xs, knots, steps), strict=True)) / len(xs)
    heights = [level, level + steps[0], level + sum(steps[:2]), level + sum(steps)]
    best = error(heights)
    for at in range(4):
        for change in (-0.01, 0.01):
            moved = [*heights]
            moved[at] += change
            assert error(moved) > best


def _shape(xs: list[int], knots: list[int], steps: list[float]) -> list[float]:
    return [
        sum(
            step * min(1.0, max(0.0, (x - a) / (b - a)))
            for step, (a, b) in zip(steps, pairwise(knots), strict=True)
        )
        for x in xs
    ]


def test_small_systems_are_solved_and_singular_ones_refused() -> None:
    assert solve([[0.0, 2.0], [3.0, 1.0]], [4.0, 5.0]) == pytest.approx([1.0, 2.0])
    assert solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0]) is None
