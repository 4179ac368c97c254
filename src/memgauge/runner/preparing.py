"""How long a group of points takes to be prepared, so that a survey keeps time to measure.

Arrays are allocated, touched, filled and linked before anything is measured. How long that takes is
predicted by a model (`costs`), whose pace is learned from the groups that were prepared before.
"""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.experiments.shared.importance import Importance
from memgauge.model.errors import DoesNotFit
from memgauge.model.units import format_bytes, format_duration
from memgauge.runner.batches import Planned
from memgauge.runner.budget import PREPARING_SHARE, Budget, rounded_up
from memgauge.runner.costs import CostModel

ESSENTIAL_SHARE = 0.8
"""Of the time without the report, that a survey prepares for at most, to have what is essential."""


def is_essential(planned: Planned) -> bool:
    """Whether a group has points that every survey should measure."""
    return any(part.importance == Importance.ESSENTIAL for part in planned[2].parts())


def by_importance(batch: Sequence[Planned]) -> list[Planned]:
    """The order in which a survey prepares groups, as long as there is time."""
    return sorted(
        batch, key=lambda one: (min(part.importance for part in one[2].parts()), -one[2].threads)
    )


class Preparing:
    """Decides whether a survey can afford to prepare a further group of a batch."""

    def __init__(self, budget: Budget, model: CostModel) -> None:
        self._budget = budget
        self._model = model
        self._at_first_s = budget.remaining_s
        self._spent_s = 0.0
        self._predicted_s = 0.0

    def took(self, seconds: float, planned: Planned) -> None:
        """Learn from a group that was prepared.

        Args:
            seconds: How long it took.
            planned: The group.
        """
        self._spent_s += seconds
        self._predicted_s += self._model.setup_s(planned[2].setup())

    def require_time(self, planned: Planned) -> None:
        """Refuse a group that would leave too little time to measure; never the first one.

        Raises:
            DoesNotFit: preparing it would take longer than the budget allows.
        """
        if not self._predicted_s:
            return
        experiment, _, group = planned
        pace = max(1.0, self._spent_s / self._predicted_s)
        expected_s = pace * self._model.setup_s(group.setup())
        share = ESSENTIAL_SHARE if is_essential(planned) else PREPARING_SHARE
        allowed_s = share * self._at_first_s
        over_s = self._spent_s + expected_s - allowed_s
        if over_s <= 0:
            return
        total_s, left_s = self._budget.total_s, allowed_s - self._spent_s
        left = f"{format_duration(left_s)} for it" if left_s > 0.01 else "no more time to prepare"
        raise DoesNotFit(
            f"{experiment.name}: {group.name}: preparing {format_bytes(group.bytes)} would take "
            f"about {format_duration(expected_s)}, and the budget of {format_duration(total_s)} "
            f"leaves {left}; use --budget {rounded_up(total_s + over_s / share)}"
        )
