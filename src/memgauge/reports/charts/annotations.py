"""What stands behind the points of a chart: shaded bands and straight rules, with their names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import altair as alt

from memgauge.model.text import plain
from memgauge.reports.charts.axes import title, x_ends, x_scale
from memgauge.reports.charts.placing import along
from memgauge.reports.charts.points import drawable, is_nominal

if TYPE_CHECKING:
    from memgauge.analysis.section import Band, Chart
    from memgauge.reports.charts.points import Row


_LEFT_SHARE = 0.25
"""Of the width: to the left of a rule there its name would reach beyond the axis."""


class _Rows(alt.InlineData):
    """Rows that nobody changes: Altair copies a chart with each layer, and these not with it."""

    def __deepcopy__(self, _: object) -> Self:
        return self


def table_of(rows: list[Row]) -> Any:
    """A chart without marks over rows that travel inside the specification."""
    return alt.Chart(_Rows(values=rows))


def bands(chart: Chart) -> list[Any]:
    """Stretches of the x axis, every second one shaded, each with its name above the picture."""
    ends = x_ends(chart)
    if ends is None or is_nominal(chart):
        return []
    rows = [_band(chart, at, band, ends) for at, band in enumerate(chart.bands)]
    shown = [row for row in rows if row is not None]
    if not shown:
        return []
    base = table_of(shown)
    shade = base.transform_filter("datum.shaded").mark_rect(style="band", clip=True)
    label = base.mark_text(style="band-label", baseline="bottom", dy=-5)
    return [
        shade.encode(x=alt.X("x:Q", scale=x_scale(chart)), x2=alt.X2("x2:Q")),
        label.encode(x=alt.X("middle:Q"), y=alt.value(0), text=alt.Text("label:N")),
    ]


def _band(chart: Chart, at: int, band: Band, ends: list[float]) -> Row | None:
    start, end = max(ends[0], band.start), min(ends[1], band.end)
    if not start < end:
        return None
    logarithmic = chart.x.scale != "linear"
    middle = math.sqrt(start) * math.sqrt(end) if logarithmic else start / 2 + end / 2
    label = plain(band.label)
    return {"x": start, "x2": end, "middle": middle, "label": label, "shaded": at % 2 == 0}


def rules(chart: Chart, *, values_lie: bool = False) -> list[Any]:
    """Straight lines at a value or at an x; `values_lie` when values run along the picture."""
    levels = [
        {"at": rule.value, "label": plain(rule.label)}
        for rule in chart.rules
        if rule.axis == "y" and drawable(rule.value, chart.y)
    ]
    ends = None if is_nominal(chart) else x_ends(chart)
    places = [
        {"at": rule.value, "label": plain(rule.label)}
        | {"leads": along(chart.x, rule.value, *ends) < _LEFT_SHARE}
        for rule in chart.rules
        if rule.axis == "x" and ends and ends[0] <= rule.value <= ends[1]
    ]
    layers = []
    if places:
        layers += _upright(places, alt.X("at:Q", scale=x_scale(chart)))
    if levels and values_lie:
        layers += _upright(levels, alt.X("at:Q", title=title(chart.y)), above=True)
    elif levels:
        layers += _level(levels, alt.Y("at:Q", title=title(chart.y)))
    return layers


def _upright(rows: list[Row], x: Any, *, above: bool = False) -> list[Any]:
    """Names one below the other, so that those of neighbours do not meet.

    `above` the picture, where lying bars reach up to the line.
    """
    layers = [table_of(rows).mark_rule(style="rule-mark", clip=True).encode(x=x)]
    for at, row in enumerate(rows):
        step = 15 * (at % 4)
        label = table_of([row]).mark_text(
            style="rule-label",
            align="left" if row.get("leads") else "right",
            baseline="bottom" if above else "top",
            dx=0 if above else 5 if row.get("leads") else -5,
            dy=-3 - step if above else 6 + step,
        )
        layers.append(label.encode(x=x, y=alt.value(0), text=alt.Text("label:N")))
    return layers


def _level(rows: list[Row], y: Any) -> list[Any]:
    base = table_of(rows)
    layers = [base.mark_rule(style="rule-mark", clip=True).encode(y=y)]
    for style in ("rule-halo", "rule-label"):  # legible also on a bar
        label = base.mark_text(style=style, align="right", baseline="bottom", dx=-4, dy=-4)
        layers.append(label.encode(y=y, x=alt.value("width"), text=alt.Text("label:N")))
    return layers
