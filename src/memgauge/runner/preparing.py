"""How long a group of points takes to be prepared, so that a survey keeps time to measure.

Arrays are allocated, touched, filled and linked before anything is measured. That takes time in
proportion to their bytes, at a pace that depends on the machine, its load and the page size. The
pace is learned from the groups that were prepared before.
"""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.model.errors import DoesNotFit
from memgauge.model.units import format_bytes, format_duration
from memgauge.runner.batches import Planned
from memgauge.runner.budget import Budget

SHARE = 0.4
"""Of the time that is left when a batch begins, for preparing its groups."""
FIRST_PACE_S_PER_BYTE = 0.3 / (1 << 30)
"""Until a group was prepared: one thread that writes memory once at 3.5 GB/s."""

FIXED_BYTES = 64 << 20
"""What takes a group as long as everything but its memory, such as starting threads."""


def by_importance(batch: Sequence[Planned]) -> list[Planned]:
    """The order in which a survey prepares groups, as long as there is time.

    First one group of each experiment, in the order of these: the one with the most threads, which
    is the whole machine, or the first. Then all others.
    """
    firsts: dict[str, Planned] = {}
    for planned in batch:
        known = firsts.setdefault(planned[0].name, planned)
        if _threads(planned) > _threads(known):
            firsts[planned[0].name] = planned
    chosen = list(firsts.values())
    return [*chosen, *(planned for planned in batch if not any(planned is one for one in chosen))]


def _threads(planned: Planned) -> int:
    return max((point.threads for point in planned[2].points), default=0)


class Preparing:
    """Decides whether a survey can afford to prepare a further group of a batch."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._allowed_s = SHARE * budget.remaining_s
        self._spent_s = 0.0
        self._bytes = 0

    def took(self, seconds: float, size_bytes: int) -> None:
        """Learn from a group that was prepared.

        Args:
            seconds: How long it took.
            size_bytes: Memory that it allocated.
        """
        self._spent_s += seconds
        self._bytes += size_bytes

    def require_time(self, what: str, size_bytes: int) -> None:
        """Refuse a group that would leave too little time to measure; never the first one.

        Args:
            what: Experiment and group, for the message.
            size_bytes: Memory that it allocates.

        Raises:
            DoesNotFit: preparing it would take longer than the budget allows.
        """
        if not self._bytes:
            return
        pace = max(self._spent_s / (self._bytes + FIXED_BYTES), FIRST_PACE_S_PER_BYTE)
        expected_s = pace * size_bytes
        over_s = self._spent_s + expected_s - self._allowed_s
        if over_s <= 0:
            return
        total_s, left_s = self._budget.total_s, self._allowed_s - self._spent_s
        left = f"{format_duration(left_s)} for it" if left_s > 0.01 else "no more time to prepare"
        raise DoesNotFit(
            f"{what}: preparing {format_bytes(size_bytes)} would take about "
            f"{format_duration(expected_s)}, and the budget of {format_duration(total_s)} leaves "
            f"{left}; use --budget {_rounded_up(total_s + over_s / SHARE)}"
        )


def _rounded_up(seconds: float) -> str:
    step = 5 if seconds < 60 else 30
    return f"{int(-(-seconds // step) * step)}s"
