"""The readings of a profile as a table: a row for each reading of each lane, raw and scaled.

Columns are `lane`, `begin_ns`, `end_ns` and, of each counter, `NAME.raw` and `NAME.UNIT`, which is
raw times the counter's scale; a factor of `counters verify` in that scale is in the name too:
`NAME.B.calibrated_x64`. Nothing is scaled up for time in which a counter did not count: what tells
of that are `NAME.enabled_ns` and `NAME.running_ns`, or `NAME.duty`, and `NAME.generation`
changes where a counter began anew. What a lane does not hold or could not be read is empty, never
zero. Rows are made block by block: memory does not grow with the run.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.counting.calibration import calibration_marks
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import BEGIN, END, FIRST_SLOT, Block, LaneReader
from memgauge.reports.charts.package_trial import require_parquet

if TYPE_CHECKING:
    import polars as pl

Value = int | float | str | None
_STAMPS = ("lane", "begin_ns", "end_ns")


class Column(msgspec.Struct, frozen=True):
    """One column of a lane: a slot, as it is or scaled."""

    name: str
    slot: int
    scale: float | None
    """None: raw."""


class TableLane(msgspec.Struct, frozen=True):
    """A lane that can be read, with its columns."""

    lane: Lane
    counters: CounterSet
    reader: LaneReader
    columns: list[Column]


def table_lanes(run: Run) -> list[TableLane]:
    """The lanes of a run.

    Raises:
        RunFileError: none can be read; the message says why of the first.
    """
    found: list[TableLane] = []
    problems: list[RunFileError] = []
    several = len(run.lanes) > 1
    for lane in run.lanes:
        counters = run.counters[lane.counters]
        try:
            reader = LaneReader(run.directory / Path(lane.file).name, counters.slots)
        except RunFileError as error:
            problems.append(error)
            continue
        prefix = f"{lane.counters}:" if several else ""
        columns = [column for one in counters.of for column in _columns(one, prefix)]
        found.append(TableLane(lane, counters, reader, columns))
    if not found:
        raise (
            problems[0]
            if problems
            else RunFileError(
                f"{run.directory}: holds no timeline; export a run of 'memgauge profile'"
            )
        )
    return found


def timeline_columns(lanes: Sequence[TableLane]) -> dict[str, type]:
    """Names of all columns with their types, in their order."""
    made: dict[str, type] = {"lane": str, "begin_ns": int, "end_ns": int}
    for lane in lanes:
        made |= {column.name: int if column.scale is None else float for column in lane.columns}
    return made


def timeline_blocks(lanes: Sequence[TableLane]) -> Iterator[dict[str, Sequence[Value]]]:
    """Readings by column, a block at a time; columns of other lanes are left out."""
    for lane in lanes:
        for block in lane.reader.blocks():
            try:
                columns = {c.name: slot_values(block, c.slot, c.scale) for c in lane.columns}
                begins, ends = block.values(BEGIN), block.values(END)
            except RunFileError:
                continue
            names: list[Value] = [lane.lane.counters] * block.samples
            yield {"lane": names, "begin_ns": list(begins), "end_ns": list(ends), **columns}


def timeline_rows(run: Run) -> Iterator[dict[str, Value]]:
    """The rows one at a time, each with every column."""
    lanes = table_lanes(run)
    nothing: dict[str, Value] = dict.fromkeys(timeline_columns(lanes))
    for columns in timeline_blocks(lanes):
        for values in zip(*columns.values(), strict=True):
            yield nothing | dict(zip(columns, values, strict=True))


def timeline_parquet(run: Run) -> Iterator[bytes]:
    """A Parquet file, put together from blocks, as one piece.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    buffer = io.BytesIO()
    _scanned(run).sink_parquet(buffer)
    yield buffer.getvalue()


def timeline_arrow(run: Run) -> Iterator[bytes]:
    """An Arrow IPC file, otherwise as `timeline_parquet`.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    buffer = io.BytesIO()
    _scanned(run).sink_ipc(buffer)
    yield buffer.getvalue()


def _scanned(run: Run) -> pl.LazyFrame:
    """The readings as a frame that is made block by block when it is written."""
    require_parquet()
    try:
        import polars as pl
        from polars.io.plugins import register_io_source
    except ImportError:
        raise RequestError(
            "this needs polars, which is not installed, or too old; "
            "run 'pip install memgauge[export]', or export csv or json"
        ) from None
    lanes = table_lanes(run)
    types = {int: pl.Int64, float: pl.Float64, str: pl.String}
    schema = {name: types[kind] for name, kind in timeline_columns(lanes).items()}

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        for columns in timeline_blocks(lanes):
            count = len(columns["lane"])
            nothing: list[Value] = [None] * count
            series = [pl.Series(n, columns.get(n, nothing), t) for n, t in schema.items()]
            yield pl.DataFrame(series)

    return register_io_source(frames, schema=schema)


def _columns(counter: Counter, prefix: str) -> Iterator[Column]:
    name = f"{prefix}{counter.name}"
    yield Column(f"{name}.raw", counter.slot, None)
    marks = calibration_marks([counter]).replace(" ", "_")
    unit = ".".join(filter(None, [counter.unit or "count", marks]))
    yield Column(f"{name}.{unit}", counter.slot, counter.scale)
    if counter.enabled_slot is not None and counter.running_slot is not None:
        yield Column(f"{name}.enabled_ns", counter.enabled_slot, None)
        yield Column(f"{name}.running_ns", counter.running_slot, None)
    if counter.duty_slot is not None:
        yield Column(f"{name}.duty", counter.duty_slot, 1 / FULL_DUTY)
    if counter.generation_slot is not None:
        yield Column(f"{name}.generation", counter.generation_slot, None)


def slot_values(block: Block, slot: int, scale: float | None = None) -> list[Value]:
    """A column of slots as it is, or scaled; None where nothing could be read.

    Args:
        block: Consecutive readings of a lane.
        slot: Index of the value within a reading, whose two stamps do not count.
        scale: Factor from raw counts to the counter's unit; None leaves them raw.

    Raises:
        RunFileError: the block is corrupt.
    """
    constant = block.constant(FIRST_SLOT + slot)
    if constant is not None:
        return [constant if scale is None else scale * constant] * block.samples
    values = block.values(FIRST_SLOT + slot)
    made: list[Value] = [*values] if scale is None else [*map(scale.__mul__, values)]
    present = block.present(FIRST_SLOT + slot)
    if present is None:
        return made
    return [value if there else None for value, there in zip(made, present, strict=True)]
