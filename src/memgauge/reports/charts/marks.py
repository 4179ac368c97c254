"""Labelled places in a picture, such as the knee of a curve.

A hollow diamond, its name, and a whisker over the x where it may also lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from memgauge.model.text import plain
from memgauge.reports.charts.annotations import table_of
from memgauge.reports.charts.axes import title, x_scale
from memgauge.reports.charts.channels import hover_title
from memgauge.reports.charts.placing import LINE_PX, corner, placed
from memgauge.reports.charts.points import drawable, is_nominal, said
from memgauge.reports.charts.theme import WIDTH_PX

if TYPE_CHECKING:
    from memgauge.analysis.section import Chart, Mark
    from memgauge.reports.charts.points import Row

_MOST_NAMED = 2
"""Marks whose names stand beside them; more would hide the lines and each other."""


def marks(chart: Chart) -> list[Any]:
    """The marks of a chart whose x are numbers, their names where they hide least."""
    if is_nominal(chart):
        return []
    shown = [
        mark for mark in chart.marks if drawable(mark.x, chart.x) and drawable(mark.y, chart.y)
    ]
    if not shown:
        return []
    return [*_whiskers(chart, shown), *_diamonds(chart, shown), *_names(chart, shown)]


def _x(chart: Chart, field: str) -> Any:
    return alt.X(field, scale=x_scale(chart))


def _y(chart: Chart) -> Any:
    return alt.Y("y:Q", title=title(chart.y))


def _whiskers(chart: Chart, shown: list[Mark]) -> list[Any]:
    found = [row for row in (_whisker(chart, mark) for mark in shown) if row]
    if not found:
        return []
    base = table_of(found)
    ends = [
        base.mark_tick(style="whisker", orient="vertical", size=9, thickness=1.6, clip=True).encode(
            x=_x(chart, f"{end}:Q"), y=_y(chart)
        )
        for end in ("low", "high")
    ]
    line = base.mark_rule(style="whisker", clip=True)
    return [line.encode(x=_x(chart, "low:Q"), x2=alt.X2("high:Q"), y=_y(chart)), *ends]


def _whisker(chart: Chart, mark: Mark) -> Row | None:
    low, high = mark.x_low, mark.x_high
    if low is None or high is None or not drawable(low, chart.x) or not drawable(high, chart.x):
        return None
    return {"low": low, "high": high, "y": mark.y}


def _diamonds(chart: Chart, shown: list[Mark]) -> list[Any]:
    found = [
        {"x": mark.x, "y": mark.y, "label": plain(mark.label)}
        | {"x_text": said(mark.x, chart.x), "y_text": said(mark.y, chart.y)}
        | {"between": _between(chart, mark)}
        for mark in shown
    ]
    known = [
        alt.Tooltip("label:N", title="marked"),
        alt.Tooltip("x_text:N", title=hover_title(chart.x.title, "x")),
        alt.Tooltip("between:N", title="between"),
        alt.Tooltip("y_text:N", title=hover_title(chart.y.title, "y")),
    ]
    diamond = table_of(found).mark_point(
        style="mark-place", shape="diamond", filled=False, opacity=1
    )
    return [diamond.encode(x=_x(chart, "x:Q"), y=_y(chart), tooltip=known)]


def _between(chart: Chart, mark: Mark) -> str:
    row = _whisker(chart, mark)
    if row is None:
        return "not known"
    return f"{said(row['low'], chart.x)} and {said(row['high'], chart.x)}"


def _names(chart: Chart, shown: list[Mark]) -> list[Any]:
    """Each name beside its diamond; of many marks a number there, and the names in a corner."""
    if len(shown) <= _MOST_NAMED:
        return _beside(chart, shown, [plain(mark.label) for mark in shown])
    if len({mark.label for mark in shown}) == 1:
        return _cornered(chart, [f"◇ {plain(shown[0].label)}"])
    numbers = [str(at) for at in range(1, len(shown) + 1)]
    listed = [f"{at}  {plain(mark.label)}" for at, mark in zip(numbers, shown, strict=True)]
    return [*_beside(chart, shown, numbers), *_cornered(chart, listed)]


def _beside(chart: Chart, shown: list[Mark], names: list[str]) -> list[Any]:
    sides = placed(chart, [(mark.x, mark.y) for mark in shown], names)
    layers = []
    for mark, name, side in zip(shown, names, sides, strict=True):
        base = table_of([{"x": mark.x, "y": mark.y, "label": name}])
        for style in ("mark-halo", "mark-label"):
            text = base.mark_text(
                style=style, align=side.align, baseline="middle", dx=side.dx, dy=side.dy
            )
            layers.append(text.encode(x=_x(chart, "x:Q"), y=_y(chart), text=alt.Text("label:N")))
    return layers


def _cornered(chart: Chart, listed: list[str]) -> list[Any]:
    left, top = corner(chart, listed)
    end, side = ("right", alt.value("width")) if left > WIDTH_PX / 2 else ("left", alt.value(0))
    layers = []
    for at, name in enumerate(listed):
        base = table_of([{"label": name}])
        for style in ("mark-halo", "mark-label"):
            text = base.mark_text(
                style=style, align=end, baseline="top", dx=8 if end == "left" else -8
            )
            layers.append(
                text.encode(x=side, y=alt.value(top + at * LINE_PX), text=alt.Text("label:N"))
            )
    return layers
