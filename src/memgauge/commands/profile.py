"""`memgauge profile -- COMMAND ...`: one timeline of everything that can be counted beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click

from memgauge import api
from memgauge.commands.shared.options import options_of, requested
from memgauge.model.errors import (
    CommandNotExecutable,
    CommandNotFound,
    ExitCode,
    MemgaugeError,
    ProfileFailed,
    RequestError,
    UnknownEvent,
    reason_of,
)
from memgauge.model.records import Warning
from memgauge.model.storage.run_file import run_directory
from memgauge.model.termination import Terminated, shell_exit_code
from memgauge.model.text import plain
from memgauge.results import Result
from memgauge.runner.profile import ProfileRequest, Watched, Watcher, opened
from memgauge.runner.profile_parameters import ProfileParameters
from memgauge.system.programs.program import Ended, become


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
    when signal N ended it. Where no record can be made or continued, as on a full disk, the program
    runs nevertheless, and a line on stderr says what was lost. memgauge itself writes to stderr
    only and fails with 125, for a wrong option or event; 126: the command may not be run; 127:
    there is none. With --pid a process that runs already is watched.

    \N{FORM FEED}

    Args:
        command: Words of the program's command line; empty if `--pid` names a process instead.
        live: Whether to show the latest figures on stderr while the program runs.
        no_report: Whether to record only, and leave the report to a later `memgauge report`.
        quiet: Whether to print nothing but errors.
        **values: Text of each `ProfileParameters` option by keyword; None for an option not given.

    Raises:
        CommandNotFound, CommandNotExecutable: the program does not exist, or may not be executed.
        ProfileFailed: an option or event is wrong; the program was not started.
        MemgaugeError: the process that `--pid` names cannot be watched.
    """
    attaches = values.get("pid") is not None
    try:
        parameters = _parameters(command, values)
        done = _watched(command, parameters, live=live, quiet=quiet)
    except _NotRecorded as error:
        _say(f"profile: not recorded: {error}")
        become(command, os.environ)
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


class _NotRecorded(Exception):
    """Nothing can be recorded here, and the program was not started yet."""


def _parameters(command: Sequence[str], values: dict[str, Any]) -> ProfileParameters:
    if bool(command) == (values.get("pid") is not None):
        raise RequestError(
            "profile: give either a command, after --, or --pid PID; see memgauge profile --help"
        )
    return requested(ProfileParameters, values)


def _watched(
    command: tuple[str, ...], parameters: ProfileParameters, *, live: bool, quiet: bool
) -> Watched:
    """Run the program, or attach to the process, and watch it until it ends.

    Raises:
        _NotRecorded: the state of the machine does not allow a record; nothing was started.
        UnknownEvent, CommandNotFound, CommandNotExecutable: what was asked for is not there.
        MemgaugeError: a process cannot be attached to, or be recorded.
    """
    with ExitStack() as stack:
        try:
            request = ProfileRequest(
                command=command,
                parameters=parameters,
                directory=stack.enter_context(run_directory(parameters.output, "profile")),
                system=api.system(),
                whole_process=True,
            )
            recording = stack.enter_context(opened(request, _watcher(live=live, quiet=quiet)))
        except (CommandNotFound, CommandNotExecutable, UnknownEvent):
            raise
        except Exception as error:
            if parameters.pid is not None:
                raise
            # Whatever it is: a batch job has waited for its program, not for its profile.
            raise _NotRecorded(reason_of(error)) from error
        recording.run()
    return recording.watched()


class _Talking(Watcher):
    """Says on one line of stderr what is not watched."""

    def begins(self, warnings: Sequence[Warning]) -> None:
        """Before the program's first instruction."""
        if warnings:
            _say(f"not watched: {', '.join(map(_shortly, warnings))}; the report shows what to do")


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
    directory = done.directory.absolute()
    if done.run is None:
        _say(f"profile: not recorded: {done.failure}")
        return
    if done.failure is not None:
        _say(f"profile: not recorded to the end: {done.failure}")
    elif done.lane_failure is not None and (quiet or not report):
        _say(f"profile: not recorded to the end: {done.lane_failure}")
    try:
        if report:
            result = Result(done.run, directory)
            if not quiet:
                _print_report(result)
            result.save()
    except Exception as error:  # noqa: BLE001 - the program has run, and its exit code is kept
        _say(f"profile: no report: {reason_of(error)}")
    if not quiet:
        totals = done.totals
        _say(
            f"{totals.samples} samples in {totals.lanes} lanes, {totals.missed} instants missed, "
            f"{totals.cpu_ns * 1e-9:.2f} s of processor time, {totals.bytes * 1e-6:.2f} MB"
        )
        page = f"  report: {directory / 'report.html'}" if report else ""
        _say(f"run: {directory}{page}")


def _print_report(result: Result) -> None:
    from memgauge.reports.terminal.report import Look, render

    look = Look.of(sys.stderr)
    text = render(result.report, look.columns, look.color, look.encoding, whole=False)
    click.echo(text, err=True)


def _exit_code(done: Watched) -> int:
    """The program's own, as shells have it; of a process attached to, whether it was recorded."""
    if done.ended is None or done.ended == Ended():
        lost = done.failure or done.lane_failure
        return ExitCode.DONE if lost is None else ExitCode.FAILED
    return shell_exit_code(done.ended.exit_code, done.ended.signal)


def _say(text: str) -> None:
    click.echo(f"memgauge: {plain(text)}", err=True)
