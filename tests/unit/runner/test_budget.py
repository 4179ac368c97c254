"""The time of a run, and what of it is kept for its report."""

import time

import pytest

from memgauge.runner.budget import (
    FIRST_ROUNDS,
    PREPARING_SHARE,
    REPORT_S,
    REPORT_S_PER_POINT,
    REPORT_S_PER_SAMPLE,
    SURVEY_REPORT_SHARE,
    Beginning,
    Budget,
    BudgetPlan,
    report_s,
    rounded_up,
)


def test_what_is_reserved_is_not_measured_in() -> None:
    budget = Budget(60.0, reserve_s=6.0)
    assert 53.0 < budget.remaining_s <= 54.0
    budget.reserve(10.0)
    assert 49.0 < budget.remaining_s <= 50.0
    assert not budget.ended


def test_no_more_than_a_quarter_is_reserved() -> None:
    budget = Budget(2.0, reserve_s=6.0)
    assert budget.reserve_s == 0.5
    budget.reserve(0.1)
    assert budget.reserve_s == 0.1


def test_a_survey_may_keep_half_for_its_report() -> None:
    budget = Budget(2.0)
    budget.reserve(6.0, SURVEY_REPORT_SHARE)
    assert budget.reserve_s == 1.0


def test_a_command_has_a_budget_from_the_start_of_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "process_time", lambda: 0.2)
    began = Beginning.of_process()
    assert began.processor_s == 0.0
    assert began.at_s <= time.monotonic()
    assert Budget(10.0, began=began).elapsed_s >= time.monotonic() - began.at_s - 0.1
    assert Budget(10.0, began=began).pace >= 1.0


def test_a_command_in_a_process_that_worked_before_has_its_budget_from_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "process_time", lambda: 5.0)
    called_s = time.monotonic()
    began = Beginning.of_process()
    assert began.processor_s == 5.0
    assert began.at_s >= called_s


def test_the_budget_that_has_room_for_work_has_room_for_it() -> None:
    for setup_s, rounds_s, points in ((1.0, 20.0, 300), (30.0, 2.0, 10), (0.1, 0.1, 1)):
        needed_s = BudgetPlan(total_s=1.0, spent_s=0.5).total_for(setup_s, rounds_s, points)
        plan = BudgetPlan(total_s=needed_s, spent_s=0.5)
        assert plan.available_s(points) >= setup_s + rounds_s - 1e-9
        assert PREPARING_SHARE * plan.available_s(points) >= setup_s - 1e-9


def test_a_report_of_a_busy_machine_takes_longer_but_at_most_half() -> None:
    quiet, busy = (
        BudgetPlan(total_s=10.0, spent_s=0.5),
        BudgetPlan(total_s=10.0, spent_s=0.5, pace=3.0),
    )
    assert quiet.report_s(100) == pytest.approx(REPORT_S + 100 * REPORT_S_PER_POINT)
    assert busy.report_s(50) == pytest.approx(3 * quiet.report_s(50))
    assert busy.report_s(10_000) == 5.0


def test_samples_beyond_a_hundred_of_each_point_lengthen_the_report() -> None:
    assert report_s(50, 2.0, samples=5_000) == report_s(50, 2.0)
    longer = report_s(50, 2.0, samples=105_000) - report_s(50, 2.0)
    assert longer == pytest.approx(2.0 * 100_000 * REPORT_S_PER_SAMPLE)


def test_budgets_are_suggested_in_round_numbers() -> None:
    assert [rounded_up(s) for s in (11.0, 61.0, 601.0)] == ["15s", "90s", "900s"]


def test_the_first_rounds_may_take_half_of_what_the_report_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget = Budget(10.0, reserve_s=2.0, began=Beginning(0.0, 0.0))
    ended = {}
    for second in (7.9, 8.5, 9.1):
        monkeypatch.setattr(time, "monotonic", lambda second=second: second)
        ended[second] = (budget.has_ended(FIRST_ROUNDS - 1), budget.has_ended(FIRST_ROUNDS))
    assert ended == {7.9: (False, False), 8.5: (False, True), 9.1: (True, True)}


@pytest.mark.parametrize(
    ("total_s", "elapsed_s", "has_time"),
    [
        (10.0, 9.7, True),
        (10.0, 10.9, False),
        (600.0, 603.7, True),
        (600.0, 604.5, False),
        (1.0, 30.0, True),
    ],
)
def test_a_page_is_written_where_it_ends_in_time(
    monkeypatch: pytest.MonkeyPatch, total_s: float, elapsed_s: float, has_time: bool
) -> None:
    """In a tenth of the budget, and in five seconds; the least budgets are no promise."""
    monkeypatch.setattr(time, "monotonic", lambda: elapsed_s)
    monkeypatch.setattr(time, "process_time", lambda: elapsed_s)
    began = Beginning(0.0, 0.0)
    assert Budget(total_s, began=began).has_time_for_page(10, began) == has_time


def test_a_page_is_left_out_where_other_programs_slow_the_report_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten times since it is printed, though twice over the whole run."""
    monkeypatch.setattr(time, "monotonic", lambda: 60.0)
    monkeypatch.setattr(time, "process_time", lambda: 30.0)
    budget = Budget(60.0, began=Beginning(0.0, 0.0))
    assert budget.has_time_for_page(10, Beginning(58.0, 29.0))
    assert not budget.has_time_for_page(10, Beginning(50.0, 29.0))
