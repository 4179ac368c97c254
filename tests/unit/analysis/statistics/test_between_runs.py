"""Several runs a side: closed forms, what must not change a verdict, and false alarms."""

import math
import random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.statistics.between_runs import (
    LEAST_FIGURES,
    MOST_FREEDOM_OF_ONE,
    Judged,
    can_be_judged,
    judge,
    welch,
)
from memgauge.analysis.statistics.student import half_width, two_sided

SIDES = [(2, 2), (3, 3), (5, 5), (3, 1), (1, 4), (2, 5)]


def runs_of(
    rng: random.Random, count: int, figures: int, deviation: float = 0.007
) -> list[list[float]]:
    """Runs with a common pace of 1%, and figures of many sizes."""
    made = []
    for _ in range(count):
        pace = rng.gauss(0, 0.01)
        made.append([math.log(at + 2) + pace + rng.gauss(0, deviation) for at in range(figures)])
    return made


def numbers(judged: Judged) -> list[float]:
    pace = [judged.pace.value, judged.pace.p_value] if judged.pace else []
    return [x for one in judged.figures for x in (one.value, one.half_width, one.p_value)] + pace


def test_how_many_runs_are_enough() -> None:
    assert can_be_judged(2, 2)
    assert can_be_judged(3, 1)
    assert can_be_judged(1, 3)
    assert not can_be_judged(2, 1)
    assert not can_be_judged(1, 1)
    assert not can_be_judged(0, 5)


def test_one_figure_is_students_t() -> None:
    first, second = [0.0, 0.02, 0.01], [0.05, 0.06, 0.07]
    done = judge([[one] for one in first], [[one] for one in second])
    (found,) = done.figures
    error = 0.01 * math.sqrt(2 / 3)
    assert done.pace is None
    assert found.value == pytest.approx(0.05)
    assert found.half_width == pytest.approx(error * half_width(4))
    assert found.p_value == pytest.approx(two_sided(0.05 / error, 4))


def test_one_new_run_is_held_against_a_prediction_interval() -> None:
    earlier = [0.0, 0.03, 0.01, 0.02, 0.04]
    (found,) = judge([[one] for one in earlier], [[0.1]]).figures
    assert found.value == pytest.approx(0.08)
    assert found.half_width == pytest.approx(half_width(4) * stdev(earlier) * math.sqrt(1 + 1 / 5))


@pytest.mark.parametrize(("baseline", "other"), SIDES)
@pytest.mark.parametrize("figures", [3, 40])
def test_scale_and_pace_of_a_run_change_no_figure(baseline: int, other: int, figures: int) -> None:
    rng = random.Random(5)
    first, second = runs_of(rng, baseline, figures), runs_of(rng, other, figures)
    scales = [rng.gauss(0, 3) for _ in range(figures)]

    def scaled(runs: list[list[float]]) -> list[list[float]]:
        return [[one + by for one, by in zip(run, scales, strict=True)] for run in runs]

    once = judge(first, second)
    assert numbers(judge(scaled(first), scaled(second))) == pytest.approx(numbers(once), abs=1e-9)
    if figures >= LEAST_FIGURES:
        faster = [[one + 0.3 for one in run] for run in second]
        again = judge(first, faster)
        assert again.pace is not None
        assert once.pace is not None
        assert again.pace.value == pytest.approx(once.pace.value + 0.3)
        assert [one.p_value for one in again.figures] == pytest.approx(
            [one.p_value for one in once.figures]
        )


@pytest.mark.parametrize(("baseline", "other"), SIDES)
@pytest.mark.parametrize("figures", [3, 40])
def test_the_order_of_runs_and_figures_means_nothing(
    baseline: int, other: int, figures: int
) -> None:
    rng = random.Random(7)
    first, second = runs_of(rng, baseline, figures), runs_of(rng, other, figures)
    once = judge(first, second)
    assert numbers(judge(first[::-1], second[::-1])) == pytest.approx(numbers(once))
    mirrored = judge([run[::-1] for run in first], [run[::-1] for run in second])
    assert [one.p_value for one in mirrored.figures[::-1]] == pytest.approx(
        [one.p_value for one in once.figures]
    )


@pytest.mark.parametrize(("baseline", "other"), SIDES)
def test_swapping_the_sides_negates_every_difference(baseline: int, other: int) -> None:
    rng = random.Random(9)
    first, second = runs_of(rng, baseline, 40), runs_of(rng, other, 40)
    there, back = judge(first, second), judge(second, first)
    for one, again in zip(there.figures, back.figures, strict=True):
        assert again.value == pytest.approx(-one.value)
        assert again.p_value == pytest.approx(one.p_value)
        assert again.stands == one.stands
    assert there.pace is not None
    assert back.pace is not None
    assert back.pace.value == pytest.approx(-there.pace.value)
    assert back.pace.p_value == pytest.approx(there.pace.p_value)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.integers(2, 4))
def test_runs_that_are_equal_do_not_differ(figures: list[float], count: int) -> None:
    done = judge([figures] * count, [figures] * count)
    assert not any(one.stands for one in done.figures)
    assert done.pace is None or not done.pace.stands


def test_a_slower_machine_is_a_pace_and_no_figure() -> None:
    rng = random.Random(11)
    first = runs_of(rng, 3, 40)
    second = [[one - 0.2 for one in run] for run in runs_of(rng, 3, 40)]
    done = judge(first, second)
    assert done.pace is not None
    assert done.pace.stands
    assert done.pace.value == pytest.approx(-0.2, abs=0.04)
    assert not any(one.stands for one in done.figures)


def test_a_changed_third_of_the_figures_does_not_spoil_the_pace() -> None:
    """Their own distances are found, and those of the others are not."""
    rng = random.Random(13)
    first, second = runs_of(rng, 5, 60), runs_of(rng, 5, 60)
    for run in second:
        run[:20] = [one - 0.1 for one in run[:20]]
    done = judge(first, second)
    assert all(one.stands for one in done.figures[:20])
    assert sum(one.stands for one in done.figures[20:]) <= 3


def test_welch_has_the_error_and_freedom_of_its_formula() -> None:
    first, second = [27.5, 21.0, 19.0, 23.6], [27.1, 22.0, 20.8, 23.4, 23.4]
    found = welch(first, second)
    parts = [stdev(side) ** 2 / len(side) for side in (first, second)]
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 4)
    assert found.value == pytest.approx(sum(second) / 5 - sum(first) / 4)
    assert found.half_width == pytest.approx(error * half_width(freedom))


@pytest.mark.parametrize(("baseline", "other"), [(3, 3), (5, 1)])
def test_equal_sides_seldom_differ(baseline: int, other: int) -> None:
    """In at most 5% of pairs by design; 200 pairs give fewer than 9% of them with certainty."""
    rng = random.Random(17)
    alarms = sum(
        any(
            one.stands for one in judge(runs_of(rng, baseline, 30), runs_of(rng, other, 30)).figures
        )
        for _ in range(200)
    )
    assert alarms < 18


def test_one_run_is_never_tested_with_more_than_sixty_degrees_of_freedom() -> None:
    rng = random.Random(5)
    many = [[rng.gauss(0, 0.01) for _ in range(30)] for _ in range(50)]
    one = [[rng.gauss(0, 0.01) for _ in range(30)]]
    for found in (*judge(many, one).figures, *judge(one, many).figures):
        # The interval and the p value give the degrees of freedom: those of t at this bound.
        error = found.half_width / half_width(MOST_FREEDOM_OF_ONE)
        assert found.p_value == pytest.approx(two_sided(found.value / error, MOST_FREEDOM_OF_ONE))
