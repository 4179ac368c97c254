"""Shares of time from paired slowdowns: closed forms, and whether their intervals hold."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.diagnose.shares import (
    LEAST_ROUNDS,
    share,
    slowdown,
    spanning,
    spanning_shares,
)
from memgauge.analysis.statistics.estimate import Estimate


@given(
    true=st.floats(0, 1),
    references=st.lists(st.floats(1.05, 4), min_size=LEAST_ROUNDS, max_size=40),
)
def test_without_noise_the_share_is_exact_whatever_the_pressure(
    true: float, references: list[float]
) -> None:
    found = share([(1 + true * (reference - 1), reference) for reference in references])
    assert found is not None
    for end in (found.low, found.value, found.high):
        assert end == pytest.approx(true, abs=1e-9)


def test_too_few_rounds_give_nothing() -> None:
    assert share([(1.2, 1.5)] * (LEAST_ROUNDS - 1)) is None
    assert slowdown([1.2] * (LEAST_ROUNDS - 1)) is None
    assert slowdown([1.5] * LEAST_ROUNDS) is not None


def test_pressure_without_effect_gives_no_share() -> None:
    draw = random.Random(1)
    rounds = [(draw.gauss(1, 0.02), draw.gauss(1, 0.02)) for _ in range(16)]
    assert share(rounds) is None


def test_a_round_in_which_the_reference_was_faster_widens_the_interval_to_its_own_side() -> None:
    clean = [(1 + 0.5 * 0.1 * step, 1 + 0.1 * step) for step in range(1, 13)]
    found = share([*clean, (1.1, 0.9)])
    assert found is not None
    assert found.low <= 0.5 <= found.high
    assert share([*clean[:4], *[(1.1, 0.9)] * 6]) is None


@pytest.mark.parametrize("true", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.01, 0.08])
def test_intervals_hold_where_program_and_reference_are_noisy(true: float, noise: float) -> None:
    draw = random.Random(2)
    held = given_ = 0
    for _ in range(400):
        rounds = []
        for _ in range(16):
            reference = 1 + draw.uniform(0.2, 0.8)
            program = 1 + true * (reference - 1) + draw.gauss(0, noise)
            rounds.append((program, reference + draw.gauss(0, noise)))
        found = share(rounds)
        if found is not None:
            given_ += 1
            held += found.low <= true <= found.high
    assert given_ > 300
    assert held / given_ > 0.94


@given(
    walking=st.floats(0, 1),
    true=st.floats(0.05, 1),
    references=st.lists(st.floats(1.1, 3), min_size=LEAST_ROUNDS, max_size=30),
    walks=st.floats(1, 1.6),
)
def test_the_share_of_loads_of_which_some_walk_page_tables_lies_between_both_references(
    walking: float, true: float, references: list[float], walks: float
) -> None:
    scattered = [1 + walks * (one - 1) for one in references]
    programs = [
        1 + true * ((1 - walking) * (one - 1) + walking * (other - 1))
        for one, other in zip(references, scattered, strict=True)
    ]
    found = spanning_shares(
        [share(list(zip(programs, of, strict=True))) for of in (references, scattered)]
    )
    assert found is not None
    assert found.low - 1e-9 <= true <= found.high + 1e-9
    assert found.low <= found.value <= found.high


def test_what_one_reference_cannot_tell_both_cannot() -> None:
    known = Estimate(0.5, 0.4, 0.6)
    assert spanning([known]) == known
    assert spanning([known, None]) is None
    assert spanning([known, Estimate(0.7, 0.45, 0.9)]) == Estimate(0.6, 0.4, 0.9)


def test_no_share_is_above_all_of_the_time_where_a_reference_allows_less() -> None:
    like = Estimate(0.9, 0.8, 0.95)
    unlike = Estimate(1.3, 1.2, 1.4)
    assert spanning_shares([like, unlike]) == Estimate(0.95, 0.8, 1.0)
    assert spanning_shares([Estimate(0.3, 0.2, 0.4), Estimate(0.5, 0.3, 0.6)]) == Estimate(
        0.4, 0.2, 0.6
    )
    assert spanning_shares([Estimate(0.9, 0.8, 1.1), unlike]) == Estimate(0.95, 0.8, 1.1)


def test_shares_that_are_all_above_all_of_the_time_keep_the_least() -> None:
    assert spanning_shares([Estimate(2.5, 2.3, 2.7), Estimate(1.9, 1.8, 2.1)]) == Estimate(
        1.9, 1.8, 2.1
    )
    assert spanning_shares([Estimate(2.5, 2.3, 2.7)]) == Estimate(2.5, 2.3, 2.7)
    assert spanning_shares([Estimate(2.5, 2.3, 2.7), None]) is None
