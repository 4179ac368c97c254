"""The Altair definition of a chart. Imported only where something is drawn: Altair loads slowly.

Text of a run enters as data or titles, never as an expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
from altair.utils.schemapi import debug_mode

from memgauge.model.text import plain
from memgauge.reports.annotations import bands, rules, table_of
from memgauge.reports.axes import title, x_channel, y_axis, y_scale
from memgauge.reports.points import Row, category, rows
from memgauge.reports.theme import DASHES, SHAPES, WIDTH_PX, legend_columns

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart

_HEIGHT_PX = 340
_BAR_PX = 18
"""Of the place of one lying bar."""

_BAND_LABEL_PX = 18
"""Height of the strip above the picture with the names of bands."""

_AREA_FROM_POINTS = 13
"""Lines with as many points show intervals as an area, shorter ones as whiskers."""

_MOST_MARKERS = 60
"""Points of one line that are drawn as such; of longer lines they only carry the tooltip."""

_MOST_UPRIGHT = 6
_LONGEST_UPRIGHT = 14
"""Bars, and characters of the longest category, that fit side by side; beyond that bars lie."""


def specification(chart: Chart, width: int | str) -> Row:
    """Vega-Lite layers: bands, rules, intervals, marks with tooltips, labels."""
    # Altair checks each part against the schema as it is made, which takes most of the time; the
    # tests check whole charts instead.
    with debug_mode(False):
        layers = _lines(chart) if chart.kind == "line" else _bars(chart)
        sized = alt.layer(*layers).properties(width=width, height=_height_px(chart))
        drawn: Row = sized.to_dict(validate=False)
    longest = max(map(len, _names(chart)), default=0)
    return drawn | {"usermeta": {"longestName": longest}}


def _height_px(chart: Chart) -> int:
    """Taller where many bars lie below each other."""
    if chart.kind == "line":
        return _HEIGHT_PX
    categories = {row["x"] for row in rows(chart)}
    return max(_HEIGHT_PX, _BAR_PX * len(categories) * len(_names(chart)))


def _names(chart: Chart) -> list[str]:
    """Series that have a point, in their order."""
    return list(dict.fromkeys(row["series"] for row in rows(chart)))


def _color(chart: Chart) -> Any:
    names = _names(chart)
    return alt.Color("series:N", sort=names, scale=alt.Scale(domain=names), legend=_legend(chart))


def _shape(chart: Chart) -> Any:
    names = _names(chart)
    shapes = alt.Scale(domain=names, range=[SHAPES[at % len(SHAPES)] for at in range(len(names))])
    return alt.Shape("series:N", sort=names, scale=shapes, legend=_legend(chart))


def _dash(chart: Chart) -> Any:
    """Lines differ by their dashes too; dots are for what was not measured here."""
    measured = DASHES["measured"]
    dashes = [
        DASHES["unmeasured"] if series.dashed else measured[at % len(measured)]
        for at, series in enumerate(chart.series)
    ]
    # Not by name: legends of one domain merge, and dashes would blur the shapes there.
    scale = alt.Scale(domain=list(range(len(dashes))), range=dashes)
    return alt.StrokeDash("dash:O", scale=scale, legend=None)


def _legend(chart: Chart) -> Any:
    """Above the picture, and above the names of its bands; none for a single series."""
    names = _names(chart)
    if len(names) < 2:
        return None
    columns = legend_columns(max(map(len, names)), WIDTH_PX)
    return alt.Legend(offset=_BAND_LABEL_PX + 8 if chart.bands else 12, columns=columns)


def _picked() -> tuple[Any, Any]:
    """Clicking a legend entry dims the others."""
    picked = alt.selection_point(name="picked", fields=["series"], bind="legend")
    return picked, alt.when(picked).then(alt.value(1.0)).otherwise(alt.value(0.15))


def _tooltip(chart: Chart, *, intervals: bool) -> list[Any]:
    shown = [
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("x_text:N", title=plain(chart.x.title) or "x"),
        alt.Tooltip("y_text:N", title=plain(chart.y.title) or "y"),
    ]
    return [*shown, alt.Tooltip("interval:N", title="95% interval")] if intervals else shown


def _lines(chart: Chart) -> list[Any]:
    points = rows(chart)
    base = table_of(points)
    picked, opacity = _picked()
    many = len(points) > _MOST_MARKERS * len(chart.series)
    small = len(points) > 2 * _AREA_FROM_POINTS
    shared: dict[str, Any] = {"x": x_channel(chart), "color": _color(chart)}
    y = alt.Y("y:Q", scale=y_scale(chart), axis=y_axis(chart))
    line = base.mark_line(strokeWidth=2.2, clip=True).encode(
        **shared, y=y, strokeDash=_dash(chart), detail="segment:N", opacity=opacity
    )
    markers = base.mark_point(filled=True, size=26 if small else 60).encode(
        **shared,
        y=y,
        shape=_shape(chart),
        opacity=alt.value(0.0) if many else opacity,
        tooltip=_tooltip(chart, intervals=_has_intervals(points)),
    )
    around = _around(chart, base, shared) if _has_intervals(points) else []
    return [*bands(chart), *rules(chart), *around, line, markers.add_params(picked)]


def _has_intervals(points: list[Row]) -> bool:
    return any("low" in point for point in points)


def _around(chart: Chart, base: Any, shared: dict[str, Any]) -> list[Any]:
    """The 95% intervals of lines: an area under many points, whiskers under few."""
    known = base.transform_filter("isValid(datum.low)")
    ends = {"y": alt.Y("low:Q", title=title(chart.y)), "y2": alt.Y2("high:Q")}
    if max(len(series.x) for series in chart.series) >= _AREA_FROM_POINTS:
        return [
            known.mark_area(opacity=0.18, clip=True).encode(**shared, **ends, detail="segment:N")
        ]
    return [known.mark_rule(strokeWidth=1.6, opacity=0.8).encode(**shared, **ends)]


def _bars(chart: Chart) -> list[Any]:
    """Bars from zero; on a logarithmic axis, where a bar's length means nothing, dots."""
    bars = [row | {"x": category(row["x"])} for row in rows(chart)]
    order = list(dict.fromkeys(category(x) for series in chart.series for x in series.x))
    lying = len(bars) > _MOST_UPRIGHT or any(len(name) > _LONGEST_UPRIGHT for name in order)
    dots = chart.y.scale != "linear"
    base = table_of(bars)
    picked, opacity = _picked()
    places = _places(chart, order, lying=lying, domain=dots or not lying)
    encoded = places | {
        "x" if lying else "y": _along(chart, "y:Q", lying=lying),
        "color": _color(chart),
        "opacity": opacity,
        "tooltip": _tooltip(chart, intervals=_has_intervals(bars)),
    }
    if dots:
        mark = base.mark_point(filled=True, size=110).encode(**encoded, shape=_shape(chart))
    else:
        mark = base.mark_bar(cornerRadiusEnd=2).encode(**encoded)
    return [
        *rules(chart, values_lie=lying),
        mark.add_params(picked),
        *(_whiskers(chart, base, places, lying=lying) if _has_intervals(bars) else []),
        _value_labels(base, places, lying=lying, dx=11 if dots else 6),
    ]


def _places(chart: Chart, order: list[str], *, lying: bool, domain: bool) -> dict[str, Any]:
    """Where each bar stands: its category, and within it its series."""
    plain_axis: dict[str, Any] = {"labelAngle": 0, "grid": False, "ticks": False, "domain": domain}
    spaced = alt.Scale(paddingInner=0.28, paddingOuter=0.14)
    names = _names(chart)
    if lying:
        # `DRAM, random` takes two lines, and the names need no title: they leave room for values.
        axis = alt.Axis(title=None, labelExpr="split(datum.label, ', ')", **plain_axis)
        below = alt.YOffset("series:N", sort=names)
        return {"y": alt.Y("x:N", sort=order, axis=axis, scale=spaced), "yOffset": below}
    axis = alt.Axis(title=title(chart.x), **plain_axis)
    beside = alt.XOffset("series:N", sort=names)
    return {"x": alt.X("x:N", sort=order, axis=axis, scale=spaced), "xOffset": beside}


def _along(chart: Chart, field: str, *, lying: bool) -> Any:
    """The channel of values, along which bars extend."""
    return (alt.X if lying else alt.Y)(field, scale=y_scale(chart), axis=y_axis(chart))


def _whiskers(chart: Chart, base: Any, places: dict[str, Any], *, lying: bool) -> list[Any]:
    ends = {
        "x" if lying else "y": (alt.X if lying else alt.Y)("low:Q", title=title(chart.y)),
        "x2" if lying else "y2": "high:Q",
    }
    known = base.transform_filter("isValid(datum.low)")
    return [known.mark_rule(style="whisker").encode(**places, **ends)]


def _value_labels(base: Any, places: dict[str, Any], *, lying: bool, dx: int) -> Any:
    """The figure itself, beyond the end of its bar and interval."""
    beside: dict[str, Any] = {"align": "left", "baseline": "middle", "dx": dx}
    above: dict[str, Any] = {"align": "center", "baseline": "bottom", "dy": 1 - dx}
    ends = base.transform_calculate(end="isValid(datum.high) ? datum.high : datum.y")
    labels = ends.mark_text(style="value-label", **(beside if lying else above))
    value = alt.X("end:Q") if lying else alt.Y("end:Q")
    return labels.encode(**places, **{"x" if lying else "y": value}, text="label:N")
