"""`--repeat`: several runs in a row, so that what varies between runs is seen.

Each run has a process and a directory of its own, `run-1` and on, in one that is made for all. The
first run that fails ends the series, and what was measured stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from memgauge.cluster.fresh_process import measure_afresh
from memgauge.commands.shared.help import GroupedOption
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.storage.run_directory import run_directory
from memgauge.model.storage.series import MOST_RUNS, run_of_series
from memgauge.model.text import plain

repeat_option = click.option(
    "--repeat",
    "runs",
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
    with run_directory(output, name) as directory:
        places = [run_of_series(directory, number) for number in range(1, runs + 1)]
        for at, place in enumerate(places):
            last = at == len(places) - 1
            try:
                code = measure_afresh([*arguments, f"--output={place}"], quiet=not last)
            except KeyboardInterrupt:
                _say_what_is_there(places, at)
                raise
            if code != ExitCode.DONE:
                _say_what_is_there(places, at)
                return code
        _say_how_to_compare(directory, runs)
    return ExitCode.DONE


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
