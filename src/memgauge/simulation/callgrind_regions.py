"""What a program moves in each region that it marks, from the dumps that callgrind makes at marks.

Callgrind writes its counts, and begins anew, before each call of a function that marks
(`--dump-before`): so the counts of a process come in parts, one more than it makes marks, and the
program's own marks tell which regions are open in each. Source: the Valgrind User Manual, 6.3,
Counting parts of the execution. Whoever marks without that library, as Python does, is not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from memgauge.model.simulated_program import By, TrafficRegion
from memgauge.model.storage.marks import Mark, lines_of, mark_of
from memgauge.simulation.callgrind_places import (
    Lines,
    lines_by_place,
    places_of,
)
from memgauge.system.programs.work_directory import OUTPUT

MARKS = f"{OUTPUT}-"
"""File of the program's marks, beside those that callgrind writes."""
MOST_PLACES = 3
"""Kept of each region."""
BEGINS = ("memgauge_region_begin", "memgauge_region_begin_")
ENDS = ("memgauge_region_end", "memgauge_region_end_")
"""Functions of libmemgauge_region: in C and C++, and in Fortran."""
OPTIONS = tuple(f"--dump-before={name}" for name in (*BEGINS, *ENDS))
_TRIGGER = re.compile(r"^desc: Trigger: --dump-before=(memgauge_region_[a-z_]+)$", re.MULTILINE)
_COMMAND = re.compile(r"^cmd:.*$", re.MULTILINE)


class Part(msgspec.Struct, frozen=True):
    """Counts of one process from one mark to the next."""

    path: Path
    begins: bool | None
    """Whether the mark at its end begins a region; None: it ends with the process."""


class ByRegion(msgspec.Struct, frozen=True):
    """What is known of the regions of a program."""

    regions: list[TrafficRegion]
    why_not: str | None
    """None: nothing is missing."""


def parts_of(directory: Path, pid: int) -> list[Part]:
    """The parts of one process in their order; the last of them when it ended.

    Those of a program that this one has replaced (exec) are left out.

    Args:
        directory: Where callgrind wrote them.
        pid: The process.
    """
    last = directory / f"{OUTPUT}{pid}"
    command = _COMMAND.search(_head(last))
    found = []
    for path in directory.glob(f"{OUTPUT}{pid}.*"):
        head, number = _head(path), path.name.rpartition(".")[2]
        trigger, own = _TRIGGER.search(head), _COMMAND.search(head)
        if number.isdecimal() and trigger and (own and own[0]) == (command and command[0]):
            found.append((int(number), Part(path, trigger[1] in BEGINS)))
    return [*(part for _, part in sorted(found, key=lambda one: one[0])), Part(last, None)]


def _head(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(1 << 16)


def by_region_of(
    parts: Mapping[int, Sequence[Part]], marks_file: Path, by: By | None, line_bytes: int
) -> ByRegion:
    """Sums over the processes of a program; of a part of them alone nothing is told.

    Args:
        parts: By process.
        marks_file: What the program marked.
        by: Places to attribute the traffic of a region to; None: none.
        line_bytes: Length of a line of the last level.
    """
    marks, wrong = _marks(marks_file)
    if wrong:
        return ByRegion([], "its marks are incomplete")
    if not marks and all(len(of) == 1 for of in parts.values()):
        return ByRegion([], None)
    if marks.keys() - parts.keys():
        return ByRegion([], "a process marks regions that forked without starting a program")
    sums: dict[str, Lines] = {}
    for pid, of in parts.items():
        inside = inside_parts(marks.get(pid, []), [one.begins for one in of[:-1]])
        if isinstance(inside, str):
            return ByRegion([], inside)
        for part, names in zip(of, inside, strict=True):
            for name in names:
                _add(sums.setdefault(name, {}), part.path, by or "function")
    return ByRegion([_region(name, lines, by, line_bytes) for name, lines in sums.items()], None)


def inside_parts(marks: Sequence[Mark], begins: Sequence[bool | None]) -> list[list[str]] | str:
    """Which regions at least one thread is inside of, in each part; else why it is not known.

    Args:
        marks: Of one process, as it wrote them.
        begins: Of each part but the last: whether the mark that ended it begins a region.
    """
    if marks and not begins:
        return "valgrind sees no call that makes its marks, such as those of Python"
    if [one.begins for one in marks] != list(begins):
        return (
            f"it wrote {len(marks)} marks, and valgrind saw {len(begins)} calls, or in another "
            "order"
        )
    inside: Counter[str] = Counter()
    found: list[list[str]] = [[]]
    for one in marks:
        inside[one.name] += 1 if one.begins else -1
        if inside[one.name] < 0:
            return f"region {one.name} ends more often than it begins"
        found.append([name for name, count in inside.items() if count])
    return found


def _marks(path: Path) -> tuple[dict[int, list[Mark]], bool]:
    """By process in the order of writing, and whether any line is no mark."""
    found: dict[int, list[Mark]] = {}
    with path.open("rb") as file:
        for line in lines_of(file):
            one = mark_of(line)
            if one is None:
                return found, True
            found.setdefault(one.pid, []).append(one)
    return found, False


def _add(sums: Lines, path: Path, by: By) -> None:
    with path.open(encoding="utf-8", errors="replace") as text:
        for place, (read, written) in lines_by_place(text, by).items():
            before = sums.get(place, (0, 0))
            sums[place] = (before[0] + read, before[1] + written)


def _region(name: str, lines: Lines, by: By | None, line_bytes: int) -> TrafficRegion:
    return TrafficRegion(
        name=name,
        read_bytes=sum(read for read, _ in lines.values()) * line_bytes,
        write_bytes=sum(written for _, written in lines.values()) * line_bytes,
        places=places_of([lines], line_bytes).kept[:MOST_PLACES] if by else [],
    )
