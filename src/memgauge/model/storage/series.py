"""Several runs in one directory: `run-1` and on, as `memgauge survey --repeat` makes them."""

from __future__ import annotations

import re
from pathlib import Path

from memgauge.model.storage.run_reader import RECORDS_NAME

MOST_RUNS = 100


def run_of_series(directory: Path, number: int) -> Path:
    """Directory of one run.

    Args:
        directory: Of the series.
        number: From 1.
    """
    return directory / f"run-{number}"


def series_in(directory: Path) -> list[Path]:
    """The runs of a series, in order; empty if the directory is none, or is itself a run."""
    try:
        if (directory / RECORDS_NAME).exists():
            return []
        numbered = [run_of_series(directory, number) for number in range(1, MOST_RUNS + 1)]
        return [run for run in numbered if (run / RECORDS_NAME).exists()]
    except (OSError, ValueError):  # no name that a directory can have, or one that is hidden
        return []


def number_in_series(directory: Path) -> int | None:
    """The number of a run whose directory is named as one of a series; None for another name."""
    found = re.fullmatch(r"run-([1-9][0-9]{0,2})", directory.name)
    number = int(found[1]) if found else MOST_RUNS + 1
    return number if number <= MOST_RUNS else None


def earlier_in_series(directory: Path) -> list[Path]:
    """Directories of the runs before this one of its series, whether or not they exist."""
    number = number_in_series(directory) or 1
    return [run_of_series(directory.parent, before) for before in range(1, number)]
