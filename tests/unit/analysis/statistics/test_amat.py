"""AMAT against its closed form, the cache model against a simulated LRU cache and a study."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.amat import MemoryLevel, amat, miss_rates, modelled, served
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.references.library import load

LINE = 64
steps = st.lists(st.floats(0.1, 100), min_size=1, max_size=5)
shares = st.floats(0, 1)


def simulated(lines: Sequence[int], capacities: list[int]) -> list[float]:
    """Local miss rates of inclusive LRU levels, each of whole lines, once they are warm."""
    caches: list[OrderedDict[int, None]] = [OrderedDict() for _ in capacities]
    reached, missed = [0] * len(capacities), [0] * len(capacities)
    for number, line in enumerate(lines):
        counts = number >= len(lines) // 2
        found = False
        for index, (cache, capacity) in enumerate(zip(caches, capacities, strict=True)):
            if not found:
                reached[index] += counts
            hit = line in cache
            if hit:
                cache.move_to_end(line)
            else:
                missed[index] += counts and not found
                cache[line] = None
                if len(cache) > capacity // LINE:
                    cache.popitem(last=False)
            found = found or hit
    return [m / r if r else 0.0 for m, r in zip(missed, reached, strict=True)]


@given(steps, st.data())
def test_amat_is_the_mean_latency_weighted_by_what_each_level_serves(
    rises: list[float], data: st.DataObject
) -> None:
    latencies = list(accumulate(rises))
    rates = [data.draw(shares) for _ in latencies[:-1]]
    reach, expected = 1.0, 0.0
    for latency, rate in zip(latencies, [*rates, 0.0], strict=True):
        expected += reach * (1 - rate) * latency
        reach *= rate
    assert amat(latencies, rates) == pytest.approx(expected)
    assert latencies[0] * (1 - 1e-9) <= amat(latencies, rates) <= latencies[-1] * (1 + 1e-9)


def test_the_text_books_example() -> None:
    """Hit 1, miss rate 5%, penalty 100: 6; in latencies from the core memory lies at 101."""
    assert amat([1, 101], [0.05]) == pytest.approx(6)


def test_latencies_and_rates_must_fit() -> None:
    with pytest.raises(ValueError, match="2 latencies do not fit 2 miss rates"):
        amat([1, 2], [0.1, 0.2])


@pytest.mark.parametrize("lines", [3, 8, 9, 40])
@pytest.mark.parametrize("each", [1, 16])
@pytest.mark.parametrize("scrambled", [False, True])
def test_a_walk_that_comes_back_in_order_misses_as_a_simulated_cache(
    lines: int, each: int, *, scrambled: bool
) -> None:
    capacities = [8 * LINE, 16 * LINE]
    order = list(range(lines))
    if scrambled:
        random.Random(1).shuffle(order)
    once = [line for line in order for _ in range(each)]
    warm = simulated(once * 200, capacities)
    assert miss_rates(capacities, lines * LINE, 1 / each) == pytest.approx(warm, abs=0.03)


def test_random_draws_hit_with_the_share_that_is_held() -> None:
    draw = random.Random(2)
    drawn = [draw.randrange(100) for _ in range(40_000)]
    capacities = [20 * LINE, 60 * LINE]
    expected = simulated(drawn, capacities)
    assert miss_rates(capacities, 100 * LINE, 1, "drawn") == pytest.approx(expected, abs=0.02)


@given(st.integers(1, 1 << 30), st.floats(1 / 16, 1), st.sampled_from(["cyclic", "drawn"]))
def test_rates_are_shares_and_more_data_never_misses_less(
    touched: int, new: float, reuse: str
) -> None:
    capacities = [1 << 15, 1 << 20, 1 << 25]
    rates = miss_rates(capacities, touched, new, reuse)  # type: ignore[arg-type]
    more = miss_rates(capacities, 2 * touched, new, reuse)  # type: ignore[arg-type]
    assert all(0 <= rate <= 1 for rate in rates)
    latencies = [1.0, 4.0, 15.0, 150.0]
    assert amat(latencies, rates) <= amat(latencies, more) + 1e-9


@given(st.floats(0.5, 2))
def test_a_machine_slower_by_a_factor_has_amat_slower_by_it(factor: float) -> None:
    rates = [0.3, 0.2]
    slower = amat([factor * ns for ns in (1, 4, 100)], rates)
    assert slower == pytest.approx(factor * amat([1, 4, 100], rates))


def test_intervals_of_latencies_bound_the_model() -> None:
    levels = [
        MemoryLevel("L1", Estimate(1.0, 0.9, 1.2), 1 << 15),
        MemoryLevel("DRAM", Estimate(100.0, 90.0, 120.0), None),
    ]
    found = modelled(levels, [0.5])
    assert (found.value, found.low, found.high) == pytest.approx((50.5, 45.45, 60.6))
    unknown = [levels[0], MemoryLevel("DRAM", Estimate(100.0, 0.0, float("inf")), None)]
    assert modelled(unknown, [0.5]).high == float("inf")
    assert modelled(unknown, [0.0]) == levels[0].latency_ns


@given(st.lists(shares, max_size=5))
def test_every_access_is_served_once(rates: list[float]) -> None:
    found = served(rates)
    assert len(found) == len(rates) + 1
    assert sum(found) == pytest.approx(1)
    assert all(share >= 0 for share in found)


class TestPublished:
    """The cache-miss table of the hybrid desktop: 18 MiB of last level, float arrays x and y."""

    LAST_LEVEL = 18 << 20

    def test_the_miss_rate_of_random_accesses_is_the_models(self) -> None:
        row = next(r for r in load("hybrid12-cache-miss").rows if r["pattern"] == "rand")
        footprint = 2 * 4 * int(row["elements"])
        (rate,) = miss_rates([self.LAST_LEVEL], footprint, 1, "drawn")
        assert rate == pytest.approx(float(row["llc_miss_rate"]), abs=0.005)

    def test_run_times_are_not_comparable_but_times_per_access_are(self) -> None:
        rows = {row["case"]: row for row in load("hybrid12-cache-miss").rows}
        strided, random_ = rows["DRAM large stride"], rows["DRAM random"]
        touched = int(strided["elements"]) // int(strided["stride"])
        assert touched == 8192
        assert int(random_["elements"]) / touched == 2048
        # By run time the strided case is a thousand times as fast, by element it is the slower one.
        assert float(random_["runtime_ms"]) > 1000 * float(strided["runtime_ms"])
        per_strided = float(strided["runtime_ms"]) * 1e6 / touched
        per_random = float(random_["runtime_ms"]) * 1e6 / int(random_["elements"])
        assert per_strided == pytest.approx(32.1, abs=0.05)
        assert per_random == pytest.approx(20.9, abs=0.05)
        figures = load("hybrid12-cache-miss").figures
        mapped = {figure.label.partition(":")[0]: figure for figure in figures}
        assert mapped["DRAM large stride"].value == pytest.approx(per_strided)
        assert mapped["DRAM random"].value == pytest.approx(per_random)

    def test_the_strided_case_touches_no_more_than_a_cache_holds(self) -> None:
        """8192 elements are a line each of x and of y: 1 MiB, which is no test of memory."""
        row = next(r for r in load("hybrid12-cache-miss").rows if r["stride"] == "4096")
        touched = 2 * LINE * int(row["elements"]) // int(row["stride"])
        assert touched == 1 << 20
        assert miss_rates([self.LAST_LEVEL], touched, 1) == [0.0]
