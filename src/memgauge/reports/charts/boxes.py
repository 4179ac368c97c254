"""Boxes in boxes with their words: what lies in what, such as the caches and cores of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.analysis.machine.topology import CELL_PX, CELLS_OF_ROW, LINE_PX, PAD_PX, TITLE_PX
from memgauge.reports.charts.annotations import table_of
from memgauge.reports.charts.points import named

if TYPE_CHECKING:
    from memgauge.analysis.section import Box, Chart
    from memgauge.reports.charts.points import Row

_ROLES = {
    "machine": "machine",
    "package": "package",
    "node": "NUMA node",
    "cache": "shared cache",
    "core": "core",
    "memory": "memory without CPUs",
}
_ROOM_PX = 8.0
"""From the left side of a box to its words."""


def roles(chart: Chart) -> list[str]:
    """Names of the kinds of boxes that there are."""
    found = {box.role for box in chart.boxes}
    return [name for role, name in _ROLES.items() if role in found]


def height_px(chart: Chart) -> int:
    """What the boxes need, one below the other."""
    return round(max((box.bottom for box in chart.boxes), default=0.0))


def layers(chart: Chart) -> list[Any]:
    """Rectangles, the cells of cores, and words on top."""
    rectangles = [
        {
            "role": _ROLES[box.role],
            "left": box.left,
            "right": box.right,
            "top": box.top,
            "bottom": box.bottom,
        }
        for box in chart.boxes
    ]
    present = roles(chart)
    color = alt.Color(
        "role:N",
        scale=alt.Scale(domain=present),
        sort=present,
        legend=alt.Legend(title=None, offset=8, columns=3),
    )
    stroke = alt.Stroke("role:N", scale=alt.Scale(domain=present), sort=present, legend=None)
    x = alt.X("left:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    y = alt.Y(
        "top:Q", scale=alt.Scale(domain=[0, height_px(chart)], nice=False, reverse=True), axis=None
    )
    base = table_of(rectangles)
    filled = base.mark_rect(opacity=0.07, cornerRadius=4).encode(
        x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("bottom:Q"), color=color
    )
    framed = base.mark_rect(fillOpacity=0, strokeWidth=1.3, cornerRadius=4).encode(
        x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("bottom:Q"), stroke=stroke
    )
    drawn = [filled, framed]
    cells = [cell for box in chart.boxes for cell in _cells(box)]
    if cells:
        drawn.append(
            table_of(cells)
            .mark_rect(opacity=0.75, cornerRadius=2)
            .encode(x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("bottom:Q"), color=color)
        )
    return [*drawn, *_words(chart, x, y)]


def _cells(box: Box) -> list[Row]:
    """Squares of a box, in rows at its lower end."""
    rows = -(-box.cells // CELLS_OF_ROW)
    begin, wide = box.left + 0.02, (box.right - box.left - 0.04) / CELLS_OF_ROW
    top = box.bottom - PAD_PX - rows * CELL_PX
    return [
        {
            "role": _ROLES[box.role],
            "left": begin + (at % CELLS_OF_ROW) * wide,
            "right": begin + (at % CELLS_OF_ROW + 0.82) * wide,
            "top": top + (at // CELLS_OF_ROW) * CELL_PX + 2,
            "bottom": top + (at // CELLS_OF_ROW + 1) * CELL_PX,
        }
        for at in range(box.cells)
    ]


def _words(chart: Chart, x: Any, y: Any) -> list[Any]:
    titles = [
        {"left": box.left, "top": box.top + PAD_PX, "words": named(box.title)}
        for box in chart.boxes
    ]
    lines = [
        {
            "left": box.left,
            "top": box.top + PAD_PX + TITLE_PX - 2 + at * LINE_PX,
            "words": named(line),
        }
        for box in chart.boxes
        for at, line in enumerate(box.lines)
    ]
    settings: dict[str, Any] = {"align": "left", "baseline": "top", "dx": _ROOM_PX}
    drawn = [table_of(titles).mark_text(style="mark-label", **settings)]
    if lines:
        drawn.append(table_of(lines).mark_text(style="value-label", **settings))
    return [layer.encode(x=x, y=y, text=alt.Text("words:N")) for layer in drawn]
