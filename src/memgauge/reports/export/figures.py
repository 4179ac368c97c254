"""The figures of a run as a tidy table: a row for each point in each regime.

A figure without an interval has neither end, and a point without a figure no value: both are None,
never zero. The columns are described in docs/records.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.errors import RequestError
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point
from memgauge.model.run import Run
from memgauge.reports.export.settings import setting_columns, settings_of

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Scalar]

COLUMNS: dict[str, type] = {
    "run": str,
    "point": str,
    "experiment": str,
    "quantity": str,
    "role": str,
    "threads": int,
    "regime": str,
    "pingpong_ns": float,
    "share": float,
    "value": float,
    "low": float,
    "high": float,
    "unit": str,
    "statistic": str,
    "samples": int,
    "set_aside": int,
    "noise": float,
    "reached": bool,
    "two_speeds": bool,
    "bytes_counted": int,
    "bytes_moved": int,
}
"""Columns that every run has, with their types."""


def figure_rows(figures: Figures) -> Iterator[Row]:
    """A row for each point in each regime, in the order of declaration, with every column."""
    run = figures.run
    nothing: Row = dict.fromkeys([*COLUMNS, *setting_columns(run)])
    for name, point in run.points.items():
        for summary in figures.summaries[name]:
            yield nothing | _row(run, point, summary)


def _row(run: Run, point: Point, summary: PointSummary) -> Row:
    found = summary.sustained
    ends = found is not None and has_interval(found)
    row: Row = {
        "run": run.start.run_id,
        "point": point.point,
        "experiment": point.experiment,
        "quantity": point.quantity,
        "role": point.role,
        "threads": point.threads,
        "regime": summary.regime or None,
        "pingpong_ns": summary.pingpong_ns,
        "share": summary.share,
        "value": None if found is None else found.value,
        "low": found.low if found is not None and ends else None,
        "high": found.high if found is not None and ends else None,
        "unit": summary.unit,
        "statistic": summary.statistic,
        "samples": summary.samples,
        "set_aside": summary.set_aside,
        "noise": summary.noise,
        "reached": summary.reached,
        "two_speeds": summary.two_speeds is not None,
        "bytes_counted": point.bytes_counted or None,
        "bytes_moved": point.bytes_moved or None,
    }
    return row | settings_of(point)


class FigureTable:
    """The figures of a run, for a notebook: a row for each point in each regime.

    `len()` gives the rows, iteration gives them as dicts, and `columns` their names.
    """

    def __init__(self, figures: Figures) -> None:
        self._run_id = figures.run.start.run_id
        self._rows = list(figure_rows(figures))

    @property
    def columns(self) -> list[str]:
        """Names: those that every run has, then what was requested and what was got."""
        return list(self._rows[0]) if self._rows else list(COLUMNS)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.to_dicts())

    def __repr__(self) -> str:
        return f"<{len(self)} figures of run {self._run_id}>"

    def to_dicts(self) -> list[Row]:
        """A dict for each row, with every column; None is missing."""
        return [dict(row) for row in self._rows]

    def to_polars(self) -> pl.DataFrame:
        """A polars.DataFrame.

        Raises:
            RequestError: polars is not installed.
        """
        from memgauge.reports.export.frames import frame_of

        return frame_of(self.columns, self._rows, COLUMNS)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; pandas is no requirement of memgauge.

        Raises:
            RequestError: pandas is not installed.
        """
        try:
            import pandas as pd  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise RequestError(
                "to_pandas: pandas is not installed; run 'pip install pandas', or use to_polars "
                "or to_dicts"
            ) from None
        return pd.DataFrame(self.to_dicts(), columns=self.columns)
