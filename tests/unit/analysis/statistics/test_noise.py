"""What neighbours share is noticed, and changes of level do not count as noise."""

import math
import random

import pytest

from memgauge.analysis.statistics.noise import (
    MOST_CORRELATED,
    correlation_of,
    deviation_within,
    long_run_deviation,
)


def autoregressive(rng: random.Random, count: int, correlation: float) -> list[float]:
    """Normal, of deviation 1."""
    value, values = rng.gauss(0, 1), []
    for _ in range(count):
        values.append(value)
        value = correlation * value + rng.gauss(0, math.sqrt(1 - correlation**2))
    return values


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9])
def test_correlation_and_long_run_noise_of_a_known_process(correlation: float) -> None:
    values = autoregressive(random.Random(3), 4000, correlation)
    truth = math.sqrt((1 + correlation) / (1 - correlation))
    assert correlation - 0.3 <= correlation_of(values) <= correlation + 0.05
    assert 0.35 * truth < long_run_deviation(values) < 1.3 * truth
    assert deviation_within([values]) == pytest.approx(truth, rel=0.35)


def test_changes_of_level_are_no_noise() -> None:
    rng = random.Random(4)
    values = [x + 50 * (at // 200 % 2) for at, x in enumerate(autoregressive(rng, 4000, 0.0))]
    assert correlation_of(values) < 0.1
    assert long_run_deviation(values) == pytest.approx(1, rel=0.2)


def test_slow_noise_beside_fast_shows_in_means_of_many() -> None:
    """A process whose neighbours hardly correlate, but whose means do."""
    rng = random.Random(5)
    slow = autoregressive(rng, 4000, 0.95)
    values = [one + rng.gauss(0, 2) for one in slow]
    truth = math.sqrt(1.95 / 0.05 + 4)
    assert 0.6 * truth < deviation_within([values]) < 1.3 * truth
    assert deviation_within([values[:40], values[40:60]]) >= 0


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [5.0] * 100])
def test_values_too_few_or_all_alike_have_no_noise_that_is_known(values: list[float]) -> None:
    assert correlation_of(values) == 0
    assert long_run_deviation(values) >= 0
    assert deviation_within([values]) == 0


def test_a_drift_is_noise_that_hides_changes() -> None:
    assert correlation_of([float(at) for at in range(100)]) == MOST_CORRELATED
