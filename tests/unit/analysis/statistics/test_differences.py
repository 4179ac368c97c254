"""The difference of two figures, by the bounds of both."""

from __future__ import annotations

import math

import pytest

from memgauge.analysis.statistics.differences import difference
from memgauge.analysis.statistics.estimate import Estimate


def test_symmetric_intervals_add_as_independent_errors_do() -> None:
    found = difference(Estimate(5.0, 1.0, 9.0), Estimate(3.0, 0.0, 6.0))
    assert found == Estimate(2.0, -3.0, 7.0)


def test_each_end_is_made_of_the_ends_that_lead_there() -> None:
    found = difference(Estimate(0.2, 0.1, 0.6), Estimate(0.5, 0.4, 0.9))
    assert found is not None
    assert found.value == pytest.approx(-0.3)
    assert found.low == pytest.approx(-0.3 - math.hypot(0.1, 0.4))
    assert found.high == pytest.approx(-0.3 + math.hypot(0.4, 0.1))


def test_without_an_interval_there_is_none() -> None:
    known = Estimate(1.0, 0.9, 1.1)
    assert difference(None, known) is None
    assert difference(known, None) is None
    assert difference(known, Estimate(1.5, 0.0, math.inf)) == Estimate(-0.5, -math.inf, math.inf)
