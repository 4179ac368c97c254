import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.figures.regimes import UNTOLD, _split, find_regimes


def names(pingpongs: list[float | None]) -> list[str]:
    return [regime.name for regime in find_regimes(pingpongs).regimes]


def test_two_distances_are_two_regimes() -> None:
    rng = random.Random(1)
    regimes = find_regimes([rng.gauss(27, 1) for _ in range(80)] + [rng.gauss(175, 9)] * 40)
    near, far = regimes.regimes
    assert near.name == "same complex (27 ns)"
    assert far.name.startswith("across complexes (1")
    assert regimes.of(30) == near
    assert regimes.of(150) == far
    assert regimes.of(None) is None


def test_no_pingpong_is_one_unnamed_regime() -> None:
    regimes = find_regimes([None, None])
    assert regimes.regimes == [UNTOLD]
    assert regimes.of(None) == UNTOLD
    assert find_regimes([]).regimes == [UNTOLD]


@pytest.mark.parametrize("spread", [0.5, 3.0, 6.0])
def test_noise_around_one_distance_is_one_regime(spread: float) -> None:
    rng = random.Random(2)
    assert names([max(10.0, rng.gauss(50, spread)) for _ in range(300)]) == ["one regime"]


def test_a_wide_spread_without_a_gap_is_one_regime() -> None:
    rng = random.Random(3)
    assert names([rng.uniform(20, 200) for _ in range(300)]) == ["one regime"]


def test_stray_pingpongs_do_not_hide_the_regimes() -> None:
    rng = random.Random(4)
    usual = [rng.gauss(27, 1) for _ in range(150)] + [rng.gauss(175, 5) for _ in range(150)]
    regimes = find_regimes([*usual, 9000.0, 12000.0])
    assert [regime.name[:4] for regime in regimes.regimes] == ["same", "acro"]
    quiet = find_regimes([*usual[:150], 9000.0])
    assert [regime.name for regime in quiet.regimes] == ["one regime"]
    assert quiet.of(9000.0) is None


def test_every_sample_of_a_clean_split_has_a_regime() -> None:
    values = [26.0, 27, 28, 33, 170, 175, 190]
    regimes = find_regimes(values)
    assert [regimes.of(v) == regimes.regimes[v > 100] for v in values] == [True] * 7


@given(st.lists(st.floats(5, 500), min_size=2, max_size=12))
def test_split_minimises_the_variance_within(values: list[float]) -> None:
    ordered = sorted(values)
    logs = [math.log(value) for value in ordered]

    def within(cut: int) -> float:
        halves = (logs[:cut], logs[cut:])
        return sum(statistics.pvariance(half) * len(half) for half in halves)

    near, _ = _split(ordered)
    least = min(within(cut) for cut in range(1, len(ordered)))
    assert within(len(near)) == pytest.approx(least, abs=1e-9)


@given(st.lists(st.one_of(st.none(), st.floats(1, 1e5)), max_size=40), st.randoms())
def test_order_does_not_matter(values: list[float | None], rng: random.Random) -> None:
    shuffled = list(values)
    rng.shuffle(shuffled)
    assert find_regimes(values) == find_regimes(shuffled)
