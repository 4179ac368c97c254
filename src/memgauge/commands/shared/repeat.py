"""`--repeat`: several runs in a row, so that what varies between runs is seen.

Each run has a process and a directory of its own, `run-1` and on, in one that is made for all. The
first run that fails ends the series, and what was measured stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from memgauge.cluster.series import measured_in
from memgauge.commands.shared.help import GroupedOption
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.storage.run_directory import run_directory
from memgauge.model.storage.series import MOST_RUNS
from memgauge.model.text import plain

repeat_option = click.option(
    "--repeat",
    "times",
    cls=GroupedOption,
    group="effort",
    type=click.IntRange(1, MOST_RUNS),
    metavar="N",
    help="measure N times, each with the whole budget in a process of its own, for 'memgauge "
    "compare' to tell chance from change; the runs are run-1 and on in the output directory",
)


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
    done: list[Path] = []
    with run_directory(output, name) as directory:
        try:
            for place, code in measured_in(directory, runs, arguments, is_last_shown=True):
                if code != ExitCode.DONE:
                    _say_what_is_there(done, runs)
                    return code
                done.append(place)
        except KeyboardInterrupt:
            _say_what_is_there(done, runs)
            raise
        _say_how_to_compare(directory, runs)
    return ExitCode.DONE


def _say_what_is_there(done: Sequence[Path], runs: int) -> None:
    count = f"{len(done)} of {runs} runs {'is' if len(done) == 1 else 'are'} complete"
    where = f": {', '.join(map(str, done))}" if done else ""
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
