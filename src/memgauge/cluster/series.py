"""A series of runs: each in a fresh process, in one directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memgauge.cluster.fresh_process import measure_afresh
from memgauge.model.errors import ExitCode, RequestError, SystemFailure
from memgauge.model.parameters import Parameters, fields_of, words_for
from memgauge.model.storage.run_directory import run_directory
from memgauge.model.storage.series import MOST_RUNS, run_of_series
from memgauge.model.text import quoted, shown


def words_of_run(
    name: str, structs: Sequence[type[Parameters]], options: Mapping[str, Any]
) -> list[str]:
    """The command line of one run, without its directory.

    Args:
        name: Of the command.
        structs: Declare its options.
        options: By keyword or field name, in text form or as native values.

    Raises:
        RequestError: the command does not have one of them, or a value is wrong.
    """
    fields = [field for struct in structs for field in fields_of(struct)]
    known = {key for field in fields for key in (field.keyword, field.name)}
    if unknown := options.keys() - known:
        raise RequestError(
            f"repeat: {name} has no option {quoted(min(unknown))} here; leave it out"
        )
    return [name, *words_for(structs, options, leave_out={"output", "json"})]


def measured_in(
    directory: Path, runs: int, words: Sequence[str], *, is_last_shown: bool
) -> Iterator[tuple[Path, int]]:
    """Measure one run after the other; the directory of each and its exit code, once it has ended.

    Args:
        directory: Of the series.
        runs: How many.
        words: The command line of one run, without its directory.
        is_last_shown: Whether the last run prints its report; no other does.

    Raises:
        SystemFailure: no process can be started.
        KeyboardInterrupt: interrupted; the run at work has closed its records.
    """
    for number in range(1, runs + 1):
        place = run_of_series(directory, number)
        quiet = number < runs or not is_last_shown
        yield place, measure_afresh([*words, f"--output={place}"], quiet=quiet)


def measure_series(runs: object, words: Sequence[str], output: str | None, name: str) -> list[Path]:
    """Measure several times; returns the directories of the runs.

    Args:
        runs: How many.
        words: The command line of one run, without its directory.
        output: Directory for all runs; None makes one in the working directory.
        name: Last part of the name of a new directory.

    Raises:
        RequestError: that is no number of runs.
        SystemFailure: a run failed; what was measured stays.
    """
    if not isinstance(runs, int) or isinstance(runs, bool) or not 1 <= runs <= MOST_RUNS:
        raise RequestError(f"repeat: runs is no whole number from 1 to {MOST_RUNS}; give one")
    made: list[Path] = []
    with run_directory(output, name) as directory:
        for place, code in measured_in(directory, runs, words, is_last_shown=False):
            if code != ExitCode.DONE:
                raise SystemFailure(
                    f"repeat: run {len(made) + 1} of {runs} failed with exit code {code}; those "
                    f"before it are in {shown(directory)}; see its message on standard error"
                )
            made.append(place)
    return made
