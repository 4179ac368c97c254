"""Marks that a profiled program left, made into regions on the run's clock.

A mark is one line: `B` or `E`, CLOCK_MONOTONIC_RAW in ns, process, thread, name. See
memgauge/region.h.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from memgauge.model.records import LARGEST_INTEGER, Region, Warning
from memgauge.model.text import plain
from memgauge.system.clock import stamp_clock

VARIABLE = "MEMGAUGE_MARKS"
MOST_REGIONS = 200_000
"""Kept; a program that marks more gets a warning."""

_MARK = re.compile(rb"([BE]) (\d{1,19}) (\d{1,10}) (\d{1,10}) ([^\n]{1,200})\n")

Open = tuple[int, int, str]
"""Process, thread and name: what an end belongs to."""


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


class Marks(msgspec.Struct, frozen=True):
    """What a program marked."""

    regions: list[Region]
    """In the order of their begin."""
    warnings: list[Warning]


def read_marks(path: Path, to_run_ns: Callable[[int], int]) -> Marks:
    """Regions of a file of marks; none where there is no file."""
    try:
        with path.open("rb") as file:
            return regions_of(file, to_run_ns)
    except FileNotFoundError:
        return Marks([], [])
    except OSError as error:
        why = f"marks of the program cannot be read: {error.strerror}"
        return Marks([], [Warning(code="marks", message=why)])


def regions_of(lines: Iterable[bytes], to_run_ns: Callable[[int], int]) -> Marks:
    """Each end closes the latest begin of its name on its thread."""
    made: list[Region] = []
    opened: dict[Open, list[int]] = {}
    wrong = unopened = beyond = 0
    for line in lines:
        mark = _MARK.fullmatch(line)
        if mark is None:
            wrong += 1
            continue
        kind, stamp, pid, tid, name = mark.groups()
        at_ns = max(0, to_run_ns(int(stamp)))
        key = (int(pid), int(tid), plain(name.decode("utf-8", "replace")))
        if kind == b"E":
            if not opened.get(key):
                unopened += 1
            else:
                index = opened[key].pop()
                made[index] = msgspec.structs.replace(made[index], end_ns=at_ns)
        elif len(made) == MOST_REGIONS:
            beyond += 1
        else:
            opened.setdefault(key, []).append(len(made))
            made.append(Region(name=key[2], pid=key[0], tid=key[1], begin_ns=at_ns))
    made.sort(key=lambda region: region.begin_ns)
    return Marks(made, list(_warnings(wrong, unopened, beyond)))


def _warnings(wrong: int, unopened: int, beyond: int) -> Iterable[Warning]:
    if wrong:
        yield Warning(code="marks", message=f"{wrong} lines of marks are torn and were left out")
    if unopened:
        yield Warning(
            code="marks",
            message=f"{unopened} regions ended that had not begun, or whose begin was left out",
        )
    if beyond:
        yield Warning(
            code="marks",
            message=f"{beyond} regions beyond the first {MOST_REGIONS} were left out",
            remedy="mark longer stretches",
        )
