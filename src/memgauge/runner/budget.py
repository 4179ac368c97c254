"""The time budget of a run, from its first instruction to the last page of its report."""

from __future__ import annotations

import time
from typing import NamedTuple, Self

import msgspec

LEAST_STRETCH_S = 0.1
"""Over the requested precision, the least time over which each point is sampled: 10 s at 1%.

A run that ended sooner would speak for too short a stretch: the narrower an interval is to be, the
slower are the changes of the machine that matter to it.
"""

REPORT_S = 1.2
"""Processor time of validation and of a report about nothing,"""
REPORT_S_PER_POINT = 0.006
"""for each point in it"""
REPORT_S_PER_SAMPLE = 3e-5
"""and for each sample, which counts where there are many of each point:"""
SAMPLES_INCLUDED = 100
"""so many are in what a point takes."""
REPORT_SHARE = 0.25
"""Of the budget at most, that is kept for the report, however slow the machine is;"""
SURVEY_REPORT_SHARE = 0.5
"""and of that of a survey, which promises when it ends."""

FIRST_ROUNDS = 6
"""Rounds from which a point has an interval of its median;"""
FIRST_ROUNDS_SHARE = 0.5
"""and what they may take of the time for the report, which without figures is worth nothing."""

PAGE_S = 0.9
"""Processor time of the HTML page and the whole text of a report about nothing,"""
PAGE_S_PER_POINT = 0.004
"""and for each point in them: what they show is analysed by then."""
BUSIER = 1.25
"""Times that the machine may become slower while they are written."""
LATE_SHARE = 0.1
"""Of its budget, by which a survey ends at the latest after it,"""
LATE_S = 5.0
"""and seconds of them at most."""
LEAST_PROMISED_S = 5.0
"""The least budget that a survey keeps to: starting alone takes a second on a busy machine."""

PREPARING_SHARE = 0.5
"""Of the time without the report, that a survey prepares for at most."""

MOST_START_S = 1.5
"""Processor time in which a command starts; the machine's load does not lengthen it."""

SLOWEST = 20.0
"""Times that a machine is taken to be slower because of other programs, at most."""


def least_stretch_s(precision: float) -> float:
    """Seconds over which points are sampled at least, however precise they are before."""
    return LEAST_STRETCH_S / max(precision, 1e-9)


def rounded_up(seconds: float) -> str:
    """A budget with room for so much, as it is written on the command line."""
    step = 5 if seconds < 60 else 30 if seconds < 600 else 300
    return f"{int(-(-seconds // step) * step)}s"


class Beginning(NamedTuple):
    """When a run began, and what processor time the process had used by then."""

    at_s: float
    processor_s: float

    @classmethod
    def now(cls) -> Self:
        """At this moment."""
        return cls(time.monotonic(), time.process_time())

    @classmethod
    def of_process(cls) -> Self:
        """When this process was started, for a command: its user waits from there on.

        Now, where the process did other things before: a program that calls commands one by one.
        """
        if time.process_time() > MOST_START_S:
            return cls.now()
        since_boot_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        return cls(time.monotonic() - (since_boot_s - _started_s(since_boot_s)), 0.0)


def _started_s(since_boot_s: float) -> float:
    """Seconds from boot to the start of this process; now, where the kernel does not show it."""
    import os
    from pathlib import Path

    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        ticks = int(fields.rpartition(")")[2].split()[19])
        return min(since_boot_s, ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return since_boot_s


class BudgetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How the time of a survey is divided, before any of it is spent on memory."""

    total_s: float
    spent_s: float
    """Before anything is prepared."""
    pace: float = 1.0
    """How much longer the report takes, because the machine is busy or slow."""

    def report_s(self, points: int) -> float:
        """Seconds kept for the report about so many points."""
        return min(self.total_s * SURVEY_REPORT_SHARE, report_s(points, self.pace))

    def available_s(self, points: int) -> float:
        """Seconds for preparing and measuring so many points."""
        return max(0.0, self.total_s - self.spent_s - self.report_s(points))

    def total_for(self, setup_s: float, rounds_s: float, points: int) -> float:
        """The budget with room for so much.

        Args:
            setup_s: Preparing.
            rounds_s: All rounds.
            points: That are reported.
        """
        measured_s = max(setup_s / PREPARING_SHARE, setup_s + rounds_s)
        return self.spent_s + measured_s + report_s(points, self.pace)


def report_s(points: int, pace: float, samples: int = 0) -> float:
    """Seconds that validation and the report take.

    Args:
        points: In the report.
        pace: How much longer everything takes than on a quiet machine.
        samples: Of all points.
    """
    more = max(0, samples - SAMPLES_INCLUDED * points)
    return pace * (REPORT_S + REPORT_S_PER_POINT * points + REPORT_S_PER_SAMPLE * more)


class Budget:
    """Counts down from `total_s`; `reserve_s` at the end is kept for validation and the report."""

    def __init__(
        self, total_s: float, *, reserve_s: float = 0.0, began: Beginning | None = None
    ) -> None:
        self.total_s = total_s
        self.reserve(reserve_s)
        self.began = began or Beginning.now()

    def reserve(self, seconds: float, share: float = REPORT_SHARE) -> None:
        """Reserve this many seconds at the end, at most a share of the budget."""
        self.reserve_s = min(seconds, self.total_s * share)

    @property
    def elapsed_s(self) -> float:
        """Time since the run began."""
        return time.monotonic() - self.began.at_s

    @property
    def remaining_s(self) -> float:
        """Time left for measuring, never below zero."""
        return max(0.0, self.total_s - self.reserve_s - self.elapsed_s)

    @property
    def ended(self) -> bool:
        """Whether measuring must end now."""
        return self.remaining_s <= 0.0

    def has_ended(self, rounds: int) -> bool:
        """Whether measuring must end after so many rounds; the first few may take longer."""
        longer_s = FIRST_ROUNDS_SHARE * self.reserve_s if rounds < FIRST_ROUNDS else 0.0
        return self.elapsed_s >= self.total_s - self.reserve_s + longer_s

    def has_time_for_page(self, points: int, printing: Beginning) -> bool:
        """Whether a survey that writes its page now ends when it promised to.

        Args:
            points: In the page.
            printing: When the report began to be printed: the machine may be busier since.
        """
        latest_s = self.total_s + min(LATE_SHARE * self.total_s, LATE_S)
        pace = max(pace_since(self.began), pace_since(printing))
        page_s = BUSIER * pace * (PAGE_S + PAGE_S_PER_POINT * points)
        return self.total_s < LEAST_PROMISED_S or self.elapsed_s + page_s <= latest_s

    @property
    def pace(self) -> float:
        """Time over processor time so far: above 1 where other programs have the processors."""
        return pace_since(self.began)


def pace_since(began: Beginning) -> float:
    """Time over processor time since then, between 1 and `SLOWEST`."""
    used_s = time.process_time() - began.processor_s
    elapsed_s = time.monotonic() - began.at_s
    return min(SLOWEST, max(1.0, elapsed_s / max(used_s, 0.01)))
