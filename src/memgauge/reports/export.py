"""A run's raw samples as one tidy table: a row for each iteration of each thread of each sample.

What was not measured or does not apply is empty (csv), null (json, parquet), never zero. The
columns are described in docs/records.md. In csv, text is stripped of control characters, and text
that a spreadsheet would take for a formula (it begins with = + - or @) gets an apostrophe before
it, for a run may come from a stranger; numbers are untouched, and json and parquet hold the text
as it is.
"""

import csv
import io
from collections.abc import Callable, Iterator

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.records import Point, Sample, Scalar, ThreadSample
from memgauge.model.run import Run
from memgauge.model.text import plain

Row = dict[str, Scalar]

_FIXED_COLUMNS: dict[str, type] = {
    "run": str,
    "point": str,
    "experiment": str,
    "quantity": str,
    "role": str,
    "threads": int,
    "bytes_counted": int,
    "bytes_moved": int,
    "accesses": int,
    "leg": int,
    "round": int,
    "pingpong_ns": float,
    "cycles_per_ns": float,
    "rank": int,
    "cpu": int,
    "involuntary_switches": int,
    "page_faults": int,
    "iteration": int,
    "begin_ns": int,
    "end_ns": int,
    "duration_ns": int,
}
_FORMULA_STARTS = ("=", "+", "-", "@")


def columns(run: Run) -> list[str]:
    """Names of the columns: fixed ones, then what was asked and what was got, by name."""
    asked = {f"asked.{name}" for point in run.points.values() for name in point.asked}
    effective = {f"effective.{name}" for point in run.points.values() for name in point.effective}
    return [*_FIXED_COLUMNS, *sorted(asked), *sorted(effective)]


def rows(run: Run) -> Iterator[Row]:
    """The rows, one at a time, each with every column."""
    nothing: Row = dict.fromkeys(columns(run))
    for name, point in run.points.items():
        constant = nothing | _of_point(run, point)
        for leg, sample in zip(run.legs[name], run.samples[name], strict=True):
            of_sample = constant | _of_sample(leg, sample)
            for rank, thread in enumerate(sample.threads):
                yield from (of_sample | varying for varying in _of_thread(rank, thread))


def export_csv(run: Run) -> bytes:
    """UTF-8, a header, lines ended by a line feed."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_csv_cell, columns(run)))
    for row in rows(run):
        writer.writerow(map(_csv_cell, row.values()))
    return text.getvalue().encode("utf-8", "replace")


def export_json(run: Run) -> bytes:
    """An array of objects, one a line."""
    encoder = msgspec.json.Encoder()
    return b"[" + b",\n".join(encoder.encode(row) for row in rows(run)) + b"]\n"


def export_parquet(run: Run) -> bytes:
    """A Parquet file; a column that holds text in one point is text in all.

    Raises:
        RequestError: polars is not installed.
    """
    try:
        import polars as pl
    except ImportError:
        raise RequestError(
            "parquet cannot be written: polars is not installed; "
            "run 'pip install memgauge[export]', or export csv or json"
        ) from None
    table: dict[str, list[Scalar]] = {name: [] for name in columns(run)}
    for row in rows(run):
        for name, value in row.items():
            table[name].append(value)
    types = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
    series = []
    for name, values in table.items():
        kind = _FIXED_COLUMNS.get(name) or _kind(values)
        series.append(pl.Series(name, [_as(kind, value) for value in values], types[kind]))
    buffer = io.BytesIO()
    pl.DataFrame(series).write_parquet(buffer)
    return buffer.getvalue()


EXPORTERS: dict[str, Callable[[Run], bytes]] = {
    "csv": export_csv,
    "json": export_json,
    "parquet": export_parquet,
}
"""By name of the format."""


def _of_point(run: Run, point: Point) -> Row:
    row: Row = {
        "run": run.start.run_id,
        "point": point.point,
        "experiment": point.experiment,
        "quantity": point.quantity,
        "role": point.role,
        "threads": point.threads,
        "bytes_counted": point.bytes_counted or None,
        "bytes_moved": point.bytes_moved or None,
        "accesses": point.accesses or None,
    }
    row |= {f"asked.{name}": value for name, value in point.asked.items()}
    row |= {f"effective.{name}": value for name, value in point.effective.items()}
    return row


def _of_sample(leg: int, sample: Sample) -> Row:
    return {
        "leg": leg,
        "round": sample.round,
        "pingpong_ns": sample.pingpong_ns,
        "cycles_per_ns": sample.cycles_per_ns,
    }


def _of_thread(rank: int, thread: ThreadSample) -> Iterator[Row]:
    for iteration, (begin, end) in enumerate(zip(thread.begin_ns, thread.end_ns, strict=True)):
        yield {
            "rank": rank,
            "cpu": thread.cpu,
            "involuntary_switches": thread.involuntary_switches,
            "page_faults": thread.page_faults,
            "iteration": iteration,
            "begin_ns": begin,
            "end_ns": end,
            "duration_ns": end - begin,
        }


def _csv_cell(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        text = plain(value)
        return "'" + text if text.lstrip().startswith(_FORMULA_STARTS) else text
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kind(values: list[Scalar]) -> type:
    """The narrowest type that holds all values; text where there is none to go by."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else str


def _as(kind: type, value: Scalar) -> Scalar:
    if value is None or type(value) is kind:
        return value
    return float(value) if kind is float else str(value)
