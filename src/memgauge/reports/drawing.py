"""The Altair definition of a chart. Imported only where something is drawn: Altair loads slowly.

Text of a run enters as data or titles, never as an expression.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from memgauge.analysis.section import Axis, Chart, Column, Estimate, Series
from memgauge.model.text import plain
from memgauge.reports import cells
from memgauge.reports.theme import DASHES, SHAPES

_AREA_FROM_POINTS = 13
"""Lines with as many points show intervals as an area, shorter ones as whiskers."""

_LONGEST_UPRIGHT = 14
"""Characters of the longest category under upright bars; longer ones lie."""

_BAND_LABEL_PX = 18
"""Height of the strip above the picture with the names of bands."""

_BYTES = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '~r') + ' KiB' : "
    "format(datum.value, '~r') + ' B'"
)

Row = dict[str, Any]


def specification(chart: Chart, width: int | str, height: int) -> Row:
    """Vega-Lite layers: bands, rules, intervals, marks with tooltips, labels."""
    # Altair checks each part against the schema as it is made, which takes most of the time; the
    # tests check whole charts instead.
    with debug_mode(False):
        layers = _lines(chart) if chart.kind == "line" else _bars(chart)
        drawn: Row = alt.layer(*layers).properties(width=width, height=height).to_dict()
    return drawn


def rows(chart: Chart) -> list[Row]:
    """The points that can be drawn; a gap starts a new segment of its line."""
    found: list[Row] = []
    for series in chart.series:
        segment = 0
        for at, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            if y is None or not _drawable(y, chart.y) or not _drawable(x, chart.x):
                segment += 1
                continue
            found.append(_row(chart, series, at, x, y, segment))
    return found


def _drawable(value: float | str, axis: Axis) -> bool:
    if isinstance(value, str):
        return True
    return math.isfinite(value) and (axis.scale == "linear" or value > 0)


def _row(  # noqa: PLR0913
    chart: Chart, series: Series, at: int, x: float | str, y: float, segment: int
) -> Row:
    low = series.low[at] if series.low else None
    high = series.high[at] if series.high else None
    row: Row = {
        "series": plain(series.name),
        "dash": plain(series.name),
        "segment": f"{plain(series.name)} {segment}",
        "x": plain(x) if isinstance(x, str) else x,
        "y": y,
        "x_text": _said(x, chart.x),
        "y_text": _said(y, chart.y),
        "label": cells.plain_value(y, _unit(chart.y), _digits(y)),
    }
    if low is not None and high is not None and _drawable(low, chart.y) and math.isfinite(high):
        column = Column(title="", unit=_unit(chart.y), digits=_digits(y))
        row |= {
            "low": low,
            "high": high,
            "interval": cells.interval(Estimate(y, low, high), column),
        }
    return row


def _unit(axis: Axis) -> str | None:
    return axis.unit if axis.unit in {"B", "%"} else None


def _digits(value: float) -> int:
    return 2 if abs(value) < 10 and not float(value).is_integer() else 1


def _said(value: float | str, axis: Axis) -> str:
    if isinstance(value, str):
        return plain(value)
    digits = 0 if float(value).is_integer() else _digits(value)
    written = cells.plain_value(value, _unit(axis), digits)
    return written if axis.unit == "B" else plain(f"{written} {axis.unit}").strip()


def _title(axis: Axis) -> str:
    unit = "" if axis.unit in {"", "B"} or axis.unit == axis.title else f" ({axis.unit})"
    return plain(f"{axis.title}{unit}")


def _scale(axis: Axis, chart: Chart, *, of_x: bool) -> alt.Scale:
    if axis.scale == "linear":
        return alt.Scale(zero=axis.from_zero)
    base = 2 if axis.scale == "log2" else 10
    if of_x:
        ends = _x_ends(chart)
        return alt.Scale(type="log", base=base, nice=False, domain=ends) if ends else alt.Undefined
    return alt.Scale(type="log", base=base)


def _x_ends(chart: Chart) -> list[float] | None:
    """From the first to the last x measured: bands and rules do not widen the picture."""
    xs = [row["x"] for row in rows(chart) if not isinstance(row["x"], str)]
    if not xs or min(xs) == max(xs):
        return None
    return [min(xs), max(xs)]


def _axis(axis: Axis, chart: Chart, *, of_x: bool) -> alt.Axis:
    settings: dict[str, Any] = {"labelOverlap": "greedy", "labelBound": False}
    if axis.unit == "B":
        settings["labelExpr"] = _BYTES
    elif axis.unit == "%":
        settings["format"] = ".0%"
    elif axis.scale != "linear":
        settings["format"] = "~r" if axis.scale == "log2" else "~g"
    if axis.scale == "linear":
        settings["tickCount"] = 6
    elif axis.scale == "log10":
        settings["values"] = _decades([row["x" if of_x else "y"] for row in rows(chart)])
    elif of_x:
        settings |= {"values": _powers(chart), "grid": axis.unit == "B"}
    return alt.Axis(title=_title(axis), **settings)


def _powers(chart: Chart) -> list[float]:
    """Powers of two on the axis; every second or third where there would be more than a dozen."""
    ends = _x_ends(chart)
    if ends is None:
        return sorted({row["x"] for row in rows(chart) if not isinstance(row["x"], str)})
    first, last = math.ceil(math.log2(ends[0]) - 1e-9), math.floor(math.log2(ends[1]) + 1e-9)
    step = max(1, math.ceil((last - first) / 10))
    return [2.0**power for power in range(first, last + 1, step)]


def _decades(values: list[float | str]) -> list[float]:
    """1, 2 and 5 times the powers of ten around the values."""
    numbers = [value for value in values if not isinstance(value, str)]
    if not numbers:
        return []
    first, last = math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers)))
    return [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]


def _nominal(chart: Chart) -> bool:
    return any(isinstance(row["x"], str) for row in rows(chart)) or chart.kind == "bar"


def _names(chart: Chart) -> list[str]:
    return [plain(series.name) for series in chart.series]


def _color(chart: Chart) -> alt.Color:
    names = _names(chart)
    return alt.Color("series:N", sort=names, scale=alt.Scale(domain=names), legend=_legend(chart))


def _legend(chart: Chart) -> alt.Legend | None:
    """Above the picture, and above the names of its bands."""
    if len(chart.series) < 2:
        return None
    return alt.Legend(offset=_BAND_LABEL_PX + 8 if chart.bands else 12)


def _picked() -> tuple[alt.Parameter, Any]:
    """Clicking a legend entry dims the others."""
    picked = alt.selection_point(name="picked", fields=["series"], bind="legend")
    return picked, alt.when(picked).then(alt.value(1.0)).otherwise(alt.value(0.15))


def _tooltip(chart: Chart, *, intervals: bool) -> list[alt.Tooltip]:
    shown = [
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("x_text:N", title=plain(chart.x.title) or "x"),
        alt.Tooltip("y_text:N", title=plain(chart.y.title) or "y"),
    ]
    return [*shown, alt.Tooltip("interval:N", title="95% interval")] if intervals else shown


def _lines(chart: Chart) -> list[Any]:
    found = rows(chart)
    around = [row for row in found if "low" in row]
    picked, opacity = _picked()
    nominal = _nominal(chart)
    base = alt.Chart(alt.Data(values=found))
    x: Any = (
        alt.X("x:N", sort=None, axis=_axis(chart.x, chart, of_x=True))
        if nominal
        else alt.X(
            "x:Q",
            scale=_scale(chart.x, chart, of_x=True),
            axis=_axis(chart.x, chart, of_x=True),
        )
    )
    y = alt.Y(
        "y:Q", scale=_scale(chart.y, chart, of_x=False), axis=_axis(chart.y, chart, of_x=False)
    )
    color = _color(chart)
    names = _names(chart)
    dashes = [[3, 3] if series.dashed else DASHES[at % 4] for at, series in enumerate(chart.series)]
    # Its own field: legends of one field merge, and dashes would blur the shapes there.
    dash = alt.StrokeDash(
        "dash:N", sort=names, scale=alt.Scale(domain=names, range=dashes), legend=None
    )
    line = base.mark_line(strokeWidth=2.2, clip=True).encode(
        x=x, y=y, color=color, strokeDash=dash, detail="segment:N", opacity=opacity
    )
    shape = alt.Shape(
        "series:N",
        sort=names,
        scale=alt.Scale(domain=names, range=[SHAPES[at % 6] for at in range(len(names))]),
        legend=_legend(chart),
    )
    many = len(found) > 60 * max(1, len(names))
    points = (
        base.mark_point(filled=True, size=26 if len(found) > 26 else 60, clip=False)
        .encode(
            x=x,
            y=y,
            color=color,
            shape=shape,
            opacity=alt.value(0.0) if many else opacity,
            tooltip=_tooltip(chart, intervals=bool(around)),
        )
        .add_params(picked)
    )
    return [*_bands(chart), *_rules(chart), *_around(chart, around, x, color), line, points]


def _around(chart: Chart, around: list[Row], x: Any, color: alt.Color) -> list[Any]:  # noqa: ANN401
    """The 95% intervals of lines: an area under many points, whiskers under few."""
    if not around:
        return []
    base = alt.Chart(alt.Data(values=around))
    low, high = alt.Y("low:Q", title=_title(chart.y)), alt.Y2("high:Q")
    if max(len(series.x) for series in chart.series) >= _AREA_FROM_POINTS:
        area = base.mark_area(opacity=0.18, clip=True)
        return [area.encode(x=x, y=low, y2=high, color=color, detail="segment:N")]
    whiskers = base.mark_rule(strokeWidth=1.6, opacity=0.8)
    return [whiskers.encode(x=x, y=low, y2=high, color=color)]


def _bars(chart: Chart) -> list[Any]:
    """Bars from zero; on a logarithmic axis, where a bar's length means nothing, dots."""
    found = rows(chart)
    names = _names(chart)
    order = list(dict.fromkeys(_x_text(x) for series in chart.series for x in series.x))
    for row in found:
        row["x"] = _x_text(row["x"])
    around = [row for row in found if "low" in row]
    picked, opacity = _picked()
    lying = max((len(name) for name in order), default=0) > _LONGEST_UPRIGHT
    dots = chart.y.scale != "linear"
    names_axis = alt.Axis(
        title=_title(chart.x), labelAngle=0, grid=False, ticks=False, domain=not lying or dots
    )
    values_scale = _scale(chart.y, chart, of_x=False) if dots else alt.Scale(zero=True, nice=True)
    value, value2 = ("x", "x2") if lying else ("y", "y2")
    place, offset = ("y", "yOffset") if lying else ("x", "xOffset")
    channel = {"x": alt.X, "y": alt.Y}
    shared: dict[str, Any] = {
        place: channel[place](
            "x:N",
            sort=order,
            axis=names_axis,
            scale=alt.Scale(paddingInner=0.28, paddingOuter=0.14),
        ),
        offset: (alt.XOffset if offset == "xOffset" else alt.YOffset)("series:N", sort=names),
    }
    along = channel[value]("y:Q", scale=values_scale, axis=_axis(chart.y, chart, of_x=False))
    base = alt.Chart(alt.Data(values=found))
    color = _color(chart)
    encoded: dict[str, Any] = shared | {
        value: along,
        "color": color,
        "opacity": opacity,
        "tooltip": _tooltip(chart, intervals=bool(around)),
    }
    if dots:
        encoded["shape"] = alt.Shape(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[SHAPES[at % 6] for at in range(len(names))]),
            legend=_legend(chart),
        )
        mark = base.mark_point(filled=True, size=110)
    else:
        mark = base.mark_bar(cornerRadiusEnd=2)
    layers: list[Any] = [*_rules(chart), mark.encode(**encoded).add_params(picked)]
    if around:
        ends = {value: channel[value]("low:Q", title=_title(chart.y)), value2: "high:Q"}
        whisker = alt.Chart(alt.Data(values=around)).mark_rule(style="whisker")
        layers.append(whisker.encode(**shared, **ends))
    layers.append(_value_labels(base, shared, value, lying=lying, high=bool(around)))
    return layers


def _x_text(x: float | str) -> str:
    return plain(x) if isinstance(x, str) else cells.number(x, 1).removesuffix(".0")


def _value_labels(base: alt.Chart, shared: Row, value: str, *, lying: bool, high: bool) -> Any:  # noqa: ANN401
    """The figure itself, beyond the end of its bar and interval."""
    near = (
        {"align": "left", "baseline": "middle", "dx": 6}
        if lying
        else {"align": "center", "baseline": "bottom", "dy": -5}
    )
    ends = base.transform_calculate(end="isValid(datum.high) ? datum.high : datum.y")
    channel = alt.X if value == "x" else alt.Y
    labels = ends.mark_text(style="value-label", **near)
    return labels.encode(**shared, **{value: channel("end:Q"), "text": alt.Text("label:N")})


def _bands(chart: Chart) -> list[Any]:
    """Shaded stretches of the x axis, every second one, each with its name at the top."""
    ends = _x_ends(chart)
    if not chart.bands or ends is None or _nominal(chart):
        return []
    values = []
    for at, band in enumerate(chart.bands):
        start, end = max(band.start, ends[0]), min(band.end, ends[1])
        if start < end:
            middle = math.sqrt(start * end) if chart.x.scale != "linear" else (start + end) / 2
            values.append(
                {"x": start, "x2": end, "mid": middle, "label": plain(band.label), "odd": at % 2}
            )
    base = alt.Chart(alt.Data(values=values))
    x = alt.X("x:Q", scale=_scale(chart.x, chart, of_x=True))
    shade = base.transform_filter("datum.odd == 0").mark_rect(style="band", clip=True)
    label = base.mark_text(style="band-label", baseline="bottom", dy=-5)
    return [
        shade.encode(x=x, x2="x2:Q"),
        label.encode(x=alt.X("mid:Q"), y=alt.value(0), text="label:N"),
    ]


def _rules(chart: Chart) -> list[Any]:
    layers: list[Any] = []
    for axis in ("x", "y"):
        values = [
            {"at": rule.value, "label": plain(rule.label)}
            for rule in chart.rules
            if rule.axis == axis and math.isfinite(rule.value)
        ]
        if values and not (axis == "x" and _nominal(chart)):
            layers += _rules_of(chart, axis, values)
    return layers


def _rules_of(chart: Chart, axis: str, values: list[Row]) -> list[Any]:
    base = alt.Chart(alt.Data(values=values))
    rule = base.mark_rule(style="rule-mark", clip=True)
    if axis == "x":
        x = alt.X("at:Q", scale=_scale(chart.x, chart, of_x=True))
        label = base.mark_text(style="rule-label", align="right", baseline="top", dx=-5, dy=6)
        return [rule.encode(x=x), label.encode(x=x, y=alt.value(0), text="label:N")]
    y = alt.Y("at:Q", title=_title(chart.y))
    label = base.mark_text(style="rule-label", align="right", baseline="bottom", dx=-4, dy=-4)
    right = alt.value("width")
    return [rule.encode(y=y), label.encode(y=y, x=right, text="label:N")]
