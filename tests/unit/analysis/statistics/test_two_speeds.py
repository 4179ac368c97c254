import math
import random

import pytest
from benchmarks.intervals import every_round
from benchmarks.processes import PROCESSES

from memgauge.analysis.statistics.two_speeds import LEAST_VALUES, two_speeds


def by_turns(rng: random.Random, lengths: list[int], noise: float = 0.01) -> list[float]:
    return [
        (110 if turn % 2 else 100) * math.exp(rng.gauss(0, noise))
        for turn, length in enumerate(lengths)
        for _ in range(length)
    ]


def test_two_speeds_that_last_are_found_with_their_share() -> None:
    found = two_speeds(by_turns(random.Random(1), [60, 20, 60, 20]))
    assert found is not None
    assert found.low == pytest.approx(100, rel=0.01)
    assert found.high == pytest.approx(110, rel=0.01)
    assert found.high_share == pytest.approx(0.25)
    assert found.stretches == 4


def test_the_unit_does_not_matter() -> None:
    values = by_turns(random.Random(2), [30, 30, 30])
    one, other = two_speeds(values), two_speeds([8 * value for value in values])
    assert one is not None
    assert other is not None
    assert other.high / other.low == pytest.approx(one.high / one.low)
    assert (one.high_share, one.stretches) == (other.high_share, other.stretches)


def test_two_speeds_in_random_order_are_noise() -> None:
    rng = random.Random(3)
    values = by_turns(rng, [100, 100])
    rng.shuffle(values)
    assert two_speeds(values) is None


def test_of_few_values_nothing_is_known() -> None:
    values = by_turns(random.Random(4), [20, 20])
    assert len(values) == LEAST_VALUES
    assert two_speeds(values) is not None
    assert two_speeds(values[1:]) is None
    assert two_speeds([]) is None
    assert two_speeds([0.0] * 100) is None
    assert two_speeds([5.0] * 100) is None


@pytest.mark.parametrize(
    "name",
    [
        "independent, 1%",
        "independent, 5%",
        "Student's t, 2 df",
        "quantised clock",
        "AR 0.5, 2%",
        "AR 0.9, 2%",
        "2% drift",
        "sine of 3%",
    ],
)
def test_one_speed_with_noise_is_not_two(name: str) -> None:
    rng = random.Random(name)
    found = 0
    for rounds in (50, 200, 400):
        for _ in range(15):
            values, _weights = every_round(PROCESSES[name](rng, rounds), rng, rounds)
            found += two_speeds(values) is not None
    assert found <= 1


@pytest.mark.parametrize("name", ["50% slow phases of 100", "15% fast phases of 20"])
def test_phases_of_a_tenth_are_found(name: str) -> None:
    rng = random.Random(name)
    found = seen = 0
    for _ in range(30):
        path = PROCESSES[name](rng, 400)
        values, _weights = every_round(path, rng, 400)
        share = sum(value > 98 if "slow" in name else value > 105 for value in values) / 400
        if 0.05 < share < 0.95:
            seen += 1
            found += two_speeds(values) is not None
    assert seen > 10
    assert found >= 0.9 * seen
