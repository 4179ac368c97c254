"""Several runs in a row, each in a fresh process, so that what varies between runs is seen.

Runs of one process share the pages of their arrays, the addresses of their code and what the
allocator left; runs of several processes do not. Each run has a directory of its own, `run-1` and
on, in one that is made for all. The first run that fails ends the series, and what was measured
stays. A signal is handed on, so that the run at work closes its records; if this process is killed,
the kernel ends the run.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from memgauge.cluster.survey_child import SURVEY
from memgauge.model.errors import ExitCode, RequestError, SystemFailure
from memgauge.model.parameters import Parameters, fields_of
from memgauge.model.storage.run_directory import run_directory
from memgauge.model.storage.series import run_of_series
from memgauge.model.termination import Terminated, deferred
from memgauge.model.text import plain
from memgauge.system.programs.interpreter import isolated

_CLOSING_S = 30.0
"""Seconds in which a run closes its records after a signal."""


def repeat(runs: int, arguments: Sequence[str], output: str | None, name: str) -> int:
    """Measure several times; returns the exit code of the first run that fails, else 0.

    Args:
        runs: How many.
        arguments: Of `memgauge`, for each run, without `--output`.
        output: Directory for all runs; None makes one in the working directory.
        name: Last part of the name of a new directory.

    Raises:
        RequestError, SystemFailure: the directory cannot be made, or no process be started.
        KeyboardInterrupt: interrupted; the run at work has closed its records.
    """
    with run_directory(output, name) as directory:
        places = [run_of_series(directory, number) for number in range(1, runs + 1)]
        for at, place in enumerate(places):
            last = at == len(places) - 1
            try:
                code = _measure([*arguments, f"--output={place}"], quiet=not last)
            except KeyboardInterrupt:
                _say_what_is_there(places, at)
                raise
            if code != ExitCode.DONE:
                _say_what_is_there(places, at)
                return code
        _say_how_to_compare(directory, runs)
    return ExitCode.DONE


def _measure(arguments: Sequence[str], *, quiet: bool) -> int:
    """One run to its end; its exit code, as in shells.

    Args:
        arguments: Of `memgauge`.
        quiet: Whether its report is not printed; it is in the run's directory.
    """
    with deferred():
        process = _start(arguments, quiet=quiet)
    try:
        code = process.wait()
    except KeyboardInterrupt as error:
        number = error.signal_number if isinstance(error, Terminated) else signal.SIGINT
        process.send_signal(number)
        try:
            process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    return code if code >= 0 else 128 - code


def _start(arguments: Sequence[str], *, quiet: bool) -> subprocess.Popen[bytes]:
    """In a session of its own: signals of the terminal reach it through this process only."""
    try:
        return subprocess.Popen(
            isolated(SURVEY, [str(os.getpid()), *arguments]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            start_new_session=True,
        )
    except OSError as error:
        raise SystemFailure(
            f"--repeat: a run cannot be started: {error.strerror}; raise the limits of this "
            "process (ulimit -u), or free memory"
        ) from error


def _say_what_is_there(places: Sequence[Path], done: int) -> None:
    count = f"{done} of {len(places)} runs {'is' if done == 1 else 'are'} complete"
    where = f": {', '.join(map(str, places[:done]))}" if done else ""
    click.echo(f"memgauge: --repeat: {plain(count + where)}", err=True)


def _say_how_to_compare(directory: Path, runs: int) -> None:
    if runs == 1:
        return
    where = plain(str(directory))
    click.echo(
        f"runs: {where}  measure {runs} of the other side too (--repeat {runs}), then: memgauge "
        f"compare {where} OTHER",
        err=True,
    )


def words_for(structs: Iterable[type[Parameters]], values: Mapping[str, Any]) -> list[str]:
    """Options as they were given, for the command line of a run.

    Args:
        structs: Declare the options.
        values: Text of each option by keyword; None for an option not given.
    """
    fields = [field for struct in structs for field in fields_of(struct)]
    return [
        field.flag if field.option.is_switch else f"{field.flag}={values[field.keyword]}"
        for field in fields
        if values.get(field.keyword) not in (None, False)
    ]


def refuse_with_repeat(refused: Mapping[str, object]) -> None:
    """Refuse options that make no sense for several runs, by their names.

    Raises:
        RequestError: one of them was given.
    """
    for flag, value in refused.items():
        if value:
            raise RequestError(
                f"--repeat: measures anew, several times, and cannot be combined with {flag}; "
                "leave one of them out"
            )
