"""Lines with their points and intervals; points are joined in the order given."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.reports.charts.annotations import bands, rules, table_of
from memgauge.reports.charts.axes import title, x_channel, y_axis, y_scale
from memgauge.reports.charts.channels import color, dash, picked, shape, tooltip
from memgauge.reports.charts.marks import marks
from memgauge.reports.charts.points import rows

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart, Series
    from memgauge.reports.charts.points import Row

_AREA_FROM_POINTS = 13
"""Lines with as many points show intervals as an area, shorter ones as whiskers."""

_MOST_MARKERS = 60
"""Points of one line that are drawn as such; of longer lines they only carry the tooltip."""


def layers(chart: Chart) -> list[Any]:
    """Bands, rules, intervals, lines, points, and marked places on top."""
    points = rows(chart)
    base = table_of(points)
    selected, opacity = picked()
    # Beside points that stand alone, lines are curves through no points of their own.
    alone = [point for point in points if "alone" in point]
    marked = base.transform_filter("datum.alone") if alone else base
    # Without a line through them, points are all there is to see.
    many = not alone and len(points) > _MOST_MARKERS * len(chart.series)
    small = len(alone or points) > 2 * _AREA_FROM_POINTS
    shared: dict[str, Any] = {"x": x_channel(chart), "color": color(chart)}
    y = alt.Y("y:Q", scale=y_scale(chart), axis=y_axis(chart))
    # Without an order of its own Vega-Lite joins points from left to right.
    line = base.mark_line(strokeWidth=2.2, clip=True).encode(
        **shared,
        y=y,
        strokeDash=dash(chart),
        detail=alt.Detail("segment:N"),
        opacity=opacity,
        order=alt.Order("at:Q"),
    )
    markers = marked.mark_point(filled=True, size=26 if small else 60).encode(
        **shared,
        y=y,
        shape=shape(chart),
        opacity=alt.OpacityValue(0.0) if many else opacity,
        tooltip=tooltip(chart),
    )
    around = _around(chart, base, shared, points)
    points_on_top = markers.add_params(selected)
    return [*bands(chart), *rules(chart), *around, line, points_on_top, *marks(chart)]


def _around(chart: Chart, base: Any, shared: dict[str, Any], points: list[Row]) -> list[Any]:
    """Intervals or ranges: an area under many points, whiskers under few or where a line turns."""
    if not any("low" in point for point in points):
        return []
    known = base.transform_filter("isValid(datum.low)")
    ends = {"y": alt.Y("low:Q", title=title(chart.y)), "y2": alt.Y2("high:Q")}
    long = max(len(series.x) for series in chart.series) >= _AREA_FROM_POINTS
    if long and all(map(_ascends, chart.series)):
        # Not of `known`: what is filtered out beforehand does not break the area.
        area = base.mark_area(opacity=0.18, clip=True, invalid="break-paths-filter-domains")
        lone = known.transform_filter("datum.lone").mark_rule(strokeWidth=1.6, opacity=0.4)
        drawn = [area.encode(**shared, **ends, detail=alt.Detail("segment:N"))]
        return [*drawn, *([lone.encode(**shared, **ends)] if _mark_lone(points) else [])]
    return [known.mark_rule(strokeWidth=1.6, opacity=0.8).encode(**shared, **ends)]


def _mark_lone(points: list[Row]) -> bool:
    """Mark intervals without one beside them, of which an area would show nothing."""
    beside = [None, *points, None]
    for before, point, after in zip(beside, points, beside[2:], strict=False):
        near = [one for one in (before, after) if one and one["segment"] == point["segment"]]
        if "low" in point and not any("low" in one for one in near):
            point["lone"] = True
    return any("lone" in point for point in points)


def _ascends(series: Series) -> bool:
    """Whether x never runs backwards."""
    numbers = [x for x in series.x if not isinstance(x, str)]
    return all(before <= after for before, after in pairwise(numbers))
