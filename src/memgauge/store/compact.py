"""Writes the many small files of a store together, one file for each month, in safe steps."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.storage.files import open_file
from memgauge.model.text import shown
from memgauge.store.add import encoded, write
from memgauge.store.layout import MARKER, Files, RunFile, check_store, files_of, month_path
from memgauge.store.query import scan

if TYPE_CHECKING:
    import polars as pl

_ORDER = ("machine", "point", "started_at")
"""By which rows are sorted, so that a query for a machine or a figure skips most of a file."""


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    months: int
    """That were written anew."""
    files: int
    """That went into them, and were removed."""


def compact(store: Path, on_progress: Callable[[float], None] = lambda _: None) -> Compaction:
    """Merge the files of single runs into a file for each month.

    Readers and writers may go on meanwhile; a second compaction is refused.

    Args:
        store: Directory of the store.
        on_progress: Called with the share of the months that are done.

    Raises:
        RequestError: polars is not installed, or another compaction is at work.
        RunFileError: it is no store.
        SystemFailure: it cannot be written.
    """
    check_store(store)
    with _alone(store):
        files = files_of(store)
        pending: dict[str, list[RunFile]] = {}
        for one in files.runs:
            pending.setdefault(one.month, []).append(one)
        removed = sum(_remove(one.path) for one in files.outdated)
        for at, (month, runs) in enumerate(sorted(pending.items())):
            removed += _merge(store, files, month, runs)
            on_progress((at + 1) / len(pending))
        return Compaction(months=len(pending), files=removed)


def _merge(store: Path, files: Files, month: str, runs: list[RunFile]) -> int:
    """Write one month and remove what went into it; the number of files removed."""
    marks = {one.path: _mark(one.path) for one in runs}
    before = [one for one in files.months if one.month == month]
    frame: pl.DataFrame = scan(Files(runs=runs, months=before, outdated=[])).collect()
    number = max((one.number for one in before), default=0) + 1
    write(month_path(store, month, number), encoded(frame.sort(_ORDER)), store)
    # A run that was added again since it was read keeps its file.
    read = [path for path, mark in marks.items() if mark is not None and _mark(path) == mark]
    removed = sum(map(_remove, [*read, *(one.path for one in before)]))
    for path in read:
        with contextlib.suppress(OSError):  # other days and runs are in them
            path.parent.rmdir()
            path.parent.parent.rmdir()
    return removed


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Differs once the file was replaced; None where it is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SystemFailure(f"{shown(path)}: cannot be removed: {error.strerror}") from error
    return True


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Hold the lock of compactions, which ends with the process."""
    with open_file(store / MARKER, 1 << 16) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RequestError(
                f"--compact {shown(store)}: another compaction is at work; wait until it is done"
            ) from None
        except OSError as error:
            raise SystemFailure(
                f"{shown(store)}: cannot be locked: {error.strerror}; "
                "compact it on the machine that serves this file system"
            ) from error
        yield
