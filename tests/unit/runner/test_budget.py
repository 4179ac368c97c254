"""The time of a run, and what of it is kept for its report."""

from memgauge.runner.budget import Budget


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
