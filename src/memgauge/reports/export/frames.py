"""Tables as data frames of polars, which only this module and `memgauge.store` load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memgauge.model.errors import RequestError
from memgauge.model.record_kinds.fields import Scalar
from memgauge.reports.charts.package_trial import require_parquet

if TYPE_CHECKING:
    import polars as pl


def frame_of(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Scalar]],
    known: Mapping[str, type],
) -> pl.DataFrame:
    """A frame of rows; a column that holds text in one row is text in all.

    Args:
        columns: Names, in order.
        rows: Each with every column.
        known: Types of columns that are the same in every run; others are found from the values.

    Raises:
        RequestError: polars is not installed, or a limit of this process keeps it from working.
    """
    require_parquet()
    try:
        import polars as pl
    except ImportError:
        raise RequestError(
            "this needs polars, which is not installed; run 'pip install memgauge[export]', or "
            "export csv or json"
        ) from None
    table: dict[str, list[Scalar]] = {column: [] for column in columns}
    for row in rows:
        for column in columns:
            table[column].append(row[column])
    types = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
    series = []
    for column, values in table.items():
        kind = known.get(column) or _kind(values)
        series.append(pl.Series(column, [_as(kind, value) for value in values], types[kind]))
    return pl.DataFrame(series)


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
