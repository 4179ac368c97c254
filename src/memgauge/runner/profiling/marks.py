"""Marks that a profiled program left, put on the run's clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.records import Warning
from memgauge.model.storage.marks import Marks, lines_of, regions_of
from memgauge.system.environment.clock import stamp_clock

VARIABLE = "MEMGAUGE_MARKS"


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


def read_marks(path: Path, to_run_ns: Callable[[int], int]) -> Marks:
    """Regions of a file of marks; none where there is no file."""
    try:
        with path.open("rb") as file:
            return regions_of(lines_of(file), to_run_ns)
    except FileNotFoundError:
        return Marks([], [])
    except OSError as error:
        why = f"marks of the program cannot be read: {error.strerror}"
        return Marks([], [Warning(code="marks", message=why)])
