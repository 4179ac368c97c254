"""Moderated variances and Student's t, against closed forms and published values."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.moderated import (
    LEAST_VARIANCE,
    digamma,
    inverse_trigamma,
    moderated,
    trigamma,
)
from memgauge.analysis.statistics.student import half_width, two_sided

EULER = 0.5772156649015329


def test_digamma_and_trigamma_at_known_places() -> None:
    assert digamma(1) == pytest.approx(-EULER, abs=1e-12)
    assert digamma(0.5) == pytest.approx(-EULER - 2 * math.log(2), abs=1e-12)
    assert trigamma(1) == pytest.approx(math.pi**2 / 6, abs=1e-12)
    assert trigamma(0.5) == pytest.approx(math.pi**2 / 2, abs=1e-12)


@given(st.floats(0.01, 1000))
def test_both_obey_their_recurrence(x: float) -> None:
    assert digamma(x + 1) - digamma(x) == pytest.approx(1 / x)
    assert trigamma(x) - trigamma(x + 1) == pytest.approx(1 / (x * x))


@given(st.floats(1e-3, 1e4))
def test_the_inverse_of_trigamma_is_one(x: float) -> None:
    assert inverse_trigamma(trigamma(x)) == pytest.approx(x, rel=1e-8)


# Tables of Student's t; 1 and 2 degrees of freedom have closed forms.
@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (7, 2.3646), (30, 2.0423), (1e6, 1.95997)],
)
def test_half_widths_are_those_of_the_tables(freedom: float, t: float) -> None:
    assert half_width(freedom) == pytest.approx(t, abs=1e-4)
    assert two_sided(half_width(freedom), freedom) == pytest.approx(0.05)


@given(st.floats(-50, 50))
def test_two_degrees_of_freedom_have_a_closed_form(t: float) -> None:
    assert two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(abs(t)) / math.pi, abs=1e-9)
    assert two_sided(t, 2) == pytest.approx(1 - abs(t) / math.sqrt(2 + t * t), abs=1e-9)


def test_equal_variances_are_left_alone_and_known_from_all_figures() -> None:
    done = moderated([4e-4] * 20, 4)
    assert done.freedom == 4 + 4 * 20 / 2
    # The logs of sample variances of 4 degrees of freedom have a mean below that of their scale.
    scale = 4e-4 * math.exp(-digamma(2) + math.log(2))
    assert done.variances == pytest.approx([(40 * scale + 4 * 4e-4) / 44] * 20)


@given(st.lists(st.floats(1e-6, 1e-2), min_size=2, max_size=40), st.integers(1, 12))
def test_variances_are_drawn_together_in_their_order(values: list[float], freedom: int) -> None:
    done = moderated(values, freedom)
    assert freedom <= done.freedom <= freedom * len(values) * (1 + 1e-12)
    ordered = [after for _, after in sorted(zip(values, done.variances, strict=True))]
    assert ordered == sorted(ordered)
    assert max(ordered) - min(ordered) <= max(values) - min(values) + 1e-12 * max(ordered)


@given(st.lists(st.floats(1e-5, 1e-2), min_size=2, max_size=40), st.floats(1, 100))
def test_variances_keep_their_scale(values: list[float], factor: float) -> None:
    once = moderated(values, 4)
    again = moderated([factor * value for value in values], 4)
    assert again.freedom == pytest.approx(once.freedom, rel=1e-6)
    assert again.variances == pytest.approx([factor * v for v in once.variances], rel=1e-6)


def test_a_known_prior_is_found() -> None:
    """Variances drawn from 9 degrees of freedom around 1e-4, half of which count."""
    rng = random.Random(1)

    def chi_square(freedom: int) -> float:
        return rng.gammavariate(freedom / 2, 2)

    drawn = [1e-4 * 9 / chi_square(9) * chi_square(4) / 4 for _ in range(20_000)]
    assert moderated(drawn, 4).freedom == pytest.approx(4 + 9 / 2, rel=0.05)


def test_values_that_repeat_exactly_are_not_certain() -> None:
    assert min(moderated([0.0] * 10, 4).variances) >= LEAST_VARIANCE
