import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.published import alone

from memgauge.analysis.statistics.bends import LEAST_POINTS, Curve, find_bends
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.segmented import MOST_PLACES, lines, solve


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
    rng = random.Random(6)
    xs = list(range(1, 17))
    ys = [rng.gauss(10 * min(x, 5) + 5 * max(0, min(x, 11) - 5), 0.3) for x in xs]
    first, second = find_bends([(x, alone(y)) for x, y in zip(xs, ys, strict=True)])
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


def noisy(
    law: Callable[[int], float], count: int, share: float, seed: int, *, known: bool = False
) -> Curve:
    """A curve with normal noise, whose size the intervals tell or not."""
    rng = random.Random(seed)
    values = [law(x) * (1 + rng.gauss(0, share)) for x in range(1, count + 1)]
    half = 1.96 * share
    return [
        (x, Estimate(value, value * (1 - half), value * (1 + half)) if known else alone(value))
        for x, value in enumerate(values, start=1)
    ]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("count", [5, 8, 16])
@pytest.mark.parametrize("law", [lambda x: 10.0 * x, lambda _: 10.0], ids=["straight", "level"])
def test_noise_bends_at_most_one_of_twenty_curves(
    law: Callable[[int], float], count: int, known: bool
) -> None:
    bent = sum(bool(find_bends(noisy(law, count, 0.02, seed, known=known))) for seed in range(200))
    assert bent <= 10


@pytest.mark.parametrize(
    "law",
    [
        lambda x: 1 - math.exp(-x / 4),
        lambda x: x / math.hypot(1, x / 8),
        lambda x: x / (1 + 0.1 * (x - 1)),
    ],
    ids=["exponential", "hyperbola", "Amdahl"],
)
@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_smooth_saturation_bends_by_and_by(law: Callable[[int], float], share: float) -> None:
    for seed in range(10):
        (bend,) = find_bends(noisy(law, 16, share, seed))
        assert bend.low <= bend.place <= bend.high
        assert bend.is_gradual
        assert bend.gain_after < 0.5 * bend.gain_before


def test_two_places_that_stand_out_are_two() -> None:
    def law(x: int) -> float:
        return 10.0 * min(x, 5) + 4 * max(0, min(x, 11) - 5)

    found = [[bend.place for bend in find_bends(noisy(law, 16, 0.01, seed))] for seed in range(20)]
    assert sum(one in ([5, 11], [5, 10], [5, 12], [6, 11]) for one in found) >= 18


def test_of_a_long_curve_not_all_pairs_are_tried_and_the_bends_are_found() -> None:
    def law(x: int) -> float:
        return 10.0 * min(x, 107) + 4 * max(0, min(x, 251) - 107)

    curve = [(x, alone(law(x))) for x in range(1, 401)]
    assert [bend.place for bend in find_bends(curve)] == [107, 251]
    xs = [float(x) for x, _ in curve]
    pairs = sum(len(one.places) == 2 for one in lines(xs, [law(x) for x, _ in curve], 2))
    assert pairs < 2 * MOST_PLACES**2


def test_a_fit_of_sums_is_that_of_normal_equations() -> None:
    rng = random.Random(2)
    xs = [1.0, 2.0, 4.0, 7.0, 8.0, 12.0, 16.0]
    ys = [rng.random() for _ in xs]
    columns = [[1.0] * 7, xs, [max(0.0, x - 2) for x in xs], [max(0.0, x - 7) for x in xs]]
    matrix = [[dot(a, b) for a in columns] for b in columns]
    weights = solve(matrix, [dot(column, ys) for column in columns])
    assert weights is not None
    left = [y - dot(weights, row) for y, row in zip(ys, zip(*columns, strict=True), strict=True)]
    (fit,) = (one for one in lines(xs, ys, 2) if one.places == (1, 3))
    assert fit.error == pytest.approx(dot(left, left))
    assert fit.slopes == pytest.approx([weights[1], sum(weights[1:3]), sum(weights[1:])])


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_small_systems_are_solved_and_singular_ones_refused() -> None:
    assert solve([[0.0, 2.0], [3.0, 1.0]], [4.0, 5.0]) == pytest.approx([1.0, 2.0])
    assert solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0]) is None
