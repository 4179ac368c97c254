"""Bars from zero, upright or lying, or dots on a logarithmic axis, each with its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.reports.charts.annotations import rules, table_of
from memgauge.reports.charts.axes import title, y_axis, y_scale
from memgauge.reports.charts.channels import color, names, picked, shape, tooltip
from memgauge.reports.charts.points import category, rows

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart

_BAR_PX = 18
"""Of the place of one lying bar."""

_MOST_UPRIGHT = 6
_LONGEST_UPRIGHT = 14
"""Bars, and characters of the longest category, that fit side by side; beyond that bars lie."""


def height_px(chart: Chart) -> int:
    """What the bars need where they lie below each other."""
    categories = {row["x"] for row in rows(chart)}
    return _BAR_PX * len(categories) * len(names(chart))


def layers(chart: Chart) -> list[Any]:
    """Bars from zero; on a logarithmic axis, where a bar's length means nothing, dots."""
    bars = [row | {"x": category(row["x"])} for row in rows(chart)]
    order = list(dict.fromkeys(category(x) for series in chart.series for x in series.x))
    lying = len(bars) > _MOST_UPRIGHT or any(len(name) > _LONGEST_UPRIGHT for name in order)
    dots = chart.y.scale != "linear"
    base = table_of(bars)
    selected, opacity = picked()
    places = _places(chart, order, lying=lying, domain=dots or not lying)
    encoded = places | {
        "x" if lying else "y": _along(chart, "y:Q", lying=lying),
        "color": color(chart),
        "opacity": opacity,
        "tooltip": tooltip(chart),
    }
    if dots:
        mark = base.mark_point(filled=True, size=110).encode(**encoded, shape=shape(chart))
    else:
        mark = base.mark_bar(cornerRadiusEnd=2).encode(**encoded)
    known = any("low" in bar for bar in bars)
    return [
        mark.add_params(selected),
        *rules(chart, values_lie=lying),
        *(_whiskers(chart, base, places, lying=lying) if known else []),
        _value_labels(base, places, lying=lying, dx=11 if dots else 6),
    ]


def _places(chart: Chart, order: list[str], *, lying: bool, domain: bool) -> dict[str, Any]:
    """Where each bar stands: its category, and within it its series."""
    plain_axis: dict[str, Any] = {"labelAngle": 0, "grid": False, "ticks": False, "domain": domain}
    spaced = alt.Scale(paddingInner=0.28, paddingOuter=0.14)
    series = names(chart)
    if lying:
        # `DRAM, random` takes two lines, and the names need no title: they leave room for values.
        axis = alt.Axis(title=None, labelExpr="split(datum.label, ', ')", **plain_axis)
        below = alt.YOffset("series:N", sort=series)
        return {"y": alt.Y("x:N", sort=order, axis=axis, scale=spaced), "yOffset": below}
    axis = alt.Axis(title=title(chart.x), **plain_axis)
    beside = alt.XOffset("series:N", sort=series)
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
    return labels.encode(**places, **{"x" if lying else "y": value}, text=alt.Text("label:N"))
