"""Lying bars whose parts add up, each with the figure of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.reports import cells
from memgauge.reports.charts.annotations import table_of
from memgauge.reports.charts.axes import title, y_axis
from memgauge.reports.charts.channels import color, names, picked, tooltip
from memgauge.reports.charts.points import Row, category, rows
from memgauge.reports.charts.theme import HEIGHT_PX

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart

_BAR_PX = 26
_SHORTENED = (
    "indexof(heads, datum.label) >= 0 ? datum.label : "
    "slice(datum.label, indexof(datum.label, ': ') + 2)"
)
"""Of bars such as `add, 2 threads: software` that share what stands before the colon, the first
names it, and the others only say what they are."""


def height_px(chart: Chart) -> int:
    """What the bars need below each other."""
    return max(HEIGHT_PX, _BAR_PX * len({row["x"] for row in rows(chart)}))


def layers(chart: Chart) -> list[Any]:
    """Parts side by side in the order of their series, and the sum behind the last."""
    parts = _placed(chart)
    order = list(dict.fromkeys(category(x) for series in chart.series for x in series.x))
    axis = alt.Axis(title=None, labelExpr=_SHORTENED, grid=False, ticks=False, labelLimit=400)
    where = alt.Y("x:N", sort=order, axis=axis, scale=alt.Scale(paddingInner=0.28))
    selected, opacity = picked()
    along = alt.X("from:Q", scale=alt.Scale(zero=True), axis=y_axis(chart))
    drawn = (
        table_of(parts)
        .mark_bar()
        .encode(
            y=where,
            x=along,
            x2=alt.X2("to:Q"),
            color=color(chart),
            opacity=opacity,
            tooltip=tooltip(chart),
        )
    )
    label = table_of(_sums(parts)).mark_text(
        style="value-label", align="left", baseline="middle", dx=6
    )
    return [
        drawn.add_params(selected, alt.param(name="heads", value=_heads(order))),
        label.encode(y=where, x=alt.X("to:Q", title=title(chart.y)), text=alt.Text("label:N")),
    ]


def _heads(order: list[str]) -> list[str]:
    """The first bar of each group, and bars of none."""
    first: dict[str, str] = {}
    for bar in order:
        group, colon, _ = bar.partition(": ")
        first.setdefault(group if colon else bar, bar)
    return list(first.values())


def _placed(chart: Chart) -> list[Row]:
    """Rows with where each part begins and ends."""
    known = names(chart)
    placed: list[Row] = []
    ends: dict[str, float] = {}
    for row in sorted(rows(chart), key=lambda row: known.index(row["series"])):
        bar = category(row["x"])
        start = ends.get(bar, 0.0)
        ends[bar] = start + row["y"]
        placed.append(row | {"x": bar, "from": start, "to": ends[bar]})
    return placed


def _sums(parts: list[Row]) -> list[Row]:
    ends = {row["x"]: row["to"] for row in parts}
    return [{"x": bar, "to": end, "label": cells.number(end, 1)} for bar, end in ends.items()]
