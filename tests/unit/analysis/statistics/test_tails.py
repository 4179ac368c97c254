import math
import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.analysis.runs import start

from memgauge.analysis.statistics.tails import (
    Histogram,
    design_effect,
    least_values,
    load_times,
    quantile_of,
    ranks,
)


def histogram(values: list[int]) -> Histogram:
    return sorted(Counter(values).items())


def visits(count: int, each: int, seed: int, apart: float = 0.0) -> list[Histogram]:
    """Exponential waits above 100 ns; `apart` moves whole visits."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        shift = rng.gauss(0, apart)
        found.append(histogram([round(100 + shift + rng.expovariate(0.02)) for _ in range(each)]))
    return found


def binomial(count: int, share: float, most: int) -> float:
    """P(Bin(count, share) <= most)."""
    return sum(math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(most + 1))


@pytest.mark.parametrize("count", [6, 10, 40, 101, 300])
@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99])
def test_ranks_are_those_of_the_binomial_distribution(count: int, quantile: float) -> None:
    """At most 2.5% at either end, and no rank closer would do."""
    low, high = ranks(count, quantile)
    if low > 1:
        assert binomial(count, quantile, low - 1) <= 0.025
    assert binomial(count, quantile, low) > 0.025
    if high < count:
        assert 1 - binomial(count, quantile, high - 1) <= 0.025
    assert 1 - binomial(count, quantile, high - 2) > 0.025


def test_exact_and_normal_ranks_meet() -> None:
    """Where the variance passes 100 the two ways differ by a rank or two of a thousand."""
    for quantile, count in ((0.5, 401), (0.99, 10_200)):
        (low, high), (before_low, before_high) = (
            ranks(count, quantile),
            ranks(count - 110, quantile),
        )
        assert 0 <= low - before_low <= 112
        assert 0 <= high - before_high <= 112


@given(st.integers(400, 5000), st.floats(1.0, 8.0))
@example(401, 1.03125)
def test_values_that_count_for_less_give_wider_intervals(count: int, effect: float) -> None:
    narrow, wide = ranks(count, 0.5), ranks(count, 0.5, effect)
    assert 1 <= wide[0] <= narrow[0] < narrow[1] <= wide[1] <= count


@pytest.mark.parametrize("apart", [0.0, 15.0])
def test_the_interval_holds_the_quantile_as_often_as_it_says(apart: float) -> None:
    """The true one from many more loads; of 100 intervals at most 9 may miss it."""
    for quantile in (0.5, 0.99):
        truth = quantile_of(visits(2000, 100, seed=99, apart=apart), quantile)
        assert truth is not None
        missed = 0
        for seed in range(100):
            found = quantile_of(visits(40, 60, seed, apart), quantile)
            assert found is not None
            missed += not found.low <= truth.value <= found.high
        assert missed <= 9


def test_too_few_loads_have_no_quantile() -> None:
    assert least_values(0.99) == 368
    few, enough = visits(1, 367, 1), visits(1, 368, 1)
    assert quantile_of(few, 0.99) is None
    assert quantile_of(enough, 0.99) is not None
    assert quantile_of([], 0.5) is None
    assert quantile_of([[]], 0.5) is None
    assert load_times(few, start().clock).p99 is None


def test_visits_unlike_each_other_open_the_interval() -> None:
    """All loads of one visit are slow: that is one observation of the tail, not 300."""
    quick, slow = [(100, 300)], [(500, 300)]
    found = quantile_of([quick, quick, slow], 0.99)
    assert found is not None
    assert (found.value, found.high) == (500, math.inf)


def test_design_effect_is_one_of_loads_drawn_alike_and_their_number_of_copies() -> None:
    alike = [design_effect(visits(50, 100, seed), 135) for seed in range(20)]
    assert sum(alike) / len(alike) == pytest.approx(1.1, abs=0.1)
    copies: list[Histogram] = [[(100 + 100 * (at % 2), 10)] for at in range(40)]
    assert design_effect(copies, 150) == pytest.approx(10, rel=0.05)
    assert design_effect([[(100, 5)]], 50) == 1


@given(st.lists(st.lists(st.integers(0, 50), max_size=30), max_size=20))
def test_quantiles_are_ordered_and_within_the_data(values: list[list[int]]) -> None:
    pooled = [histogram(visit) for visit in values]
    found = [quantile_of(pooled, q) for q in (0.1, 0.5, 0.9)]
    for lower, upper in pairwise(f for f in found if f is not None):
        assert lower.value <= upper.value
    for estimate in found:
        if estimate is not None:
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.value in {v for visit in values for v in visit}


def test_the_clocks_cost_is_taken_off_and_its_step_is_in_the_interval() -> None:
    clock = start().clock
    assert (clock.cost_ns, clock.resolution_ns) == (10, 1)
    times = load_times([[(160, 1000)], [(160, 1000)]], clock)
    assert times.loads == 2000
    assert times.p50 is not None
    assert times.p99 is not None
    assert (times.p50.low, times.p50.value, times.p50.high) == (149, 150, 151)
    assert times.p99 == times.p50
    assert load_times([[(10, 1000)]], clock).p50 is None
