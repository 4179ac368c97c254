import math
import random
import statistics
from itertools import pairwise

import pytest
from benchmarks.intervals import as_the_runner, every_round
from benchmarks.processes import PROCESSES
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import (
    MAD_TO_SIGMA,
    bounds,
    has_interval,
    precision,
    regularized_beta,
    sustained,
)

NORMAL_P90 = 1.2815515655446004


def test_the_median_absolute_deviation_is_turned_into_a_standard_deviation() -> None:
    quartile = statistics.NormalDist().inv_cdf(0.75)
    assert pytest.approx(1 / quartile, abs=1e-6) == MAD_TO_SIGMA


def normal(rng: random.Random, count: int) -> list[float]:
    return [rng.gauss(10, 1) for _ in range(count)]


def interval(
    values: list[float], quantile: float = 0.9, weights: list[float] | None = None
) -> tuple[float, float] | None:
    """Both ends of the quantile's interval; None where the samples are too few for one."""
    estimate = sustained(values, quantile, weights)
    return bounds(estimate) if estimate is not None and has_interval(estimate) else None


def misses(name: str, rounds: int, runs: int, quantile: float = 0.9) -> int:
    """How many of the intervals do not hold the quantile of the stretch."""
    rng = random.Random(f"{name} {rounds} {quantile}")
    missed = 0
    for _ in range(runs):
        path = PROCESSES[name](rng, rounds)
        ends = interval(every_round(path, rng, rounds)[0], quantile)
        assert ends is not None
        missed += not ends[0] - 1e-9 <= path.quantile(quantile) <= ends[1] + 1e-9
    return missed


def allowed(runs: int, share: float = 0.05) -> int:
    """Misses that a share of them exceeds once in a thousand tests."""
    likely = (n for n in range(1, runs) if regularized_beta(share, n, runs - n + 1) > 0.001)
    return max(likely)


@pytest.mark.parametrize("name", PROCESSES)
def test_intervals_hold_the_quantile_of_the_stretch_whatever_the_process(name: str) -> None:
    for rounds, runs in ((16, 100), (50, 100), (200, 40)):
        assert misses(name, rounds, runs) <= allowed(runs)


@pytest.mark.parametrize("rounds", [6, 15, 100])
def test_so_do_those_of_the_median(rounds: int) -> None:
    for name in ("independent, 5%", "AR 0.9, 2%", "50% slow phases of 100"):
        assert misses(name, rounds, 100, 0.5) <= allowed(100)


def test_the_fast_side_of_latency_is_held() -> None:
    rng = random.Random(26)
    runs, truth = 200, 10 - NORMAL_P90
    ends = [interval(normal(rng, 60), 0.1) for _ in range(runs)]
    missed = sum(one is None or not one[0] <= truth <= one[1] for one in ends)
    assert missed <= allowed(runs)


@pytest.mark.parametrize("name", ["independent, 5%", "AR 0.9, 2%", "5% drift", "sine of 3%"])
def test_intervals_of_points_that_are_sampled_less_often_hold_too(name: str) -> None:
    rng = random.Random(name)
    runs, missed = 60, 0
    for _ in range(runs):
        path = PROCESSES[name](rng, 300)
        values, weights = as_the_runner(path, rng, 300, 0.02, 0.9)
        assert sum(weights) == 300
        ends = interval(values, 0.9, weights)
        assert ends is not None
        missed += not ends[0] <= path.quantile(0.9) <= ends[1]
    assert missed <= allowed(runs)


def test_stopping_when_narrow_would_not_hold() -> None:
    """Why a run goes on: samples of the first rounds say nothing about drift after them."""
    rng = random.Random(27)
    missed = 0
    for _ in range(20):
        path = PROCESSES["5% drift"](rng, 400)
        values = every_round(path, rng, 400)[0]
        look = 16
        while precision(sustained(values[:look])) > 0.01:
            look = int(look * 1.25) + 1
        ends = interval(values[:look])
        assert ends is not None
        missed += not ends[0] <= path.quantile(0.9) <= ends[1]
    assert missed == 20


def binomial(count: int, share: float, most: int) -> float:
    """P(Bin(count, share) <= most), summed."""
    return sum(
        math.comb(count, hits) * share**hits * (1 - share) ** (count - hits)
        for hits in range(most + 1)
    )


@given(st.integers(6, 120), st.sampled_from([0.9, 0.5]))
def test_ranks_miss_by_the_binomial_in_at_most_one_case_of_twenty(
    count: int, quantile: float
) -> None:
    """And no narrower pair of ordered values does."""
    ends = interval([float(rank) for rank in range(1, count + 1)], quantile)
    if count < (29 if quantile == 0.9 else 6):
        assert ends is None or (count >= 16 and ends[1] > count)
        return
    assert ends is not None
    low, high = int(ends[0]), int(ends[1])

    def miss(lower: int, upper: int) -> float:
        return binomial(count, quantile, lower - 1) + 1 - binomial(count, quantile, upper - 1)

    assert miss(low, high) <= 0.05 + 1e-9
    width = high - low
    narrower = [miss(at, at + width - 1) for at in range(max(1, low - 9), count - width + 2)]
    assert min(narrower, default=1.0) > 0.05 - 1e-9


@pytest.mark.parametrize(
    ("count", "ranks"),
    [(29, (21, 29)), (36, (29, 36)), (50, (41, 50)), (100, (84, 96)), (200, (172, 189))],
)
def test_ranks_of_the_ninetieth_percentile(count: int, ranks: tuple[int, int]) -> None:
    assert interval([float(rank) for rank in range(1, count + 1)]) == ranks


@given(
    st.lists(st.floats(1, 1e3), min_size=1, max_size=60),
    st.integers(1, 9),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_equal_weights_are_none(values: list[float], weight: int, quantile: float) -> None:
    assert sustained(values, quantile, [float(weight)] * len(values)) == sustained(values, quantile)


def test_a_weight_moves_the_quantile_as_repetition_does() -> None:
    rng = random.Random(28)
    values = normal(rng, 90)
    weights = [float(rng.choice((1, 2, 4))) for _ in values]
    repeated = [v for v, w in zip(values, weights, strict=True) for _ in range(int(w))]
    weighted, plain = sustained(values, 0.9, weights), sustained(repeated, 0.9)
    assert weighted is not None
    assert plain is not None
    assert weighted.value == plain.value
    assert weighted.precision > plain.precision, "a repeated value tells no more than one"


@given(
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.floats(0.001, 0.999),
)
def test_regularized_beta_is_the_binomial_tail(ranks: tuple[int, int], p: float) -> None:
    count, least = ranks
    tail = sum(
        math.comb(count, hits) * p**hits * (1 - p) ** (count - hits)
        for hits in range(least, count + 1)
    )
    assert regularized_beta(p, least, count - least + 1) == pytest.approx(tail, abs=1e-9)


def test_regularized_beta_agrees_with_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    for a, b, x in [(180, 21, 0.9), (18.3, 2.7, 0.83), (0.7, 4.2, 0.01), (900, 101, 0.92)]:
        assert regularized_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9)


@given(st.lists(st.floats(1, 1e3), min_size=1, max_size=120), st.sampled_from([0.1, 0.5, 0.9]))
def test_scaling_scales_the_estimate(values: list[float], quantile: float) -> None:
    one, two = sustained(values, quantile), sustained([2 * v for v in values], quantile)
    assert one is not None
    assert two == Estimate(2 * one.value, 2 * one.low, 2 * one.high)


@given(st.lists(st.floats(1, 1e3), min_size=1, max_size=120), st.sampled_from([0.1, 0.5, 0.9]))
def test_value_lies_within_its_bounds_and_the_data(values: list[float], quantile: float) -> None:
    estimate = sustained(values, quantile)
    assert estimate is not None
    assert estimate.low <= estimate.value <= estimate.high
    assert min(values) <= estimate.value <= max(values)


def test_median_is_the_median() -> None:
    for values in ([3.0, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0]):
        estimate = sustained(values, 0.5)
        assert estimate is not None
        assert estimate.value == statistics.median(values)


def test_fast_sides_mirror_each_other() -> None:
    values = [float(v * v % 97) + 1 for v in range(1, 90)]
    fast, slow = sustained(values, 0.9), sustained([-v for v in values], 0.1)
    assert fast is not None
    assert slow is not None
    assert (fast.value, fast.low, fast.high) == (-slow.value, -slow.high, -slow.low)


def test_more_rounds_are_never_much_wider() -> None:
    rng = random.Random(23)
    values = normal(rng, 1600)
    widths = [precision(sustained(values[:count])) for count in (100, 200, 400, 800, 1600)]
    assert all(later < earlier * 1.15 for earlier, later in pairwise(widths))
    assert widths[-1] < widths[0] / 2


def test_too_few_samples_give_a_value_and_no_interval() -> None:
    few = [float(rank) for rank in range(16)]
    assert [interval(few[:n]) is None for n in (15, 16)] == [True, False]
    assert [interval(few[:n], 0.1) is None for n in (15, 16)] == [True, False]
    assert [interval(few[:n], 0.5) is None for n in (5, 6)] == [True, False]
    estimate = sustained([1.0, 2.0, 3.0])
    assert estimate == Estimate(3.0, 0.0, math.inf)
    assert not has_interval(estimate)
    assert interval([1.0, 2.0, 3.0]) is None
    assert bounds(Estimate(3.0, 0.0, math.inf)) == (3.0, 3.0)
    assert bounds(Estimate(3.0, 2.0, 5.0)) == (2.0, 5.0)
    assert precision(estimate) == math.inf
    assert sustained([]) is None
    assert precision(None) == math.inf


def test_drift_widens_the_interval_to_what_was_seen() -> None:
    """A level that moves through the whole run: its 90th percentile is that of the levels."""
    ends = interval([float(round_) for round_ in range(300)])
    assert ends is not None
    assert ends[0] < 270 < ends[1]


def test_equal_values_are_known_exactly() -> None:
    assert sustained([5.0] * 50) == Estimate(5.0, 5.0, 5.0)
