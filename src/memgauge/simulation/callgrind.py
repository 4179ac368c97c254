"""Simulates a program on two levels of cache with callgrind.

Source: the Valgrind User Manual, 6 (callgrind), events Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw and,
with --simulate-wb, ILdmr DLdmr DLdmw: misses of the last level that wrote a changed line back.
An access that lies in two lines counts once, and misses where either is missing.

A process writes its counts when it ends. They are lost when the process is killed or replaces
itself by another program (exec): such programs are recognised by the line callgrind prints at each
start.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec

from memgauge.counters.marks import VARIABLE
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import SimulationFailed
from memgauge.model.simulated_program import By, ProgramLevel, SimulatedProgram
from memgauge.model.text import quoted
from memgauge.simulation.callgrind_places import Lines, lines_by_place, places_of
from memgauge.simulation.callgrind_regions import MARKS, ByRegion, Part, by_region_of, parts_of
from memgauge.simulation.callgrind_regions import OPTIONS as REGION_OPTIONS
from memgauge.simulation.remarks import remarks
from memgauge.simulation.two_levels import TwoLevels, two_levels
from memgauge.simulation.valgrind import (
    OPTIONS,
    Valgrind,
    by_path,
    how_it_ended,
    nothing_counted,
    running,
)
from memgauge.system.programs.program import Ended
from memgauge.system.programs.work_directory import LOG, OUTPUT, work_directory

Events = dict[str, int]
_COUNT = re.compile(r"[0-9]{1,20}", re.ASCII)


class _Counted(msgspec.Struct, frozen=True, kw_only=True):
    caches: TwoLevels
    ended: Ended
    events: Events
    processes: int
    left_out: int
    uncounted: int
    took_s: float
    places: list[Lines]
    """Of each part of each process; empty: not asked for."""
    regions: ByRegion | None
    """None: not asked for."""


def simulate_by_callgrind(  # noqa: PLR0913 - what is executed, how, and what of it is shown
    command: Sequence[str],
    machine: CacheMachine,
    valgrind: Valgrind,
    output: int | IO[bytes] | None = None,
    by: By | None = None,
    *,
    by_region: bool = False,
) -> SimulatedProgram:
    """Execute the program once, with the processes that it starts.

    Args:
        command: The program, found as a shell finds it, and its arguments.
        machine: Machine whose caches are approximated by two levels.
        valgrind: The installed valgrind.
        output: Descriptor or file for the program's standard output; None for this process's own.
        by: Places that traffic is attributed to; None: none.
        by_region: Whether to attribute it to the regions that the program marks, too.

    Raises:
        RequestError: callgrind cannot approximate the machine with two levels.
        SimulationFailed: valgrind could not execute it.
    """
    counted = _execute(command, two_levels(machine), valgrind, output, by, by_region=by_region)
    return _program(command, machine, valgrind, counted, by)


def totals_of(text: str) -> Events | None:
    """The sums of a file that callgrind wrote, by event; None if it has none or is incomplete."""
    names: list[str] = []
    for line in text.splitlines(keepends=True):
        key, _, rest = line.partition(":")
        if key == "events":
            names = rest.split()
        elif key == "totals" and names and rest.endswith("\n"):  # else the disk was full
            return _sums(names, rest.split())
    return None


def _sums(names: Sequence[str], words: Sequence[str]) -> Events | None:
    """Values by event; callgrind omits trailing zeros from the file."""
    if len(words) > len(names) or not all(_COUNT.fullmatch(word) for word in words):
        return None
    values = [int(word) for word in words]
    return dict(zip(names, values + [0] * (len(names) - len(values)), strict=True))


def _execute(  # noqa: PLR0913 - what is executed, how, and what of it is kept
    command: Sequence[str],
    levels: TwoLevels,
    valgrind: Valgrind,
    output: int | IO[bytes] | None,
    by: By | None,
    *,
    by_region: bool,
) -> _Counted:
    with work_directory("simulate") as directory:
        options = [*_options(levels, directory), *(REGION_OPTIONS if by_region else ())]
        words = [valgrind.path, *options, *by_path(command)]
        marks = directory / MARKS
        if by_region:
            marks.touch()
        began = time.monotonic()
        with (
            remarks(directory / LOG) as said,
            running(
                words,
                output=output,
                directory=directory,
                environment={**os.environ, VARIABLE: str(marks)} if by_region else None,
            ) as child,
        ):
            ended = how_it_ended(child)
        took_s = time.monotonic() - began
        parts = _parts_by_process(directory)
        found = {pid: one for pid, of in parts.items() if (one := _events(of)) is not None}
        own = found.keys() & said.starts.keys()
        mine = [part.path for pid in sorted(own) for part in parts[pid]]
        places = [_places(path, by) for path in mine] if by else []
        regions = None
        if by_region and own:
            line_bytes = levels.last.line_bytes
            regions = by_region_of({pid: parts[pid] for pid in own}, marks, by, line_bytes)
    # A process that forked without starting a program also contains the counts of its parent.
    if not own and said.starts and ended.signal is None:
        place = quoted(str(directory.parent))
        raise SimulationFailed(
            f"{quoted(command[0])}: valgrind could not write its counts to {place}; free space "
            "there, or set TMPDIR to another directory"
        )
    if not own:
        raise nothing_counted(command, ended, said.last)
    return _Counted(
        caches=levels,
        ended=ended,
        events={name: sum(found[pid][name] for pid in own) for name in found[min(own)]},
        processes=len(own),
        left_out=len(found) - len(own),
        uncounted=said.starts.total() - len(own),
        took_s=took_s,
        places=places,
        regions=regions,
    )


def _options(levels: TwoLevels, directory: Path) -> list[str]:
    place = str(directory).replace("%", "%%")  # callgrind expands %p and the like
    return [
        "--tool=callgrind",
        *OPTIONS,
        "--cache-sim=yes",
        "--simulate-wb=yes",
        "--compress-pos=no",
        f"--I1={levels.instructions.option}",
        f"--D1={levels.first.option}",
        f"--LL={levels.last.option}",
        "--trace-children=yes",
        f"--log-file={place}/{LOG}",
        f"--callgrind-out-file={place}/{OUTPUT}%p",
    ]


def _program(
    command: Sequence[str],
    machine: CacheMachine,
    valgrind: Valgrind,
    counted: _Counted,
    by: By | None,
) -> SimulatedProgram:
    """Convert callgrind's events to bytes of lines."""
    events, caches = counted.events, counted.caches
    line_bytes = caches.last.line_bytes
    places = places_of(counted.places, line_bytes)
    return SimulatedProgram(
        command=list(command),
        machine=machine,
        engine="callgrind",
        valgrind=valgrind.version,
        levels=_levels(machine, events),
        load_read_bytes=events["DLmr"] * line_bytes,
        allocate_read_bytes=events["DLmw"] * line_bytes,
        instruction_read_bytes=events["ILmr"] * line_bytes,
        prefetch_read_bytes=0,
        write_back_bytes=(events["ILdmr"] + events["DLdmr"] + events["DLdmw"]) * line_bytes,
        bypass_write_bytes=0,
        left_changed_bytes=None,
        left_changed_at_most_bytes=caches.last.bytes * counted.processes,
        instructions=events["Ir"],
        processes=counted.processes,
        left_out_processes=counted.left_out,
        uncounted_programs=counted.uncounted,
        exit_code=counted.ended.exit_code,
        signal=counted.ended.signal,
        took_s=counted.took_s,
        by=by,
        places=places.kept,
        left_out_places=places.left_out,
        without_line_bytes=places.without_line_bytes if by == "line" else None,
        regions=counted.regions.regions if counted.regions else [],
        no_regions=counted.regions.why_not if counted.regions else None,
        notes=[
            *caches.notes,
            "an access that lies in two lines counts as one",
            "a read-modify-write instruction counts as one store, which reads its line",
            "callgrind does not report which lines were still modified in the caches at the end",
        ],
    )


def _parts_by_process(directory: Path) -> dict[int, list[Part]]:
    pids = (path.name.partition(".")[2] for path in directory.glob(f"{OUTPUT}*"))
    return {int(pid): parts_of(directory, int(pid)) for pid in pids if pid.isdecimal()}


def _events(parts: Sequence[Part]) -> Events | None:
    """Sums over the parts of a process; None: it did not write its last one."""
    found = [totals_of(_text(part.path)) for part in parts]
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    return {name: sum(one[name] for one in known) for name in known[-1]}


def _places(path: Path, by: By) -> Lines:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return lines_by_place(lines, by)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _levels(machine: CacheMachine, events: Events) -> list[ProgramLevel]:
    first, last = machine.levels[0].name, machine.levels[-1].name
    if first == last:
        last = "last level"
    return [
        ProgramLevel(level=first, kind="loads", accesses=events["Dr"], misses=events["D1mr"]),
        ProgramLevel(level=first, kind="stores", accesses=events["Dw"], misses=events["D1mw"]),
        ProgramLevel(
            level=first, kind="instructions", accesses=events["Ir"], misses=events["I1mr"]
        ),
        ProgramLevel(level=last, kind="loads", accesses=events["D1mr"], misses=events["DLmr"]),
        ProgramLevel(level=last, kind="stores", accesses=events["D1mw"], misses=events["DLmw"]),
        ProgramLevel(
            level=last, kind="instructions", accesses=events["I1mr"], misses=events["ILmr"]
        ),
    ]
