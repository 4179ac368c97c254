"""Tracks below each other over one axis of time: dragging or zooming one moves all of them.

Above them lie the regions that the program marked, behind them the phases. A track is the line of
its means with its extremes as an area; gaps stay gaps. The points of a panel travel as a few lists
that Vega-Lite unfolds, a third of what a row for each point takes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.model.text import plain
from memgauge.reports.charts.annotations import table_of
from memgauge.reports.charts.axes import title
from memgauge.reports.charts.channels import hover_title
from memgauge.reports.charts.points import named
from memgauge.reports.charts.theme import WIDTH_PX

if TYPE_CHECKING:
    from memgauge.analysis.section import Band, Chart, Panel, Series
    from memgauge.reports.charts.points import Row

_ZOOM = "wheel![event.ctrlKey || event.altKey || event.metaKey]"
"""The bare wheel scrolls the page."""
PANEL_PX = 84
REGION_PX = 17
_SPACING_PX = 8
_TITLE_PX = 22
_AXIS_PX = 46
_MOST_ROWS = 6
_CHARACTER_PX = 7
_HAS_ROOM = f"datum.room * {WIDTH_PX} >= 1"
"""Whether a name fits its stretch; a page puts its own width in."""
_SIX_DIGITS = 6


def height_px(chart: Chart) -> int:
    """Of the whole picture, for the page that keeps room for it."""
    above = sum(
        _depth(bands) * REGION_PX + _SPACING_PX for bands in (chart.bands, chart.regions) if bands
    )
    return above + len(chart.panels) * (PANEL_PX + _TITLE_PX + _SPACING_PX) + _AXIS_PX


def picture(chart: Chart) -> Row:
    """The panels, linked; the width is that of a figure, and a page sets its own."""
    drawn = [panel for panel in chart.panels if _series(chart, panel)]
    views = [_strip(chart, chart.bands, "phase")] if chart.bands else []
    views += [_strip(chart, chart.regions, "region")] if chart.regions else []
    views += [_panel(chart, panel, at, last=at == len(drawn) - 1) for at, panel in enumerate(drawn)]
    if not views:
        views = [table_of([{"none": 0}]).mark_point(opacity=0)]
    made = _below_each_other(views)
    # Altair copies what a view holds at each step, so the points join it only now.
    for at, panel in enumerate(drawn):
        made["datasets"][_data_name(at)] = [_points(_series(chart, panel))]
    # One selection in a layer of each view links them; Altair warns of adding it to several.
    names = []
    for at, view in enumerate(made["vconcat"]):
        names.append(f"view_{at}")
        view.get("layer", [view])[0]["name"] = names[-1]
    select = {"type": "interval", "encodings": ["x"], "zoom": _ZOOM}
    moved = {"name": "shown", "select": select, "bind": "scales", "views": names}
    return made | {"params": [moved]}


def _below_each_other(views: list[Any]) -> Row:
    """The views as one; put together by hand, for Altair copies all of them many times."""
    empty = alt.vconcat(spacing=_SPACING_PX).resolve_scale(color="independent")
    made: Row = empty.resolve_legend(color="independent").to_dict(validate=False)
    made |= {"vconcat": [], "datasets": {}}
    for view in views:
        one = view.to_dict(validate=False)
        made["datasets"] |= one.pop("datasets", {})
        made["vconcat"].append({key: one[key] for key in one if key not in {"$schema", "config"}})
    return made


def _series(chart: Chart, panel: Panel) -> list[Series]:
    """The series of a panel that hold a point."""
    by_name = {series.name: series for series in chart.series}
    found = [by_name[name] for name in panel.series if name in by_name]
    return [one for one in found if any(y is not None for y in one.y)]


def _panel(chart: Chart, panel: Panel, at: int, *, last: bool) -> Any:
    series = _series(chart, panel)
    names = _short_names(series)
    base = _unfolded(at, series)
    x = _x(chart, "t:Q", labelled=last)
    axis = alt.Axis(title=None, tickCount=3, minExtent=46, maxExtent=46)
    is_flat = not any(y for one in series for y in (*one.y, *(one.high or [])))
    scale = alt.Scale(domain=[0, 1]) if is_flat else alt.Scale(zero=panel.y.from_zero, nice=True)
    areas, lines = [], []
    for nth in range(len(series)):
        color = alt.Color(
            f"n{nth}:N",
            title=None,
            scale=alt.Scale(domain=names),
            legend=_legend(names) if nth == 0 else alt.Undefined,
        )
        y = alt.Y(f"m{nth}:Q", axis=axis, scale=scale)
        if series[nth].low is not None:
            low = alt.Y(f"l{nth}:Q", axis=axis, scale=scale)
            area = base.mark_area(opacity=0.22, clip=True, line=False)
            areas.append(area.encode(x=x, y=low, y2=f"h{nth}:Q", color=color))
        dash = [2, 3] if series[nth].dashed else [1, 0]
        line = base.mark_line(strokeWidth=1.4, clip=True, strokeDash=dash)
        lines.append(line.encode(x=x, y=y, color=color))
    behind = _phases(chart, last=last)
    hover = _hover(chart, x, base, panel, names)
    heading = alt.TitleParams(
        text=title(panel.y),
        anchor="start",
        frame="group",
        offset=4,
        fontSize=12.5,
        fontWeight=500,
    )
    return alt.layer(*behind, *areas, *lines, hover).properties(
        width=WIDTH_PX, height=PANEL_PX, title=heading
    )


def _short_names(series: list[Series]) -> list[str]:
    """Without the place that all of a panel share, for its title says it."""
    places = {one.name.partition(", ")[2] for one in series}
    short = [named(one.name.partition(", ")[0]) for one in series]
    if len(places) == 1 and len(set(short)) == len(short):
        return short
    return [named(one.name) for one in series]


def _data_name(at: int) -> str:
    return f"panel_{at}"


def _unfolded(at: int, series: list[Series]) -> Any:
    """A chart without marks over the points of a panel."""
    lists: list[Any] = ["t", *(f"{name}{nth}" for nth in range(len(series)) for name in "mlh")]
    return alt.Chart(alt.NamedData(name=_data_name(at))).transform_flatten(lists)


def _points(series: list[Series]) -> Row:
    """One row that holds all points of a panel; names go along with every point."""
    row: Row = {"t": [_short(x) for x in series[0].x]}
    count = len(series[0].x)
    for nth, (one, name) in enumerate(zip(series, _short_names(series), strict=True)):
        row |= {f"m{nth}": [_short(y) for y in _padded(one.y, count)], f"n{nth}": name}
        for end, values in (("l", one.low), ("h", one.high)):
            row |= {f"{end}{nth}": [_short(y) for y in _padded(values or one.y, count)]}
    return row


def _padded(values: list[float | None], count: int) -> list[float | None]:
    return [*values[:count], *[None] * (count - len(values))]


def _short(value: float | str | None) -> float | None:
    """Six digits, which is more than a picture shows; what cannot be drawn is a gap."""
    if not isinstance(value, float | int) or not math.isfinite(value):
        return None
    return float(f"{value:.{_SIX_DIGITS}g}")


def _ends(chart: Chart) -> list[float]:
    xs = [x for series in chart.series for x in series.x if isinstance(x, float | int)]
    known = [float(x) for x in xs if math.isfinite(x)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    return [low, high if high > low else low + 1.0]


def _x(chart: Chart, field: str, *, labelled: bool) -> Any:
    """Every layer of a panel has the same axis: that of the last one alone has labels."""
    scale = alt.Scale(domain=_ends(chart), nice=False, zero=False)
    axis = alt.Axis(
        title=title(chart.x) if labelled else None,
        labels=labelled,
        labelOverlap="parity",
        labelSeparation=6,
        ticks=labelled,
        tickCount=8,
    )
    return alt.X(field, scale=scale, axis=axis)


def _legend(names: list[str]) -> Any:
    if len(names) < 2:
        return None
    return alt.Legend(title=None, orient="top", direction="horizontal", offset=2, columns=4)


def _phases(chart: Chart, *, last: bool) -> list[Any]:
    """Every second phase shaded."""
    rows: list[Row] = [{"t": band.start, "t2": band.end} for band in _drawable(chart.bands)[::2]]
    if not rows:
        return []
    shade = table_of(rows).mark_rect(style="band", clip=True)
    return [shade.encode(x=_x(chart, "t:Q", labelled=last), x2=alt.X2("t2:Q"))]


def _drawable(bands: list[Band]) -> list[Band]:
    return [band for band in bands if math.isfinite(band.start) and math.isfinite(band.end)]


def _room(chart: Chart, band: Band) -> float:
    """Share of the width over what the name needs, in 1/px."""
    share = (band.end - band.start) / _width(chart)
    return share / (_CHARACTER_PX * max(1, len(plain(band.label))))


def _width(chart: Chart) -> float:
    low, high = _ends(chart)
    return high - low


def _hover(chart: Chart, x: Any, base: Any, panel: Panel, names: list[str]) -> Any:
    """Wherever the pointer is in a panel: the time and the mean of each of its tracks."""
    unit = f" {panel.y.unit}" if panel.y.unit else ""
    reported = [alt.Tooltip("t:Q", title=hover_title(title(chart.x), "x"), format=".4~f")]
    reported += [
        alt.Tooltip(f"m{at}:Q", title=hover_title(f"{name}{unit}", "value"), format=".4~g")
        for at, name in enumerate(names)
    ]
    rule = base.mark_rule(strokeWidth=6, opacity=0.001, clip=True)
    return rule.encode(x=x, tooltip=reported)


def _strip(chart: Chart, bands: list[Band], what: str) -> Any:
    """A bar for each stretch with its name where it fits, nested ones below what holds them."""
    rows: list[Row] = [
        {"t": band.start, "t2": band.end, "middle": band.start / 2 + band.end / 2, "row": row}
        | {"label": plain(band.label), "lasts": band.end - band.start}
        | {"room": _room(chart, band)}
        for band, row in _stacked(_drawable(bands))
        if row < _MOST_ROWS
    ]
    base = table_of(rows)
    scale = alt.Scale(domain=_ends(chart), nice=False, zero=False)
    x = alt.X("t:Q", scale=scale, axis=None)
    y = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.15, paddingOuter=0))
    reported = [
        alt.Tooltip("label:N", title=what),
        alt.Tooltip("t:Q", title="begins (s)", format=".4~f"),
        alt.Tooltip("lasts:Q", title="lasts (s)", format=".4~g"),
    ]
    bar = base.mark_rect(style=what, clip=True, cornerRadius=2)
    text = base.transform_filter(_HAS_ROOM).mark_text(style=f"{what}-label", clip=True)
    return alt.layer(
        bar.encode(x=x, x2=alt.X2("t2:Q"), y=y, tooltip=reported),
        text.encode(x=alt.X("middle:Q", scale=scale, axis=None), y=y, text=alt.Text("label:N")),
    ).properties(width=WIDTH_PX, height=max(1, _depth(bands)) * REGION_PX)


def _stacked(regions: list[Band]) -> list[tuple[Band, int]]:
    """Each region with the first row in which it meets no other."""
    ends: list[float] = []
    placed = []
    for band in sorted(regions, key=lambda one: (one.start, -one.end)):
        row = next((at for at, end in enumerate(ends) if end <= band.start), len(ends))
        ends[row : row + 1] = [band.end]
        placed.append((band, row))
    return placed


def _depth(regions: list[Band]) -> int:
    return min(_MOST_ROWS, max((row + 1 for _, row in _stacked(regions)), default=0))
