"""`memgauge simulate -- COMMAND ...`: memory traffic of a program on simulated caches."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memgauge import api
from memgauge.commands.shared.completing import files, machine_or_file
from memgauge.commands.shared.options import page_option
from memgauge.commands.shared.output import print_json
from memgauge.model.errors import (
    CommandNotExecutable,
    CommandNotFound,
    MemgaugeError,
    RequestError,
    SimulationFailed,
)
from memgauge.model.simulated_program import By, Engine
from memgauge.model.termination import shell_exit_code
from memgauge.model.text import plain
from memgauge.reports.files import check_writable
from memgauge.results import Simulation
from memgauge.simulation.program import ENGINES, PLACES, simulate_program


@click.command("simulate", context_settings={"allow_interspersed_args": False})
@click.option(
    "--machine",
    "name",
    metavar="NAME|FILE",
    shell_complete=machine_or_file,
    default="this",
    show_default=True,
    help="machine whose caches are simulated: a name that 'memgauge machines' lists, or a TOML "
    "file",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="callgrind: two cache levels, with child processes, faster; trace: all cache levels of "
    "the machine, without child processes, slower",
)
@click.option(
    "--by",
    type=click.Choice(PLACES),
    help="show where memory traffic arises, by function or by source line (callgrind only); lines "
    "need a program with debug information",
)
@click.option(
    "--by-region",
    is_flag=True,
    help="show what each region that the program marks moves (callgrind only); valgrind writes its "
    "counts at each mark",
)
@page_option
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="print one JSON document on stdout; the program's own output goes to stderr",
)
@click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[--] COMMAND ...",
    shell_complete=files,
)
def command(  # noqa: PLR0913 - all but the first by name
    command: tuple[str, ...],
    *,
    name: str,
    engine: Engine,
    by: By | None,
    by_region: bool,
    page: Path | None,
    as_json: bool,
) -> int:
    """Simulate what a program reads from and writes to memory, without counters or root.

    Valgrind executes it, tens to hundreds of times slower and with its threads one at a time; its
    accesses go through the caches of a machine that is named. Every figure is simulated, none is
    measured. The program's input, output and signals are its own, and its exit code becomes that of
    memgauge: 128 + N when signal N ended it. memgauge itself fails with 125; 126: the command may
    not be run; 127: there is none.

    \N{FORM FEED}

    Args:
        command: Words of the program's command line.
        name: Machine whose caches are simulated: `this` one, a name that `memgauge machines` lists,
            or the path of a TOML file.
        engine: `callgrind` simulates two levels, child processes too; `trace` simulates all levels,
            of the program alone, and is slower.
        by: Whether a table shows the traffic of each function or source line; None: of neither.
        by_region: Whether a table shows that of each region that the program marks.
        page: HTML file to write; None writes none.
        as_json: Whether stdout gets the JSON document, and stderr the program's own output.

    Raises:
        CommandNotFound, CommandNotExecutable: the program does not exist, or may not be executed.
        SimulationFailed: a wrong option, or a failure of memgauge or valgrind.
    """
    try:
        if not command:
            raise RequestError("simulate: give a command, after --; see memgauge simulate --help")
        machine = api.machine(name)
        if page is not None:
            check_writable(page)
        output = sys.stderr.buffer if as_json else None
        done = simulate_program(command, machine, engine, output, by, by_region=by_region)
        _present(Simulation(done), page=page, as_json=as_json)
    except (CommandNotFound, CommandNotExecutable):
        raise
    except MemgaugeError as error:
        raise SimulationFailed(str(error)) from error
    return shell_exit_code(done.exit_code, done.signal)


def _present(done: Simulation, *, page: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(done.document())
    else:
        from memgauge.reports.terminal.report import Look, render

        look = Look.of(sys.stderr)
        click.echo(render(done.report, look.columns, look.color, look.encoding), err=True)
    if page is not None:
        done.save(page)
        click.echo(f"memgauge: page: {plain(str(page))}", err=True)
