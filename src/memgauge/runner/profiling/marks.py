"""Marks that a profiled program left, put on the run's clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memgauge.model.records import Warning
from memgauge.model.storage.marks import Marks, lines_of, regions_of


def read_marks(path: Path, to_run_ns: Callable[[int], int]) -> Marks:
    """Regions of a file of marks; none where there is no file."""
    try:
        with path.open("rb") as file:
            return regions_of(lines_of(file), to_run_ns)
    except FileNotFoundError:
        return Marks([], [])
    except OSError as error:
        why = f"marks of the program cannot be read: {error.strerror}"
        return Marks([], [Warning(code="marks", message=why)])
