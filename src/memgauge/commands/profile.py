"""`memgauge profile -- COMMAND ...`: one timeline of everything that can be counted beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.cluster.this_rank import LaunchedRank, this_rank
from memgauge.commands import profile_ranks
from memgauge.commands.shared.completing import files
from memgauge.commands.shared.options import options_of, requested
from memgauge.commands.shared.output import look_of
from memgauge.commands.shared.rank_errors import (
    OneRankReports,
    report_of_this_node,
    wait_for_the_reporting_rank,
)
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
from memgauge.model.termination import Terminated, interruption_behind, shell_exit_code
from memgauge.model.text import plain
from memgauge.results import Analysed, Result
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.runner.profiling.profile import ProfileRequest, Watched, Watcher, opened
from memgauge.system.programs.program import Ended, become


class _Command(OneRankReports):
    """Wrong options have the exit code of a profile that was not made, also of silent ranks."""

    usage_code = ExitCode.PROFILE_FAILED


@click.command("profile", cls=_Command, context_settings={"allow_interspersed_args": False})
@options_of(ProfileParameters)
@click.option("--live", is_flag=True, help="show the latest figures while the program runs")
@click.option(
    "--no-report", is_flag=True, help="record only; 'memgauge report RUN' makes the report later"
)
@click.option("--quiet", is_flag=True, help="print nothing but errors")
@click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[--] [COMMAND ...]",
    shell_complete=files,
)
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

    Under mpirun or srun each rank has a run of its own in one directory for the job, rank-0 and on;
    the last to end makes one report of all, as 'memgauge report DIR' does later.

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
    rank = None if attaches else this_rank()
    is_silent = rank is not None and rank.rank != 0
    try:
        parameters = _parameters(command, values)
        done, place = _watched(command, parameters, rank, live=live, quiet=quiet)
    except _NotRecorded as error:
        which = "" if rank is None else f"rank {rank.rank}: "
        _say(f"profile: {which}not recorded: {error}")
        become(command, os.environ)
    except (CommandNotFound, CommandNotExecutable) as error:
        if rank is None:
            raise
        report_of_this_node(error)
    except MemgaugeError as error:
        if attaches:
            raise
        if is_silent:
            wait_for_the_reporting_rank()
            return ExitCode.PROFILE_FAILED
        raise ProfileFailed(str(error)) from error
    if rank is None:
        _present(done, report=not no_report, quiet=quiet)
    else:
        show = None if no_report else _print_report
        profile_ranks.present(done, rank, place.parent, _say, show, quiet=quiet)
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
    command: tuple[str, ...],
    parameters: ProfileParameters,
    rank: LaunchedRank | None,
    *,
    live: bool,
    quiet: bool,
) -> tuple[Watched, Path]:
    """Run the program, or attach to the process, and watch it until it ends.

    Returns how that went, and the directory of the run.

    Raises:
        _NotRecorded: the state of the machine does not allow a record; nothing was started.
        UnknownEvent, CommandNotFound, CommandNotExecutable: what was asked for is not there.
        MemgaugeError: a process cannot be attached to, or be recorded.
    """
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(_directory(parameters.output, rank, command))
            request = ProfileRequest(
                command=command,
                parameters=parameters,
                directory=directory,
                system=api.system(),
                whole_process=True,
                rank=None if rank is None else rank.place(),
            )
            is_silent = quiet or (rank is not None and rank.rank != 0)
            recording = stack.enter_context(opened(request, _watcher(live=live, quiet=is_silent)))
            if rank is not None and not quiet:
                profile_ranks.say_where(rank, directory.parent, _say)
        except (CommandNotFound, CommandNotExecutable, UnknownEvent):
            raise
        except Exception as error:
            if (interruption := interruption_behind(error)) is not None:
                raise interruption from None
            if parameters.pid is not None:
                raise
            # Whatever it is: a batch job has waited for its program, not for its profile.
            raise _NotRecorded(reason_of(error)) from error
        try:
            recording.run()
        except Terminated as signal:
            if parameters.pid is None:
                _say(f"{signal} came a second time: profiling ends; the program may still run")
            raise
    return recording.watched(), directory


@contextmanager
def _directory(
    requested: str | None, rank: LaunchedRank | None, command: Sequence[str]
) -> Iterator[Path]:
    """The directory of the run: of a rank, its own in that of its job."""
    if rank is None:
        with run_directory(requested, "profile") as directory:
            yield directory
    else:
        with profile_ranks.joined(rank, requested, command) as place:
            yield place.run


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
        from memgauge.commands.shared.profile_live import LiveWatcher

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


def _print_report(result: Analysed) -> None:
    from memgauge.reports.terminal.report import render

    look = look_of(sys.stderr)
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
