"""The run's clock: the native core's, calibrated on its first use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import SystemFailure
from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.records import Clock
from memgauge.system.native import load_core

if TYPE_CHECKING:
    from collections.abc import Callable


def clock_record() -> Clock:
    """Describe the clock of all time stamps.

    Raises:
        SystemFailure: the native core is missing.
    """
    info = load_core().clock_info()
    return Clock(
        source=info.source,
        ns_per_tick=info.ns_per_tick,
        cost_ns=info.cost_ns,
        resolution_ns=info.resolution_ns,
        calibration_error_ppm=info.calibration_error_ppm,
        epoch_raw_ns=info.epoch_raw_ns,
    )


def stamp_clock() -> Callable[[], int]:
    """The function that reads the clock in ns.

    The system's monotonic clock if the core is missing.
    """
    try:
        now: Callable[[], int] = load_core().clock_now_ns
    except SystemFailure:
        return time.monotonic_ns
    return now


class ClockPair(msgspec.Struct, frozen=True):
    """One instant on CLOCK_MONOTONIC_RAW and on the run's clock."""

    raw_ns: int
    run_ns: int

    @classmethod
    def now(cls) -> ClockPair:
        """The tightest of several brackets, so that an interrupt between does no harm."""
        run_clock = stamp_clock()
        best, width_ns = cls(0, 0), LARGEST_INTEGER
        for _ in range(16):
            before_ns = run_clock()
            raw_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            after_ns = run_clock()
            if after_ns - before_ns < width_ns:
                best, width_ns = cls(raw_ns, (before_ns + after_ns) // 2), after_ns - before_ns
        return best


def on_run_clock(first: ClockPair, last: ClockPair) -> Callable[[int], int]:
    """From the raw clock to the run's, even where the two drift by some ppm over hours."""
    raw_ns, run_ns = last.raw_ns - first.raw_ns, last.run_ns - first.run_ns
    if raw_ns <= 0:
        return lambda stamp_ns: stamp_ns - first.raw_ns + first.run_ns
    return lambda stamp_ns: first.run_ns + (stamp_ns - first.raw_ns) * run_ns // raw_ns
