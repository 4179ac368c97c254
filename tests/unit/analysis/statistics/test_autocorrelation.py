import math
import random
import statistics

import pytest

from memgauge.analysis.statistics.autocorrelation import autocorrelation_time


def autoregressive(rng: random.Random, count: int, phi: float) -> list[float]:
    series, state = [], rng.gauss(0, 1)
    for _ in range(count):
        state = phi * state + math.sqrt(1 - phi * phi) * rng.gauss(0, 1)
        series.append(10 + state)
    return series


def test_autocorrelation_time_of_a_known_process() -> None:
    rng = random.Random(24)
    independent = [autocorrelation_time(autoregressive(rng, 400, 0.0)) for _ in range(20)]
    slow = [autocorrelation_time(autoregressive(rng, 4000, 0.8)) for _ in range(5)]
    assert statistics.mean(independent) < 1.6
    # Of the median's indicator, whose correlation is 2/pi asin(phi^lag) (arcsine law).
    expected = 1 + 2 * sum(2 / math.pi * math.asin(0.8**lag) for lag in range(1, 100))
    assert statistics.mean(slow) == pytest.approx(expected, rel=0.25)


def test_few_values_count_for_themselves() -> None:
    assert autocorrelation_time([1.0, 2.0, 3.0]) == 1.0
    assert autocorrelation_time([5.0] * 50) == 1.0
