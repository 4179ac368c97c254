"""Growing spread, on values whose spread is known; the rank test against its closed form."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.figures.spread import growth

COUNT = 150
LIMIT = 0.001


def values(spread: Callable[[int], float], seed: int = 1, level: float = 100.0) -> list[float]:
    draw = random.Random(seed)
    return [level * (1 + draw.gauss(0, spread(index))) for index in range(COUNT)]


def widening(index: int) -> float:
    return 0.005 if index < COUNT / 2 else 0.05


def test_a_spread_that_grows_is_found_with_its_size() -> None:
    found = growth(values(widening))
    assert found is not None
    assert found.p < LIMIT
    assert found.first == pytest.approx(2 * 1.2816 * 0.005, rel=0.4)
    assert found.last == pytest.approx(2 * 1.2816 * 0.05, rel=0.4)


def test_a_spread_that_shrinks_is_none_that_grows() -> None:
    found = growth(values(widening)[::-1])
    assert found is not None
    assert found.p > 1 - LIMIT


def test_steady_noise_is_hardly_ever_called_growing() -> None:
    called = [growth(values(lambda _: 0.02, seed)) for seed in range(400)]
    assert sum(found is not None and found.p < 0.01 for found in called) <= 12


def test_a_figure_that_moves_without_spreading_does_not_grow() -> None:
    moved = [v * (1 if i < COUNT / 2 else 1.3) for i, v in enumerate(values(lambda _: 0.01))]
    found = growth(moved)
    assert found is not None
    assert found.p > LIMIT


def test_one_outlier_is_not_a_spread() -> None:
    found = growth([*values(lambda _: 0.01), 1000.0])
    assert found is not None
    assert found.p > LIMIT


@given(st.integers(0, 50), st.floats(1e-3, 1e3))
def test_unit_does_not_matter_nor_whether_time_or_speed(seed: int, factor: float) -> None:
    taken = values(widening, seed)
    one, scaled, inverse = (
        growth(list(v)) for v in (taken, [x * factor for x in taken], [1 / x for x in taken])
    )
    assert one is not None
    assert scaled is not None
    assert inverse is not None
    assert scaled.p == pytest.approx(one.p, rel=1e-3, abs=1e-9)
    assert (inverse.p < 0.01) == (one.p < 0.01)


def test_too_few_values_tell_nothing() -> None:
    assert growth([1.0] * 35) is None
    assert growth([]) is None


def test_values_that_never_change_did_not_spread() -> None:
    found = growth([5.0] * 60)
    assert found is not None
    assert found.p == pytest.approx(0.5)
