"""What all charts share: how series are distinguished, picked in the legend, and shown on hover."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.reports.charts.points import named, rows
from memgauge.reports.charts.theme import (
    BAND_LABEL_PX,
    BETWEEN,
    DASHES,
    GREY,
    SHAPES,
    WIDTH_PX,
    legend_columns,
)

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart


def names(chart: Chart) -> list[str]:
    """Series that have a point, in their order."""
    return list(dict.fromkeys(row["series"] for row in rows(chart)))


def color(chart: Chart) -> Any:
    """One colour for each series."""
    found = names(chart)
    muted = {named(series.name) for series in chart.series if series.muted}
    scale = alt.Scale(domain=found)
    if muted and muted < set(found):
        colors = cycle(BETWEEN)
        scale = alt.Scale(domain=found, range=[GREY if n in muted else next(colors) for n in found])
    return alt.Color("series:N", sort=found, scale=scale, legend=_legend(chart))


def shape(chart: Chart) -> Any:
    """One shape of marker for each series."""
    found = names(chart)
    shapes = alt.Scale(domain=found, range=[SHAPES[at % len(SHAPES)] for at in range(len(found))])
    return alt.Shape("series:N", sort=found, scale=shapes, legend=_legend(chart))


def dash(chart: Chart) -> Any:
    """Lines differ by their dashes too; dots are for what was not measured here."""
    measured = DASHES["measured"]
    dashes = [
        DASHES["unmeasured"] if series.dashed else measured[at % len(measured)]
        for at, series in enumerate(chart.series)
    ]
    # Not by name: legends of one domain merge, and dashes would blur the shapes there.
    scale = alt.Scale(domain=list(range(len(dashes))), range=dashes)
    return alt.StrokeDash("dash:O", scale=scale, legend=None)


def picked() -> tuple[Any, Any]:
    """Clicking a legend entry dims the others."""
    selected = alt.selection_point(name="picked", fields=["series"], bind="legend")
    dimmed = alt.when(selected).then(alt.value(1.0)).otherwise(alt.value(0.15))
    return selected, alt.OpacityValue(**dimmed)


def tooltip(chart: Chart) -> list[Any]:
    """What is shown on hover: series, place, value, and interval and note where there are any."""
    found = rows(chart)
    series = chart.rows.title if chart.kind == "heatmap" and chart.rows else ""
    shown = [
        alt.Tooltip("series:N", title=hover_title(series, "series")),
        alt.Tooltip("x_text:N", title=hover_title(chart.x.title, "x")),
        alt.Tooltip("y_text:N", title=hover_title(chart.y.title, "y")),
    ]
    if any("interval" in row for row in found):
        shown.append(alt.Tooltip("interval:N", title=hover_title(chart.around, "interval")))
    if any(row.get("note") for row in found):
        shown.append(alt.Tooltip("note:N", title="note"))
    return shown


def hover_title(text: str, otherwise: str) -> str:
    """A title inside a tooltip, which Vega-Lite makes part of an expression."""
    # It escapes quotation marks and forgets what escapes them.
    return named(text).replace("\\", "\\\\") or otherwise


def _beside_px(chart: Chart) -> int:
    """What the names of lying bars take: the legend begins where the bars do."""
    if chart.kind != "stack":
        return 0
    return 6 * max((len(str(x)) for series in chart.series for x in series.x), default=0)


def _legend(chart: Chart) -> Any:
    """Above the picture, and above the names of its bands; none for a single series."""
    found = names(chart)
    if len(found) < 2:
        return None
    columns = legend_columns(max(map(len, found)), WIDTH_PX - _beside_px(chart))
    offset = BAND_LABEL_PX + 8 if chart.bands else 12
    return alt.Legend(title=None, offset=offset, columns=columns)
