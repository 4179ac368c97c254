"""Formats cells of tables: a figure looks the same in the terminal, HTML and tooltips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memgauge.analysis.section import Cell, Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.text import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable

MISSING = "\N{EN DASH}"
"""Stands for what was not measured."""

WIDE_MARK = "*"
"""Mark of an estimate whose interval is wider than the requested precision."""

MOST_TEXT = 2000
"""Most characters of a text in a report: an untrusted run may contain texts of any length."""

_LONGEST = 1e15
"""Numbers from here on are shown as powers of ten; no measurement comes near."""

_BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def number(value: float, digits: int) -> str:
    """A number with `digits` decimals; a small one keeps two figures rather than read zero."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value != 0 and abs(value) <= 0.5 * 10.0**-digits:
        return f"{value:.2g}"
    if abs(value) >= _LONGEST:
        return f"{value:.3g}"
    return f"{value:,.{digits}f}" if abs(value) >= 10_000 else f"{value:.{digits}f}"


def size(value: float, digits: int = 1) -> str:
    """Bytes in the largest binary unit that does not make them a fraction: `32 MiB`."""
    if not abs(value) < _LONGEST * 1024:
        return number(value, 0)
    for bytes_, name in _BINARY:
        if abs(value) >= bytes_:
            return f"{value / bytes_:.{digits}f}".removesuffix("." + "0" * digits) + f" {name}"
    return f"{number(value, 0 if float(value).is_integer() else digits)} B"


def spread(estimate: Estimate, unit: str | None = None) -> str:
    """Half the interval: `±0.4%` of the value, or in points where the unit is `%` already."""
    if unit == "%":
        points = 50 * (estimate.high - estimate.low)
        return f"±{number(points, 1)}" if math.isfinite(points) else "±?"
    percent = 100 * estimate.precision
    if not math.isfinite(percent):
        return "±?"
    percent = abs(percent)
    if percent >= 9.95:
        return f"±{percent:.0f}%"
    return "±<0.1%" if 0 < percent < 0.05 else f"±{percent:.1f}%"


def plain_value(value: float | str | bool | None, unit: str | None, digits: int) -> str:
    """A cell without its interval.

    Args:
        value: A figure or text; None means not measured.
        unit: As in `Column`; only `B` (written as KiB, MiB) and `%` (of a share) have an effect.
        digits: Decimals of a figure; an integer has none unless its unit is `%`.
    """
    if value is None or isinstance(value, str):
        return MISSING if value is None else bounded(value, MOST_TEXT)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if unit == "B":
        return size(value, digits)
    if isinstance(value, int) and unit != "%":
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return number(100 * value if unit == "%" else value, digits)


def centre(cell: Cell, column: Column) -> str:
    """The cell's value as text or digits, without its interval."""
    value = float(cell.value) if isinstance(cell, Estimate) else cell
    return plain_value(value, column.unit, column.digits)


def interval(estimate: Estimate, column: Column) -> str:
    """Both ends: `49.9 to 50.3`; unknown if one side is open."""
    if not math.isfinite(estimate.low) or not math.isfinite(estimate.high):
        return "not known: too few samples"
    ends = (
        plain_value(float(end), column.unit, column.digits) for end in (estimate.low, estimate.high)
    )
    return " to ".join(ends)


def is_wide(cell: Cell, column: Column, precision: float | None) -> bool:
    """Whether an estimate missed the requested precision.

    Args:
        cell: Any cell; only an estimate can miss it.
        column: Column of the cell; sizes, whose unit is `B`, never miss it.
        precision: Requested half width of the interval over the value; None if none was requested.
    """
    if not isinstance(cell, Estimate) or precision is None or column.unit == "B":
        return False
    return cell.precision > precision


def text(cell: Cell, column: Column, precision: float | None = None) -> str:
    """The cell as one line: `50.1 ±0.4%`, marked if it missed the requested precision.

    Args:
        cell: Any cell; None, for what was not measured, gives a dash.
        column: Column of the cell, which sets unit and decimals.
        precision: Requested half width of the interval over the value; None marks nothing.
    """
    value, around, mark = _parts(cell, column, precision)
    return (f"{value} {around}" if around else value) + mark


def aligned(column_cells: list[Cell], column: Column, precision: float | None) -> list[str]:
    """The cells of a column padded so that values, intervals and marks stand below each other.

    Args:
        column_cells: The cells from top to bottom; words among them leave the column unpadded.
        column: The column, which sets unit and decimals.
        precision: Requested half width of the interval over the value; None marks nothing.
    """
    if not is_numeric(column_cells):
        return [text(cell, column, precision) for cell in column_cells]
    parts = [_parts(cell, column, precision) for cell in column_cells]
    centres, spreads, marks = (max(len(part[at]) for part in parts) for at in range(3))
    gap = " " if spreads else ""
    return [f"{c:>{centres}}{gap}{s:>{spreads}}{m:<{marks}}" for c, s, m in parts]


def _parts(cell: Cell, column: Column, precision: float | None) -> tuple[str, str, str]:
    around = spread(cell, column.unit) if isinstance(cell, Estimate) else ""
    mark = WIDE_MARK if is_wide(cell, column, precision) else ""
    return centre(cell, column), around, mark


def heading(column: Column) -> str:
    """Title and unit: `triad (GB/s)`; sizes carry their unit in each cell."""
    return column.title if column.unit in {None, "", "B"} else f"{column.title} ({column.unit})"


def is_numeric(cells: Iterable[Cell]) -> bool:
    """Whether a column is to be aligned right: it holds a figure and no words."""
    present = [cell for cell in cells if cell is not None]
    return bool(present) and not any(isinstance(cell, str | bool) for cell in present)
