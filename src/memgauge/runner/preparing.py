"""How long a group of points takes to be prepared, so that a survey keeps time to measure.

Arrays are allocated, touched, filled and linked before anything is measured. How long that takes is
predicted by a model (`costs`), whose pace is learned from the groups that were prepared before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from memgauge.experiments.shared.importance import Importance
from memgauge.model.errors import DoesNotFit, OutOfTime
from memgauge.model.units import format_bytes, format_duration
from memgauge.runner.batches import Planned
from memgauge.runner.budget import (
    LEAST_PROMISED_S,
    PREPARING_SHARE,
    Budget,
    rounded_up,
)
from memgauge.runner.costs import CostModel
from memgauge.system.native import time_limit

ESSENTIAL_SHARE = 0.8
"""Of the time without the report, that a survey prepares for at most, to have what is essential."""


def is_essential(planned: Planned) -> bool:
    """Whether a group has points that every survey should measure."""
    return any(part.importance == Importance.ESSENTIAL for part in planned[2].parts())


def by_importance(batch: Sequence[Planned]) -> list[Planned]:
    """The order in which a survey prepares groups, as long as there is time.

    Of equally important ones of as many threads the smallest is first: the others may need more
    time than there is, where memory is slow to be had.
    """

    def rank(planned: Planned) -> tuple[Importance, int, int]:
        group = planned[2]
        return min(part.importance for part in group.parts()), -group.threads, group.bytes

    return sorted(batch, key=rank)


class Preparing:
    """Decides whether a survey can afford to prepare a further group of a batch."""

    def __init__(self, budget: Budget, model: CostModel) -> None:
        self._budget = budget
        self._model = model
        self._at_first_s = budget.remaining_s
        self._spent_s = 0.0
        self._predicted_s = 0.0
        self._has_any = False
        self._is_promised = budget.total_s >= LEAST_PROMISED_S

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
        left_s = self._left_s(planned)
        over_s = expected_s - left_s
        if over_s <= 0:
            return
        share, total_s = self._share(planned), self._budget.total_s
        left = f"{format_duration(left_s)} for it" if left_s > 0.01 else "no more time to prepare"
        raise DoesNotFit(
            f"{experiment.name}: {group.name}: preparing {format_bytes(group.bytes)} would take "
            f"about {format_duration(expected_s)}, and the budget of {format_duration(total_s)} "
            f"leaves {left}; use --budget {rounded_up(total_s + over_s / share)}"
        )

    @contextmanager
    def within_time(self, planned: Planned) -> Iterator[None]:
        """Prepare a group, and give it up when it takes what the budget allows for it.

        Memory that a virtual machine gets from its host when it is first touched can take ten times
        what the model predicts. The first group may take all of the time without the report:
        without it there is nothing to measure.

        Raises:
            OutOfTime: the time was over; the message says after how long.
        """
        experiment, _, group = planned
        began_s = self._budget.elapsed_s
        left_s = self._left_s(planned) if self._has_any else self._budget.remaining_s
        try:
            with time_limit(left_s) if self._is_promised else nullcontext():
                yield
        except OutOfTime as error:
            self.took(self._budget.elapsed_s - began_s, planned)
            total_s, needed_s = self._budget.total_s, 2 * left_s / self._share(planned)
            left = f"in the {format_duration(left_s)}" if left_s > 0 else "in the time"
            raise OutOfTime(
                f"{experiment.name}: {group.name}: {format_bytes(group.bytes)} were not prepared "
                f"{left} that the budget of {format_duration(total_s)} leaves for it; use --budget "
                f"{rounded_up(total_s + (needed_s if left_s > 0 else total_s))} or more"
            ) from error
        self.took(self._budget.elapsed_s - began_s, planned)
        self._has_any = True

    def _left_s(self, planned: Planned) -> float:
        return self._share(planned) * self._at_first_s - self._spent_s

    @staticmethod
    def _share(planned: Planned) -> float:
        return ESSENTIAL_SHARE if is_essential(planned) else PREPARING_SHARE
