import math
import random
import statistics
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import (
    MAD_TO_SIGMA,
    autocorrelation_time,
    bounds,
    has_interval,
    least_rounds,
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


def lognormal(rng: random.Random, count: int) -> list[float]:
    return [math.exp(rng.gauss(0, 0.5)) for _ in range(count)]


def bimodal(rng: random.Random, count: int) -> list[float]:
    return [rng.gauss(*((10, 0.3) if rng.random() < 0.7 else (15, 0.3))) for _ in range(count)]


def autoregressive(rng: random.Random, count: int, phi: float) -> list[float]:
    series, state = [], rng.gauss(0, 1)
    for _ in range(count):
        state = phi * state + math.sqrt(1 - phi * phi) * rng.gauss(0, 1)
        series.append(10 + state)
    return series


def interval(values: list[float], quantile: float = 0.9) -> tuple[float, float] | None:
    """Both ends of the quantile's interval; None where the rounds are too few for one."""
    estimate = sustained(values, quantile)
    return bounds(estimate) if estimate is not None and has_interval(estimate) else None


def coverage(make: Callable[[random.Random], list[float]], truth: float, quantile: float) -> float:
    rng = random.Random(20)
    found = [interval(make(rng), quantile) for _ in range(400)]
    given_ones = [ends for ends in found if ends is not None]
    assert len(given_ones) > 200
    return sum(low <= truth <= high for low, high in given_ones) / len(given_ones)


@pytest.mark.parametrize("count", [100, 200, 500])
@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (normal, 10 + NORMAL_P90),
        (lognormal, math.exp(0.5 * NORMAL_P90)),
        # 0.9 of the whole is 2/3 of the faster mode.
        (bimodal, 15 + 0.3 * statistics.NormalDist().inv_cdf(2 / 3)),
    ],
)
def test_interval_covers_the_truth_for_independent_rounds(
    make: Callable[[random.Random, int], list[float]], truth: float, count: int
) -> None:
    assert coverage(lambda rng: make(rng, count), truth, 0.9) >= 0.93


def test_median_interval_covers_the_truth() -> None:
    assert coverage(lambda rng: normal(rng, 60), 10.0, 0.5) >= 0.93


def test_fast_side_of_latency_is_covered() -> None:
    assert coverage(lambda rng: normal(rng, 150), 10 - NORMAL_P90, 0.1) >= 0.93


@pytest.mark.parametrize(("phi", "count"), [(0.5, 200), (0.8, 500)])
def test_interval_covers_the_truth_for_autocorrelated_rounds(phi: float, count: int) -> None:
    assert coverage(lambda rng: autoregressive(rng, count, phi), 10 + NORMAL_P90, 0.9) >= 0.93


def test_interval_covers_the_level_that_drifted_by() -> None:
    """A slow random walk: the truth is the 90th percentile over the levels that were passed."""
    rng, hits, cases = random.Random(21), 0, 200
    for _ in range(cases):
        level, levels = 10.0, []
        for _ in range(400):
            level += rng.gauss(0, 0.05)
            levels.append(level)
        ends = interval([each + rng.gauss(0, 1) for each in levels])
        low, high = ends or (-math.inf, math.inf)
        below_low, below_high = (
            sum(statistics.NormalDist(each, 1).cdf(x) for each in levels[::4]) / 100 if ends else x
            for x in (low, high)
        )
        hits += ends is None or below_low <= 0.9 <= below_high
    assert hits / cases >= 0.93


@pytest.mark.parametrize("quantile", [0.9, 0.5, 0.1])
def test_closed_form_agrees_with_a_drawn_bootstrap(quantile: float) -> None:
    rng = random.Random(22)
    values = [rng.gauss(100, 5) for _ in range(203)]
    assert autocorrelation_time(values, quantile) < 1.3
    rank = math.ceil(quantile * len(values))
    drawn = sorted(sorted(rng.choices(values, k=len(values)))[rank - 1] for _ in range(4000))
    ends = interval(values, quantile)
    assert ends is not None
    ordered = sorted(values)
    drawn_ranks = [ordered.index(drawn[int(4000 * p)]) for p in (0.025, 0.975)]
    found_ranks = [ordered.index(bound) for bound in ends]
    # The estimated autocorrelation time, here above 1 by chance, may widen it by a few ranks.
    assert found_ranks[0] == pytest.approx(drawn_ranks[0], abs=4)
    assert found_ranks[1] == pytest.approx(drawn_ranks[1], abs=4)
    assert found_ranks[1] - found_ranks[0] >= drawn_ranks[1] - drawn_ranks[0] - 2


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


def test_too_few_rounds_give_a_value_and_no_interval() -> None:
    assert least_rounds(0.9) == least_rounds(0.1) == 36
    assert least_rounds(0.5) == 6
    estimate = sustained([1.0, 2.0, 3.0])
    assert estimate == Estimate(3.0, 0.0, math.inf)
    assert not has_interval(estimate)
    assert interval([1.0, 2.0, 3.0]) is None
    assert bounds(Estimate(3.0, 0.0, math.inf)) == (3.0, 3.0)
    assert bounds(Estimate(3.0, 2.0, 5.0)) == (2.0, 5.0)
    assert precision(estimate) == math.inf
    assert sustained([]) is None
    assert precision(None) == math.inf


def test_drift_leaves_no_interval_rather_than_a_narrow_one() -> None:
    """A level that moves through the whole run is one long swing, however many rounds it has."""
    assert interval([float(round_) for round_ in range(300)]) is None


def test_autocorrelation_time_of_a_known_process() -> None:
    rng = random.Random(24)
    independent = [autocorrelation_time(normal(rng, 400)) for _ in range(20)]
    slow = [autocorrelation_time(autoregressive(rng, 4000, 0.8)) for _ in range(5)]
    assert statistics.mean(independent) < 1.6
    # Of the median's indicator, whose correlation is 2/pi asin(phi^lag) (arcsine law).
    expected = 1 + 2 * sum(2 / math.pi * math.asin(0.8**lag) for lag in range(1, 100))
    assert statistics.mean(slow) == pytest.approx(expected, rel=0.25)


def test_equal_values_are_known_exactly() -> None:
    assert sustained([5.0] * 50) == Estimate(5.0, 5.0, 5.0)


def stopped(rng: random.Random, phi: float, requested: float) -> Estimate:
    """One point by the runner's rule: a look after 16 rounds, then at each growth by a quarter."""
    series = autoregressive(rng, 1500, phi)
    look = 16
    while look < len(series):
        estimate = sustained([10 + 0.3 * (value - 10) for value in series[:look]])
        if precision(estimate) <= requested and estimate is not None:
            return estimate
        look = int(look * 1.25) + 1
    raise AssertionError("never reached the precision")


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_two_runs_stopped_by_the_rule_agree_within_their_intervals(phi: float) -> None:
    rng = random.Random(25)
    pairs = [(stopped(rng, phi, 0.01), stopped(rng, phi, 0.01)) for _ in range(120)]
    agreeing = sum(one.low <= two.high and two.low <= one.high for one, two in pairs)
    assert agreeing / len(pairs) >= 0.95
