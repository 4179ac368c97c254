"""The nearest rising curve, against a brute-force search over small whole numbers."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.monotone import rising, unevenness


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_no_rising_curve_lies_nearer(values: list[int]) -> None:
    found = rising(values)
    assert found == sorted(found)
    assert math.fsum(found) == pytest.approx(sum(values))

    def missed(curve: list[float]) -> float:
        return math.fsum((a - b) ** 2 for a, b in zip(values, curve, strict=True))

    others = itertools.combinations_with_replacement([at / 2 for at in range(9)], len(values))
    assert missed(found) <= min(missed([*other]) for other in others) + 1e-9


def test_what_rises_misses_nothing() -> None:
    assert unevenness([1.0, 2.0, 2.0, 5.0]) == 0
    assert unevenness([]) == 0
    assert unevenness([3.0, 1.0]) == pytest.approx(1)
