"""`memgauge profile -- COMMAND ...`: one timeline of everything that can be counted beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.commands.options import given, options_of
from memgauge.model.errors import (
    CommandNotExecutable,
    CommandNotFound,
    MemgaugeError,
    ProfileFailed,
    RequestError,
)
from memgauge.model.parameters import build
from memgauge.model.records import Warning
from memgauge.model.runfile import default_directory
from memgauge.model.termination import Terminated, shell_exit_code
from memgauge.model.text import plain
from memgauge.results import Result
from memgauge.runner.profile import ProfileRequest, Watched, Watcher, profile
from memgauge.runner.profile_parameters import ProfileParameters


@click.command("profile", context_settings={"allow_interspersed_args": False})
@options_of(ProfileParameters)
@click.option("--live", is_flag=True, help="show the latest figures while the program runs")
@click.option(
    "--no-report", is_flag=True, help="record only; 'memgauge report RUN' makes the report later"
)
@click.option("--quiet", is_flag=True, help="print nothing but errors")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[--] [COMMAND ...]")
def command(
    command: tuple[str, ...], *, live: bool, no_report: bool, quiet: bool, **values: Any
) -> int:
    """Run a program and record one timeline of everything that can be counted beside it.

    Memory reads and writes, processor time, memory and faults of the program and all it starts,
    network, energy, GPUs: what this machine can count and this user may. The program's input,
    output, terminal and signals are its own, and its exit code becomes that of memgauge: 128 + N
    when signal N ended it. memgauge itself writes to stderr only and fails with 125; 126: the
    command may not be run; 127: there is none. With --pid a process that runs already is watched.
    """
    attaches = values.get("pid") is not None
    try:
        if bool(command) == attaches:
            raise RequestError(
                "profile: give either a command, after --, or --pid PID; see memgauge profile "
                "--help"
            )
        parameters = build(ProfileParameters, **given(ProfileParameters, values))
        watcher = _watcher(live=live, quiet=quiet)
        request = ProfileRequest(
            command=command,
            parameters=parameters,
            directory=Path(parameters.output or default_directory("profile")),
            system=api.system(),
            whole_process=True,
        )
        done = profile(request, watcher)
    except (CommandNotFound, CommandNotExecutable):
        raise
    except Terminated as signal:
        if not attaches:
            _say(f"{signal} came a second time: profiling ends; the program may still run")
        raise
    except MemgaugeError as error:
        if attaches:
            raise
        raise ProfileFailed(str(error)) from error
    _present(done, report=not no_report, quiet=quiet)
    return _exit_code(done)


class _Talking(Watcher):
    """Says on one line of stderr what is not watched."""

    def begins(self, warnings: Sequence[Warning]) -> None:
        """Before the program's first instruction."""
        if warnings:
            _say(f"not watched: {', '.join(map(_shortly, warnings))}; the report says what to do")


def _shortly(warning: Warning) -> str:
    """A component with the first part of the reason why it is not watched."""
    name, _, reason = warning.message.partition(": ")
    return f"{name} ({reason.partition(';')[0]})"


def _watcher(*, live: bool, quiet: bool) -> Watcher:
    if live and not quiet:
        from memgauge.commands.profile_live import LiveWatcher

        return LiveWatcher(sys.stderr)
    return Watcher() if quiet else _Talking()


def _present(done: Watched, *, report: bool, quiet: bool) -> None:
    """Make and print the report; nothing that fails here changes the exit code."""
    if done.failure is not None:
        _say(done.failure)
    directory = done.run.directory
    try:
        if report:
            result = Result(done.run, directory)
            if not quiet:
                _print_report(result)
            result.save()
    except MemgaugeError as error:
        _say(str(error))
    if not quiet:
        totals = done.totals
        _say(
            f"{totals.samples} samples in {totals.lanes} lanes, {totals.missed} instants missed, "
            f"{totals.cpu_ns * 1e-9:.2f} s of processor time, {totals.bytes * 1e-6:.2f} MB"
        )
        page = f"  report: {directory / 'report.html'}" if report else ""
        _say(f"run: {directory}{page}")


def _print_report(result: Result) -> None:
    from memgauge.reports.terminal import Look, render

    look = Look.of(sys.stderr)
    text = render(result.report, look.columns, look.color, look.encoding, whole=False)
    click.echo(text, err=True)


def _exit_code(done: Watched) -> int:
    """The program's own, as shells have it; 0 of one that was attached to."""
    if done.ended is None:
        return 0
    return shell_exit_code(done.ended.exit_code, done.ended.signal)


def _say(text: str) -> None:
    click.echo(f"memgauge: {plain(text)}", err=True)
