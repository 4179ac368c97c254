"""The run's clock: the native core's, calibrated on its first use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memgauge.model.errors import SystemFailure
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
