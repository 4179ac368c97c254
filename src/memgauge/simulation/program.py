"""Simulates caches to determine what a program reads from and writes to memory.

This needs neither counters nor root. Programs run about ten (callgrind) to a few hundred times
(trace) slower, with one thread at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, get_args

from memgauge.model.arguments import text_of
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.simulated_program import By, Engine, SimulatedProgram
from memgauge.model.text import quoted
from memgauge.simulation.valgrind import check_command, find_valgrind
from memgauge.system.limits.temporary import require_temporary

TEMPORARY_BYTES = 64 << 10
"""Least space in bytes that valgrind's files need."""

ENGINES: tuple[Engine, ...] = get_args(Engine)
PLACES: tuple[By, ...] = get_args(By)


def simulate_program(  # noqa: PLR0913 - what is executed, how, and what of it is shown
    command: Sequence[str],
    machine: CacheMachine,
    engine: Engine = "callgrind",
    output: int | IO[bytes] | None = None,
    by: By | None = None,
    *,
    by_region: bool = False,
) -> SimulatedProgram:
    """Execute a program once on the simulated caches of a machine.

    The program shares memgauge's standard input, standard error and signals.

    Args:
        command: the command line.
        machine: the machine whose caches are simulated.
        engine: `callgrind` (two levels) or `trace` (all levels, slower).
        output: descriptor for the program's standard output; None for memgauge's own.
        by: attribute traffic to each `function` or source `line`; None: to neither. Only callgrind
            can.
        by_region: attribute traffic to each region that the program marks, too. Only callgrind can.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such program.
        RequestError: valgrind is missing or cannot execute the program, the machine is
            inconsistent, no temporary file can be written, or the engine knows no places.
        SimulationFailed: valgrind was started, but simulated nothing.
    """
    if text_of(engine, "engine") not in ENGINES:
        raise RequestError(f"engine {quoted(engine)} is unknown; choose from {', '.join(ENGINES)}")
    if by is not None and text_of(by, "by") not in PLACES:
        raise RequestError(f"by {quoted(by)}: is unknown; choose from {', '.join(PLACES)}")
    if by is not None and engine != "callgrind":
        raise RequestError(
            f"--by {by}: the engine {engine} does not know which code makes an access; use "
            "--engine callgrind"
        )
    if by_region and engine != "callgrind":
        raise RequestError(
            f"--by-region: the engine {engine} does not know when a region begins; use "
            "--engine callgrind"
        )
    valgrind = find_valgrind()
    check_command(command)
    require_temporary("simulate", TEMPORARY_BYTES)
    if engine == "trace":
        from memgauge.simulation.lackey import simulate_by_trace

        return simulate_by_trace(command, machine, valgrind, output)
    from memgauge.simulation.callgrind import simulate_by_callgrind

    return simulate_by_callgrind(command, machine, valgrind, output, by, by_region=bool(by_region))
