"""What one run of the program would read from and write to memory, by the caches of this machine.

`memgauge simulate` executes the program by valgrind, tens of times slower, in a process of its own,
so that it can be ended when it takes too long.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import msgspec

from memgauge.model.record_kinds.simulated import Simulated, SimulatedLevel, SimulatedMachine
from memgauge.model.records import AnyRecord, Warning
from memgauge.model.simulated_program import SimulatedProgram
from memgauge.system.programs.ending import end_tree
from memgauge.system.programs.interpreter import isolated
from memgauge.system.programs.program import find_program

REMEDY = "install valgrind, or give more time with --simulate-up-to"
MOST_PLACES = 5
"""Functions that are recorded."""
MOST_MARKS = 1000
"""Of a run, at each of which valgrind writes its counts into a file, and begins anew."""
_ENDING_S = 5.0


class _Document(msgspec.Struct):
    program: SimulatedProgram


def modelled(words: list[str], point: str, most_s: float, marks: int = 0) -> Iterator[AnyRecord]:
    """Records of one simulated run; a warning where there is none.

    Args:
        words: The program's command line.
        point: Name of the point that it is recorded with.
        most_s: After so many seconds it is ended.
        marks: That a run makes where its regions are judged; 0: none are.
    """
    if find_program("valgrind") is None:
        yield not_simulated("valgrind is not installed")
        return
    by_region = ["--by-region"] if 0 < marks <= MOST_MARKS else []
    running = subprocess.Popen(
        isolated("memgauge", ["simulate", "--json", "--by", "function", *by_region, "--", *words]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    try:
        printed, _ = running.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        yield not_simulated(f"it takes longer than {most_s:g} s")
        return
    finally:
        if running.poll() is None:
            end_tree(running.pid, _ENDING_S)
            running.wait()
    try:
        program = msgspec.json.decode(printed, type=_Document).program
    except msgspec.DecodeError:
        yield not_simulated("valgrind could not execute it")
        return
    yield SimulatedMachine(machine=program.machine)
    yield Simulated(
        point=point,
        machine=program.machine.name,
        cores=1,
        accesses=sum(one.accesses for one in program.levels[:2]),
        load_read_bytes=program.load_read_bytes + (program.instruction_read_bytes or 0),
        allocate_read_bytes=program.allocate_read_bytes,
        software_prefetch_read_bytes=0,
        hardware_prefetch_read_bytes=program.prefetch_read_bytes,
        write_back_bytes=program.write_back_bytes,
        bypass_write_bytes=program.bypass_write_bytes,
        array_read_bytes={},
        levels=[
            SimulatedLevel(
                level=f"{one.level} {one.kind}",
                hits=max(0, one.accesses - one.misses),
                misses=one.misses,
                write_backs=0,
            )
            for one in program.levels
        ],
        took_s=program.took_s,
        places=program.places[:MOST_PLACES],
        regions=program.regions,
        no_regions=program.no_regions or (_too_many(marks) if marks > MOST_MARKS else ""),
    )


def _too_many(marks: int) -> str:
    return f"a run makes {marks:,} marks, and valgrind writes its counts at each of them"


def not_simulated(why: str, remedy: str = REMEDY) -> Warning:
    """States that there is no traffic.

    Args:
        why: The reason, after a colon.
        remedy: What to do.
    """
    return Warning(
        code="not-simulated",
        message=f"the program's traffic was not simulated: {why}",
        remedy=remedy,
        experiment="diagnose",
    )
