"""A tidy table of a run as csv, json, parquet or arrow.

What was not measured or does not apply is empty (csv), null elsewhere, never zero. The
columns are described in docs/records.md. In csv, text is stripped of control characters, and text
that a spreadsheet would take for a formula (it begins with = + - or @) gets an apostrophe before
it, for a run may come from a stranger; numbers are untouched, and json and parquet hold the text as
it is.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.run import Run
from memgauge.model.text import plain
from memgauge.reports.export.frames import frame_of
from memgauge.reports.export.tables import TABLES, columns, rows
from memgauge.reports.export.timeline import (
    table_lanes,
    timeline_blocks,
    timeline_columns,
    timeline_rows,
)

_FORMULA_STARTS = ("=", "+", "-", "@")


def export_csv(run: Run, name: str = "samples") -> bytes:
    """UTF-8, a header, lines ended by a line feed."""
    lines = chain([columns(run, name)], (row.values() for row in rows(run, name)))
    return csv_lines(map(csv_cell, line) for line in lines)


def export_json(run: Run, name: str = "samples") -> bytes:
    """An array of objects, one a line."""
    encoder = msgspec.json.Encoder()
    return b"[" + b",\n".join(encoder.encode(row) for row in rows(run, name)) + b"]\n"


def export_parquet(run: Run, name: str = "samples") -> bytes:
    """A Parquet file; a column that holds text in one point is text in all.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    buffer = io.BytesIO()
    frame_of(columns(run, name), rows(run, name), TABLES[name]).write_parquet(buffer)
    return buffer.getvalue()


def export_arrow(run: Run, name: str = "samples") -> bytes:
    """An Arrow IPC file, otherwise as `export_parquet`.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    buffer = io.BytesIO()
    frame_of(columns(run, name), rows(run, name), TABLES[name]).write_ipc(buffer)
    return buffer.getvalue()


def timeline_csv(run: Run) -> Iterator[bytes]:
    """The readings of a profile as `export_csv` writes tables, some at a time."""
    lanes = table_lanes(run)
    names = timeline_columns(lanes)
    yield csv_lines([map(csv_cell, names)])
    for block in timeline_blocks(lanes):
        nothing = [None] * len(block["lane"])
        columns = (_reading_cells(block.get(name, nothing)) for name in names)
        yield csv_lines(zip(*columns, strict=True))


def timeline_json(run: Run) -> Iterator[bytes]:
    """The readings of a profile as `export_json` writes tables, one at a time."""
    encoder = msgspec.json.Encoder()
    yield b"["
    for at, row in enumerate(timeline_rows(run)):
        yield (b",\n" if at else b"") + encoder.encode(row)
    yield b"]\n"


def csv_lines(rows: Iterable[Iterable[str]]) -> bytes:
    """Rows of cells as the bytes of a file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def _reading_cells(values: Sequence[Scalar]) -> list[str]:
    """A column of a block; what stands still, as most counters do, is made text once."""
    if values.count(values[0]) == len(values):
        return [_reading_cell(values[0])] * len(values)
    return [_reading_cell(value) for value in values]


def _reading_cell(value: Scalar) -> str:
    """A raw count times its scale: to the digits that a double holds, without its last bits."""
    return repr(float(f"{value:.15g}")) if isinstance(value, float) else csv_cell(value)


def csv_cell(value: Scalar) -> str:
    """A value as csv has it: a missing one is empty, and no text is a formula."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = plain(value)
        return "'" + text if text.lstrip().startswith(_FORMULA_STARTS) else text
    return str(value).lower() if isinstance(value, bool) else str(value)
