"""Scales and axes: round numbers, bytes in binary units, one tick for each power of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.reports.charts.points import is_nominal, named, x_numbers, y_numbers

if TYPE_CHECKING:
    from memgauge.analysis.section import Axis, Chart

_MOST_POWERS = 10
"""Powers with a tick on a logarithmic axis; beyond that every second or third is left out."""

_MOST_COUNTS = 8
"""Steps of a short axis of counts, each with a tick."""

LABELS = ".12~g"
"""Digits where twelve are enough, else a power of ten: three hundred zeros say nothing, and Vega
takes minutes to shape a thousand such labels, also those it then leaves out."""

_BYTES = (
    "datum.value >= 1099511627776 ? format(datum.value / 1099511627776, '.6~g') + ' TiB' : "
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.6~g') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '.6~g') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '.6~g') + ' KiB' : "
    "format(datum.value, '.6~g') + ' B'"
)


def x_channel(chart: Chart) -> Any:
    """The x of lines: names in the order given, or numbers on their scale."""
    if is_nominal(chart):
        return alt.X("x:N", sort=None, axis=axis(chart.x, x_numbers(chart), title(chart.x)))
    return alt.X("x:Q", scale=x_scale(chart), axis=_x_axis(chart))


def x_scale(chart: Chart) -> Any:
    """From the first to the last point or mark; bands and rules do not widen the picture."""
    if chart.x.scale == "linear":
        return alt.Scale(zero=chart.x.from_zero)
    return _log_scale(chart.x, x_ends(chart))


def y_scale(chart: Chart) -> Any:
    """Around all values, intervals and rules; logarithmic ones end at round numbers."""
    if chart.y.scale == "linear":
        return alt.Scale(zero=chart.y.from_zero or chart.kind == "bar")
    return _log_scale(chart.y, _round_ends(y_numbers(chart), chart.y))


def y_axis(chart: Chart) -> Any:
    """The axis of values, wherever it lies."""
    return axis(chart.y, y_numbers(chart), title(chart.y))


def x_ends(chart: Chart) -> list[float] | None:
    """The least and the greatest x; None where they are one."""
    xs = x_numbers(chart)
    return [min(xs), max(xs)] if xs and min(xs) < max(xs) else None


def title(described: Axis) -> str:
    """Title and unit; sizes carry theirs in each label."""
    bare = described.unit in {"", "B", described.title}
    return named(described.title if bare else f"{described.title} ({described.unit})")


def axis(described: Axis, numbers: list[float], text: str) -> Any:
    """Ticks for the scale: six or so, or 1, 2 and 5 times powers of ten.

    Args:
        described: Axis of the chart; its unit and scale determine labels and ticks.
        numbers: All numbers drawn along it; on a logarithmic scale, all are positive.
        text: Title as drawn, unit included.
    """
    settings: dict[str, Any] = {
        # Where labels are left out, those of an even scale stay evenly spaced.
        "labelOverlap": "parity" if described.scale == "linear" else "greedy",
        "labelFlush": False,
        "labelSeparation": 6,
    }
    if described.unit == "B":
        settings["labelExpr"] = _BYTES
    elif described.unit == "%":
        settings["format"] = "~%"
    elif described.scale != "linear":
        settings["format"] = LABELS
    if described.scale == "linear":
        settings["tickCount"] = 6
        if not described.unit and all(number == int(number) for number in numbers):
            settings["tickMinStep"] = 1  # counts: no half of a thread
    elif described.scale == "log10" and numbers:
        settings["values"] = _decades(numbers)
    return alt.Axis(title=text, **settings)


def _x_axis(chart: Chart) -> Any:
    numbers = x_numbers(chart)
    drawn = axis(chart.x, numbers, title(chart.x))
    if drawn["tickMinStep"] is not alt.Undefined and numbers:
        low, high = int(min(numbers)), int(max(numbers))
        if high - low <= _MOST_COUNTS:
            drawn["values"] = list(range(low, high + 1))
            drawn["format"] = "d"
    if chart.x.scale == "log2":
        drawn["values"] = _powers(chart)
        drawn["grid"] = chart.x.unit == "B"
    return drawn


def _log_scale(described: Axis, ends: list[float] | None) -> Any:
    base = 2 if described.scale == "log2" else 10
    return alt.Scale(type="log", base=base, nice=False, domain=ends or alt.Undefined)


def _round_ends(numbers: list[float], described: Axis) -> list[float] | None:
    if not numbers:
        return None
    if described.scale == "log2":
        low, high = math.floor(math.log2(min(numbers))), math.ceil(math.log2(max(numbers)))
        return [2.0**low, 2.0 ** max(high, low + 1)]
    lowest, highest = min(numbers), max(numbers)
    below = max(step for step in _decades([lowest]) if step <= lowest)
    return [below, min(step for step in _decades([highest]) if step > highest)]


def _powers(chart: Chart) -> list[float]:
    ends = x_ends(chart)
    if ends is None:
        return sorted(set(x_numbers(chart)))
    first, last = math.ceil(math.log2(ends[0]) - 1e-9), math.floor(math.log2(ends[1]) + 1e-9)
    step = max(1, math.ceil((last - first) / _MOST_POWERS))
    return [2.0**power for power in range(first, last + 1, step)]


def _decades(numbers: list[float]) -> list[float]:
    """1, 2 and 5 times the powers of ten around the numbers; of many powers, only some."""
    first, last = math.floor(math.log10(min(numbers))) - 1, math.ceil(math.log10(max(numbers))) + 1
    every = max(1, math.ceil((last - first) / (2 * _MOST_POWERS)))
    steps = (1, 2, 5) if every == 1 else (1,)
    # From a multiple, so that 1 stays a tick.
    powers = range(math.ceil(first / every) * every, last + 1, every)
    return [float(f"{step}e{power}") for power in powers for step in steps]
