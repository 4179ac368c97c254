"""The time budget of a run, from its first instruction to the last page of its report."""

from __future__ import annotations

import time

LEAST_STRETCH_S = 0.1
"""Over the requested precision, the least time over which each point is sampled: 10 s at 1%.

A run that ended sooner would speak for too short a stretch: the narrower an interval is to be, the
slower are the changes of the machine that matter to it.
"""


def least_stretch_s(precision: float) -> float:
    """Seconds over which points are sampled at least, however precise they are before."""
    return LEAST_STRETCH_S / max(precision, 1e-9)


class Budget:
    """Counts down from `total_s`; `reserve_s` at the end is kept for validation and the report."""

    def __init__(self, total_s: float, *, reserve_s: float = 0.0) -> None:
        self.total_s = total_s
        self.reserve(reserve_s)
        self._began = time.monotonic()

    def reserve(self, seconds: float) -> None:
        """Reserve this many seconds at the end, at most a quarter of the budget."""
        self.reserve_s = min(seconds, self.total_s / 4)

    @property
    def elapsed_s(self) -> float:
        """Time since the budget was opened."""
        return time.monotonic() - self._began

    @property
    def remaining_s(self) -> float:
        """Time left for measuring, never below zero."""
        return max(0.0, self.total_s - self.reserve_s - self.elapsed_s)

    @property
    def ended(self) -> bool:
        """Whether measuring must end now."""
        return self.remaining_s <= 0.0
