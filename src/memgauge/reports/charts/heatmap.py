"""A table in colour: a row for each series, a column for each x, each cell with its figure.

The scale is cividis (Nunez, Anderton and Renslow, PLOS ONE 2018): lightness grows evenly with the
value, so that it reads alike in black and white and with a colour vision deficiency.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from memgauge.reports import cells
from memgauge.reports.charts.annotations import table_of
from memgauge.reports.charts.axes import LABELS, title
from memgauge.reports.charts.channels import tooltip
from memgauge.reports.charts.points import column, named, rows

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart
    from memgauge.reports.charts.points import Row

_ROW_PX = 34
_MANY_ROWS = 24
"""From here on rows are lower: a matrix of 64 CPUs is a page high, not three."""
_LOW_ROW_PX = 18

_DARK_UP_TO = 0.46
"""Share of the scale whose colours take light digits: cividis runs from L* 14 to 91, and white and
black contrast equally (4.6:1) with a ground of L* 49."""


def height_px(chart: Chart) -> int:
    """What the rows need."""
    rows = max(1, len(chart.series))
    return rows * (_ROW_PX if rows < _MANY_ROWS else _LOW_ROW_PX)


def layers(chart: Chart) -> list[Any]:
    """Cells in colour, digits in a contrasting ink, and a dash where nothing was measured."""
    columns = list(dict.fromkeys(column(x, chart.x) for series in chart.series for x in series.x))
    names = list(dict.fromkeys(named(series.name) for series in chart.series))
    measured = _measured(chart)
    cells_at = {
        "x": alt.X("x:N", sort=columns, axis=_columns_axis(chart), scale=_spaced(columns)),
        "y": alt.Y("series:N", sort=names, axis=_rows_axis(chart), scale=_spaced(names)),
    }
    base = table_of(measured)
    shade = base.mark_rect(style="cell").encode(
        **cells_at, color=_color(chart, measured), tooltip=tooltip(chart)
    )
    digits = [
        base.transform_filter(f"datum.light === {on}")
        .mark_text(style=style)
        .encode(**cells_at, text=alt.Text("digits:N"))
        for on, style in (("true", "cell-light"), ("false", "cell-dark"))
    ]
    missing = _missing(measured, names, columns)
    dashes = (
        table_of(missing)
        .mark_text(style="cell-missing")
        .encode(**cells_at, text=alt.Text("digits:N"))
    )
    return [shade, *digits, *([dashes] if missing else [])]


def longest_digits(chart: Chart) -> int:
    """Characters of the longest figure in a cell."""
    return max((len(row["digits"]) for row in _measured(chart)), default=1)


def _measured(chart: Chart) -> list[Row]:
    found = rows(chart)
    ends = _ends(found)
    for row in found:
        row["x"] = column(row["x"], chart.x)
        row["digits"] = cells.plain_value(row["y"], _unit(chart), _decimals(chart, row["y"]))
        row["light"] = _share(chart, row["y"], ends) <= _DARK_UP_TO
    return found


def _missing(measured: list[Row], names: list[str], columns: list[str]) -> list[Row]:
    there = {(row["series"], row["x"]) for row in measured}
    return [
        {"series": name, "x": at, "digits": cells.MISSING}
        for name in names
        for at in columns
        if (name, at) not in there
    ]


def _ends(found: list[Row]) -> tuple[float, float]:
    values = [row["y"] for row in found]
    return (min(values), max(values)) if values else (0.0, 1.0)


def _share(chart: Chart, value: float, ends: tuple[float, float]) -> float:
    """How far along the scale a value lies, from 0 to 1."""
    low, high = ends
    if low == high:
        return 0.0
    if chart.y.scale != "linear":
        low, high, value = math.log(low), math.log(high), math.log(value)
    # Halved first: the whole width of extreme ends overflows.
    return (value / 2 - low / 2) / (high / 2 - low / 2)


def _color(chart: Chart, measured: list[Row]) -> Any:
    low, high = _ends(measured)
    kind: Literal["linear", "log"] = "linear" if chart.y.scale == "linear" else "log"
    high = high if low < high else low + max(abs(low), 1.0) / 2
    scale = alt.Scale(type=kind, scheme="cividis", domain=[low, high], nice=False)
    legend = alt.Legend(title=title(chart.y), gradientLength=240, gradientThickness=11, tickCount=4)
    if low == _ends(measured)[1]:  # ticks beyond the only value would be of nothing
        legend["values"] = [low]
    if chart.y.unit == "%":
        legend["format"] = "~%"
    elif kind == "log":
        legend["format"] = LABELS
    return alt.Color("y:Q", scale=scale, legend=legend)


def _columns_axis(chart: Chart) -> Any:
    # `64 KiB` takes two lines, so that narrow columns keep their names.
    return alt.Axis(
        title=title(chart.x),
        labelAngle=0,
        labelExpr="split(datum.label, ' ')",
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )


def _rows_axis(chart: Chart) -> Any:
    text = title(chart.rows) if chart.rows else None
    return alt.Axis(
        title=text, grid=False, ticks=False, domain=False, labelOverlap=False, labelLimit=280
    )


def _spaced(names: list[str]) -> Any:
    return alt.Scale(domain=names, paddingInner=0.04, paddingOuter=0.0)


def _unit(chart: Chart) -> str | None:
    return chart.y.unit if chart.y.unit in {"B", "%"} else None


def _decimals(chart: Chart, value: float) -> int:
    """Three figures are what a cell has room for."""
    size = abs(value) * (100 if chart.y.unit == "%" else 1)
    return 0 if size >= 100 else 1 if size >= 10 or size.is_integer() else 2
