"""The points of a chart that can be drawn, with the words that explain them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from memgauge.analysis.section import Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.text import plain
from memgauge.reports import cells

if TYPE_CHECKING:
    from memgauge.analysis.section import Axis, Chart, Series

Row = dict[str, Any]
T = TypeVar("T")

_LARGEST = 1e300
_LEAST = 1e-280
"""Beyond them the arithmetic of axes overflows, that of the distance between two such numbers too;
no measurement comes near."""


def rows(chart: Chart) -> list[Row]:
    """One row a point; a gap, or a point that stands alone, ends a segment of its line."""
    found: list[Row] = []
    for order, series in enumerate(chart.series):
        segment = 0
        for at, (x, y) in enumerate(zip(series.x, series.y, strict=False)):
            placed = chart.kind != "line" or drawable(x, chart.x)
            if y is None or not drawable(y, chart.y) or not placed:
                segment += 1
                continue
            row = _row(chart, series, at, y)
            found.append(row | {"at": at, "dash": order, "segment": f"{order}.{segment}"})
            if not series.joined:
                found[-1]["alone"] = True
                segment += 1
    return _filled(found)


def _filled(found: list[Row]) -> list[Row]:
    """What some points say on hover, all do: Vega writes `undefined` for what is missing."""
    for name, missing in (("interval", "not known"), ("note", "")):
        if any(name in row for row in found):
            found = [{name: missing, **row} for row in found]
    return found


def drawable(value: float | str, axis: Axis) -> bool:
    """Whether a value has a place on the axis: finite, and above zero on a logarithmic one."""
    if isinstance(value, str):
        return True
    if axis.scale == "linear":
        return value == 0 or _LEAST <= abs(value) <= _LARGEST
    return _LEAST <= value <= _LARGEST


def x_numbers(chart: Chart) -> list[float]:
    """The x of all points and marks that are numbers."""
    numbers = [row["x"] for row in rows(chart) if not isinstance(row["x"], str)]
    return numbers + [mark.x for mark in chart.marks if drawable(mark.x, chart.x)]


def y_numbers(chart: Chart) -> list[float]:
    """All that the y axis must hold: values, ends of intervals, rules and marks."""
    numbers = [row[name] for row in rows(chart) for name in ("y", "low", "high") if name in row]
    rules = [rule.value for rule in chart.rules if rule.axis == "y"]
    beside = [*rules, *(mark.y for mark in chart.marks)]
    return numbers + [value for value in beside if drawable(value, chart.y)]


def is_nominal(chart: Chart) -> bool:
    """Whether x holds names rather than numbers."""
    return chart.kind in {"bar", "stack"} or any(isinstance(row["x"], str) for row in rows(chart))


def named(text: str) -> str:
    """A name that stands for a series, a bar, a row or a column."""
    # Vega takes the string "if" in the expressions it makes of names for its own function; a
    # zero-width sign behind it keeps the name readable and the picture possible.
    safe = plain(text)
    return f"{safe}\N{ZERO WIDTH NON-JOINER}" if safe == "if" else safe


def category(x: float | str) -> str:
    """An x that stands for a bar."""
    return named(x) if isinstance(x, str) else cells.number(x, 1).removesuffix(".0")


def column(x: float | str, axis: Axis) -> str:
    """An x that stands for a column of a heat map: sizes carry their unit."""
    return category(x) if isinstance(x, str) or axis.unit != "B" else said(x, axis)


def _row(chart: Chart, series: Series, at: int, y: float) -> Row:
    x = series.x[at]
    row: Row = {
        "series": named(series.name),
        "x": named(x) if isinstance(x, str) else x,
        "y": y,
        "x_text": said(x, chart.x),
        "y_text": said(y, chart.y),
        "label": cells.plain_value(y, _unit(chart.y), _digits(y)),
    }
    note = _at(series.notes, at)
    if note:
        row["note"] = plain(note)
    low, high = _at(series.low, at), _at(series.high, at)
    if low is None or high is None or not drawable(low, chart.y) or not drawable(high, chart.y):
        return row
    column = Column(title="", unit=_unit(chart.y), digits=_digits(y))
    between = cells.interval(Estimate(y, low, high), column)
    return row | {"low": low, "high": high, "interval": between}


def _at(values: list[T | None] | None, at: int) -> T | None:
    return values[at] if values and at < len(values) else None


def _unit(axis: Axis) -> str | None:
    """The unit that changes how a value is written, if any."""
    return axis.unit if axis.unit in {"B", "%"} else None


def _digits(value: float) -> int:
    return 2 if abs(value) < 10 and not float(value).is_integer() else 1


def said(value: float | str, axis: Axis) -> str:
    """A place or value in words, with its unit."""
    if isinstance(value, str):
        return plain(value)
    digits = 0 if math.isfinite(value) and float(value).is_integer() else _digits(value)
    written = cells.plain_value(value, _unit(axis), digits)
    return written if axis.unit == "B" else plain(f"{written} {axis.unit}").strip()
