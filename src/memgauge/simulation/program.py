"""What a program reads from and writes to memory, by simulating the caches that it runs through.

An answer for who has neither counters nor root. Programs run some ten (callgrind) to a few hundred
times (trace) slower, with their threads one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, get_args

from memgauge.model.arguments import text_of
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.simulated_program import Engine, SimulatedProgram
from memgauge.model.text import quoted
from memgauge.simulation.valgrind import check_command, find_valgrind
from memgauge.system.limits.temporary import require_temporary

TEMPORARY_BYTES = 64 << 10
"""What valgrind's files take at least."""

ENGINES: tuple[Engine, ...] = get_args(Engine)


def simulate_program(
    command: Sequence[str],
    machine: CacheMachine,
    engine: Engine = "callgrind",
    output: int | IO[bytes] | None = None,
) -> SimulatedProgram:
    """Execute a program once on the simulated caches of a machine.

    Its input, standard error and signals are ours; `output` is where its standard output goes,
    ours where None.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such program.
        RequestError: valgrind is missing, or cannot execute it; the machine makes no sense; no
            temporary file can be written.
        SimulationFailed: valgrind was started and simulated nothing.
    """
    if text_of(engine, "engine") not in ENGINES:
        raise RequestError(
            f"engine {quoted(engine)}: there is none of that name; choose from {', '.join(ENGINES)}"
        )
    valgrind = find_valgrind()
    check_command(command)
    require_temporary("simulate", TEMPORARY_BYTES)
    if engine == "trace":
        from memgauge.simulation.lackey import simulate_by_trace

        return simulate_by_trace(command, machine, valgrind, output)
    from memgauge.simulation.callgrind import simulate_by_callgrind

    return simulate_by_callgrind(command, machine, valgrind, output)
