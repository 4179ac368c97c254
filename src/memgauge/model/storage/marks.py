"""Converts the marks of a profiled program to regions.

A mark is one line: `b` or `e`, CLOCK_MONOTONIC_RAW in ns, process, thread, processor time of the
thread in ns, name. See memgauge/region.h. Programs built with an earlier library write `B` or `E`,
without the processor time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import msgspec

from memgauge.model.record_kinds.programs import Region
from memgauge.model.records import Warning
from memgauge.model.text import plain

MARKS_NAME = "marks.txt"
"""In the directory of a run while it is being recorded."""
MOST_REGIONS = 200_000
"""Most regions that are kept; a program that marks more gets a warning."""
_LONGEST_LINE = 512

_MARK = re.compile(rb"([BE]) (\d{1,19}) (\d{1,10}) (\d{1,10})() ([^\n]{1,200})\n")
_WITH_TIME = re.compile(rb"([be]) (\d{1,19}) (\d{1,10}) (\d{1,10}) (\d{1,19}) ([^\n]{1,200})\n")

Open = tuple[int, int, str]
"""Process, thread and name, which match an end to its begin."""


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file of marks; overlong lines come in pieces."""
    return iter(lambda: file.readline(_LONGEST_LINE), b"")


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One mark."""

    begins: bool
    """False: it ends a region."""
    stamp_ns: int
    """On CLOCK_MONOTONIC_RAW."""
    pid: int
    tid: int
    cpu_ns: int | None
    name: str


class Marks(msgspec.Struct, frozen=True):
    """The regions of a program."""

    regions: list[Region]
    """Regions in the order of their begins."""
    warnings: list[Warning]


def mark_of(line: bytes) -> Mark | None:
    """One line of a file of marks; None: it is none, or torn."""
    found = _WITH_TIME.fullmatch(line) or _MARK.fullmatch(line)
    if found is None:
        return None
    kind, stamp, pid, tid, cpu, name = found.groups()
    return Mark(
        begins=kind in {b"B", b"b"},
        stamp_ns=int(stamp),
        pid=int(pid),
        tid=int(tid),
        cpu_ns=int(cpu) if cpu else None,
        name=plain(name.decode("utf-8", "replace")),
    )


def regions_of(lines: Iterable[bytes], to_run_ns: Callable[[int], int]) -> Marks:
    """Each end closes the latest begin of its name on its thread."""
    made: list[Region] = []
    opened: dict[Open, list[tuple[int, int | None]]] = {}
    wrong = unopened = beyond = 0
    for line in lines:
        mark = mark_of(line)
        if mark is None:
            wrong += 1
            continue
        at_ns, cpu_ns = max(0, to_run_ns(mark.stamp_ns)), mark.cpu_ns
        key = (mark.pid, mark.tid, mark.name)
        if not mark.begins:
            if not opened.get(key):
                unopened += 1
            else:
                index, before_ns = opened[key].pop()
                made[index] = msgspec.structs.replace(
                    made[index], end_ns=at_ns, cpu_ns=_between(before_ns, cpu_ns)
                )
        elif len(made) == MOST_REGIONS:
            beyond += 1
        else:
            opened.setdefault(key, []).append((len(made), cpu_ns))
            made.append(Region(name=key[2], pid=key[0], tid=key[1], begin_ns=at_ns))
    made.sort(key=lambda region: region.begin_ns)
    return Marks(made, list(_warnings(wrong, unopened, beyond)))


def _between(before_ns: int | None, after_ns: int | None) -> int | None:
    if before_ns is None or after_ns is None or after_ns < before_ns:
        return None
    return after_ns - before_ns


def _warnings(wrong: int, unopened: int, beyond: int) -> Iterable[Warning]:
    if wrong:
        yield Warning(
            code="marks", message=f"{wrong} lines of marks are incomplete and were left out"
        )
    if unopened:
        yield Warning(
            code="marks",
            message=f"{unopened} regions ended without a recorded begin",
        )
    if beyond:
        yield Warning(
            code="marks",
            message=f"{beyond} regions beyond the first {MOST_REGIONS} were left out",
            remedy="mark fewer, longer regions",
        )
