"""A course over time condensed to few steps: what is conserved, what is lost, and which borders."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.loaded.condensing import Piece, condensed, deviation, variation_kept

amounts = st.floats(0, 1e12)
courses = st.lists(st.tuples(st.floats(0.01, 10), amounts, amounts), min_size=1, max_size=30)


def course(*pieces: tuple[float, float, float]) -> list[Piece]:
    """Pieces one after the other, of (seconds, first amount, second amount)."""
    found = []
    begin_s = 0.0
    for seconds, first, second in pieces:
        end_s = begin_s + seconds
        found.append(Piece(begin_s=begin_s, end_s=end_s, known_s=seconds, amounts=(first, second)))
        begin_s = end_s
    return found


def levels(*rates: float) -> list[Piece]:
    return course(*((1.0, rate, 0.0) for rate in rates))


@given(courses, st.integers(1, 12), st.sampled_from([0.0, 0.01]))
def test_time_and_amounts_are_conserved_in_order_of_time(
    pieces: list[tuple[float, float, float]], most: int, worth: float
) -> None:
    made = course(*pieces)
    steps = condensed(made, most, worth)
    assert 1 <= len(steps) <= min(most, len(made))
    for kind in (0, 1):
        total = math.fsum(one.amounts[kind] for one in made)
        assert math.fsum(s.amounts[kind] for s in steps) == pytest.approx(total, rel=1e-9)
    assert math.fsum(s.known_s for s in steps) == pytest.approx(sum(p[0] for p in pieces))
    assert (steps[0].begin_s, steps[-1].end_s) == (made[0].begin_s, made[-1].end_s)
    for before, after in pairwise(steps):
        assert before.end_s == after.begin_s


def test_borders_are_kept_where_rates_change_most() -> None:
    steps = condensed(levels(1, 1, 1, 9, 9, 2, 2, 2, 2), 3)
    assert [(one.begin_s, one.end_s, one.rates[0]) for one in steps] == [
        (0, 3, 1),
        (3, 5, 9),
        (5, 9, 2),
    ]


def test_a_border_may_divide_reads_from_writes_at_the_same_rate() -> None:
    steps = condensed(course((1, 8, 0), (1, 8, 0), (1, 0, 8), (1, 0, 8)), 2)
    assert [one.rates for one in steps] == [(8, 0), (0, 8)]


def test_all_borders_stay_where_there_is_room_and_none_is_asked_to_be_worth_it() -> None:
    assert len(condensed(levels(1, 1, 1), 3)) == 3


def test_noise_around_a_level_makes_no_step() -> None:
    draw = random.Random(2)
    noise = levels(*(10 + draw.gauss(0, 1) for _ in range(300)))
    assert len(condensed(noise, 12, worth=0.05)) == 1
    rising = levels(*((10 if at < 100 else 20) + draw.gauss(0, 1) for at in range(300)))
    assert [(one.begin_s, one.end_s) for one in condensed(rising, 12, worth=0.05)] == [
        (0, 100),
        (100, 300),
    ]


def test_variation_kept_is_that_between_the_steps() -> None:
    """Rates 1, 3 and 11, 13: the variance of 26 is 25 between the halves and 1 inside."""
    fine = levels(1, 3, 11, 13)
    assert variation_kept(fine, condensed(fine, 2)) == pytest.approx(25 / 26)
    assert variation_kept(fine, condensed(fine, 1)) == 0
    assert variation_kept(fine, fine) == 1
    assert variation_kept(levels(2, 2), levels(2, 2)) is None
    assert variation_kept(fine, fine, least=30) is None


def test_merging_two_pieces_adds_what_ward_says() -> None:
    fine = course((1, 2, 0), (3, 18, 0))
    (step,) = condensed(fine, 1)
    assert deviation(fine, [step]) == pytest.approx((1 * 3 / 4) * (6 - 2) ** 2)


def test_a_gap_lies_inside_the_step_that_reaches_over_it() -> None:
    one, two = levels(4, 4)
    later = Piece(begin_s=5.0, end_s=6.0, known_s=1.0, amounts=(4.0, 0.0))
    (step,) = condensed([one, two, later], 1)
    assert (step.begin_s, step.end_s, step.known_s, step.rates[0]) == (0, 6, 3, 4)
