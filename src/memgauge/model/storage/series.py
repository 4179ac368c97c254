"""Several runs in one directory: `run-1` and on, as `memgauge survey --repeat` makes them."""

from __future__ import annotations

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
