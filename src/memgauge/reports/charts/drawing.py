"""The Altair definition of a chart. Imported only where something is drawn: Altair loads slowly.

Text of a run enters as data or titles, never as an expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
from altair.utils.schemapi import debug_mode

from memgauge.reports.charts import bars, boxes, heatmap, lines, stacks, tracks
from memgauge.reports.charts.channels import names
from memgauge.reports.charts.points import Row
from memgauge.reports.charts.theme import HEIGHT_PX

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart

_LAYERS = {
    "line": lines.layers,
    "bar": bars.layers,
    "stack": stacks.layers,
    "heatmap": heatmap.layers,
    "boxes": boxes.layers,
}


def specification(chart: Chart, width: int | str) -> Row:
    """Vega-Lite layers: bands, rules, intervals, marks with tooltips, labels."""
    # Altair checks each part against the schema as it is made, which takes most of the time; the
    # tests check whole charts instead.
    with debug_mode(False):
        if chart.kind == "tracks":
            return tracks.picture(chart) | {"usermeta": _measures(chart)}
        layers = _LAYERS[chart.kind](chart)
        sized = alt.layer(*layers).properties(width=width, height=_height_px(chart))
        drawn: Row = sized.to_dict(validate=False)
    return drawn | {"usermeta": _measures(chart)}


def _height_px(chart: Chart) -> int:
    """Taller where many bars lie below each other; as a table needs for a heat map."""
    if chart.kind == "heatmap":
        return heatmap.height_px(chart)
    if chart.kind == "stack":
        return stacks.height_px(chart)
    if chart.kind == "boxes":
        return boxes.height_px(chart)
    return max(HEIGHT_PX, bars.height_px(chart) if chart.kind == "bar" else 0)


def _measures(chart: Chart) -> Row:
    """What a page must know to fit the chart to its width, in characters and columns."""
    if chart.kind == "tracks":
        longest = max((len(series.name) for series in chart.series), default=0)
        return {"longestName": longest, "height": tracks.height_px(chart)}
    if chart.kind == "boxes":
        return {"longestName": max(map(len, boxes.roles(chart)), default=0)}
    longest = max(map(len, names(chart)), default=0)
    if chart.kind == "stack":
        bars = {str(x) for series in chart.series for x in series.x}
        return {"longestName": longest, "longestBar": max(map(len, bars), default=0)}
    if chart.kind != "heatmap":
        return {"longestName": longest}
    columns = {x for series in chart.series for x in series.x}
    digits = heatmap.longest_digits(chart)
    return {"longestName": longest, "columns": len(columns), "longestDigits": digits}
