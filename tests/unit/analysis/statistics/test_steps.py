"""Steps are found with their size, and noise has none."""

from __future__ import annotations

import random

import pytest

from memgauge.analysis.statistics.noise import noise_beside
from memgauge.analysis.statistics.steps import (
    Piece,
    chance_of_short,
    difference,
    level_of,
    levelled_by,
    steps_of,
)

FLOOR = 0.01


def series(rng: random.Random, levels: list[tuple[int, float]]) -> list[float | None]:
    return [level + rng.gauss(0, 0.01) for count, level in levels for _ in range(count)]


def test_a_step_has_its_place_and_its_size() -> None:
    values = series(random.Random(1), [(40, 0.0), (30, -0.08)])
    (step,) = steps_of(values, FLOOR, 4)
    assert step.low <= 40 <= step.high
    assert abs(step.size + 0.08) <= step.half_width < 0.02
    assert step.before == Piece(0, step.place)
    assert step.after == Piece(step.place, 70)
    assert step.p_value < 1e-6


def test_two_steps_are_between_three_pieces() -> None:
    values = series(random.Random(2), [(40, 0.0), (30, -0.08), (40, 0.05)])
    first, second = steps_of(values, FLOOR, 4)
    assert first.after == second.before
    assert first.size < 0 < second.size


def test_missing_values_keep_their_places() -> None:
    rng = random.Random(3)
    values = series(rng, [(40, 0.0), (40, 0.1)])
    holed = [None if at % 5 == 0 else value for at, value in enumerate(values)]
    (step,) = steps_of(holed, FLOOR, 4)
    assert step.low <= 40 <= step.high


@pytest.mark.parametrize("length", [0, 1, 7])
def test_few_values_have_no_step(length: int) -> None:
    assert steps_of([float(at > length / 2) for at in range(length)], FLOOR, 4) == []


def test_values_that_are_all_missing_have_no_step() -> None:
    assert steps_of([None] * 20, FLOOR, 4) == []


def test_levels_are_medians() -> None:
    values: list[float | None] = [1.0, 2.0, None, 9.0, 5.0, None]
    assert level_of(values, Piece(0, 4)) == 2.0
    assert level_of(values, Piece(5, 6)) is None
    assert levelled_by(values, [Piece(0, 4), Piece(4, 6)]) == [-1.0, 0.0, None, 7.0, 0.0, None]


def test_the_difference_of_means_of_many_values_has_the_error_of_theory() -> None:
    values: list[float | None] = [*([0.0] * 100), *([1.0] * 100)]
    size, error = difference(values, Piece(0, 100), Piece(100, 200), 1.0)
    assert size == 1.0
    assert error == pytest.approx(1.2533 * (2 / 100) ** 0.5)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_the_noise_of_correlated_values_is_that_of_their_mean(correlation: float) -> None:
    rng = random.Random(4)
    values: list[float | None] = []
    value = 0.0
    for _ in range(4000):
        value = correlation * value + rng.gauss(0, 1)
        values.append(value)
    noise = noise_beside(values, 1, 0.001)
    assert noise.deviation == pytest.approx(1 / (1 - correlation), rel=0.15)
    assert noise.freedom == pytest.approx(4000 * (1 - correlation) / (1 + correlation), rel=0.2)


def test_short_pieces_and_their_number_make_the_noise_larger() -> None:
    rng = random.Random(5)
    values: list[float | None] = [rng.gauss(0, 1) for _ in range(40)]
    few, many = (noise_beside(values, pieces, 0.001) for pieces in (1, 6))
    assert many.deviation > few.deviation
    assert many.freedom < few.freedom


def test_disturbed_values_explain_a_short_piece_and_a_level_does_not() -> None:
    quiet, disturbed = [0.0] * 40, [0.0] * 30 + [-0.1] * 10
    assert chance_of_short([-0.1] * 4, quiet) == pytest.approx((1 / 41) ** 4)
    assert chance_of_short([-0.1] * 4, disturbed) == pytest.approx((11 / 41) ** 4)
    assert chance_of_short([-0.1, -0.1, 0.0, -0.1], quiet) > chance_of_short([-0.1] * 4, quiet)
