"""Adds runs to a store: one file each, so that any number of writers can do so at the same time."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.run import Run
from memgauge.model.storage.files import replace_file
from memgauge.model.text import shown
from memgauge.reports.export.frames import frame_of
from memgauge.store.layout import make_store, run_path
from memgauge.store.rows import STORE_COLUMNS, rows_of

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_GROUP = 1 << 17
"""Rows that a reader takes or skips together, by the least and greatest value of their columns."""
_MOST_TRIES = 4


def add(store: Path, machine: str, run: Run) -> Path:
    """Add one run, or replace it; the store is made if it does not exist.

    Args:
        store: Directory of the store.
        machine: Name of the machine that it was made on.
        run: The run.

    Returns:
        The file of its figures.

    Raises:
        RequestError: polars is not installed, the run has no figures, or the directory holds
            something else than a store.
        SystemFailure: the store cannot be written.
    """
    rows = rows_of(run, machine)
    if not any(row["value"] is not None for row in rows):
        raise RequestError(
            f"{shown(run.directory)}: has no figures to add to a store; add runs that measured "
            "bandwidth or latency, such as those of 'memgauge survey'"
        )
    content = encoded(store_frame(rows))
    make_store(store)
    path = run_path(store, machine, str(rows[0]["day"]), run.start.run_id)
    write(path, content, store)
    return path


def store_frame(rows: Sequence[dict[str, Scalar]]) -> pl.DataFrame:
    """Rows with the types of a store's files.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    frame = frame_of([*STORE_COLUMNS], rows, STORE_COLUMNS)
    import polars as pl

    return frame.with_columns(
        pl.col("day").str.to_date("%Y-%m-%d"),
        pl.col("started_at").str.to_datetime(time_unit="us", time_zone="UTC"),
    )


def encoded(frame: pl.DataFrame) -> bytes:
    """A Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", row_group_size=ROWS_OF_GROUP)
    return buffer.getvalue()


def write(path: Path, content: bytes, store: Path) -> None:
    """Write a file of a store, whole or not at all; no link below the store is followed.

    Args:
        path: The file.
        content: All of it.
        store: Directory of the store.

    Raises:
        SystemFailure: it cannot be written.
    """
    try:
        for _ in range(_MOST_TRIES):
            with contextlib.suppress(FileNotFoundError):  # a compaction removed an empty directory
                replace_file(path, [content], below=store)
                return
        replace_file(path, [content], below=store)
    except OSError as error:
        raise SystemFailure(
            f"{shown(path)}: cannot be written: {error.strerror}; free space or choose another "
            "store"
        ) from error
