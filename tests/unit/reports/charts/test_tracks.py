"""Tracks over one axis: a valid picture, linked views, gaps, and a size that stays bounded."""

import json
import math
import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import pytest
from tests.unit.reports.synthetic import HOSTILE

from memgauge.analysis.section import Axis, Band, Chart, Panel, Series
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.tracks import height_px
from memgauge.reports.html.page import _description

SVG = "{http://www.w3.org/2000/svg}"


def tracks(points: int = 50, **changes: Any) -> Chart:
    x: list[float | str] = [0.1 * at for at in range(points)]
    y: list[float | None] = [None if at in {7, 8} else 3.0 + math.sin(at) for at in range(points)]
    names = ["memory read, socket 0", "memory write, socket 0", "power, package-0"]
    fields: dict[str, Any] = {
        "name": "timeline",
        "title": "Timeline",
        "kind": "tracks",
        "x": Axis(title="Time", unit="s"),
        "y": Axis(title="Value", unit=""),
        "series": [Series(name=name, x=x, y=y, low=y, high=y) for name in names],
        "panels": [
            Panel(y=Axis(title="memory traffic, socket 0", unit="GB/s"), series=names[:2]),
            Panel(y=Axis(title="power, package-0", unit="W"), series=names[2:]),
        ],
        "bands": [Band(label="1", start=0, end=2), Band(label="2", start=2, end=4.9)],
        "regions": [
            Band(label="outer", start=0.5, end=4.5),
            Band(label="inner", start=1.0, end=3.0),
            Band(label="later", start=3.0, end=4.0),
        ],
    }
    return Chart(**(fields | changes))


def test_the_picture_obeys_the_schema() -> None:
    alt.Chart.from_dict(figures.vega_lite(tracks()), validate=True)


def test_all_views_move_together() -> None:
    made = figures.vega_lite(tracks())
    (moved,) = made["params"]
    named = [view["layer"][0]["name"] for view in made["vconcat"]]
    assert moved["bind"] == "scales"
    assert moved["select"]["encodings"] == ["x"]
    assert moved["views"] == named
    assert len(named) == len(set(named)) == 4
    domains = {
        json.dumps(layer["encoding"]["x"]["scale"]["domain"])
        for view in made["vconcat"]
        for layer in view["layer"]
    }
    assert len(domains) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_panels_phases_and_regions_are_named(dark: bool) -> None:
    root = ET.fromstring(figures.svg(tracks(), dark=dark))  # noqa: S314
    written = {element.text for element in root.iter(f"{SVG}text")}
    panels = {"memory traffic, socket 0 (GB/s)", "power, package-0 (W)"}
    assert panels | {"memory read", "memory write", "1", "2", "outer", "inner"} <= written
    assert "Time (s)" in written


def test_nested_regions_lie_below_each_other() -> None:
    made = figures.vega_lite(tracks())
    rows = {row["label"]: row["row"] for row in _values(made, made["vconcat"][1])}
    assert rows == {"outer": 0, "inner": 1, "later": 1}


def _values(made: dict[str, Any], view: dict[str, Any]) -> list[dict[str, Any]]:
    data = view.get("data") or view["layer"][0]["data"]
    found: list[dict[str, Any]] = data.get("values") or made["datasets"][data["name"]]
    return found


def test_a_gap_is_a_gap_and_never_zero() -> None:
    made = figures.vega_lite(tracks())
    sets = [rows[0] for rows in made["datasets"].values() if "m0" in rows[0]]
    assert len(sets) == 2
    for points in sets:
        assert points["m0"][6:10] == pytest.approx([2.72058, None, None, 3.41212])
        assert points["l0"][7] is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_cannot_be_drawn_is_a_gap(value: float) -> None:
    odd = Series(name="odd", x=[0.0, 1.0, 2.0], y=[1.0, value, 2.0])
    panel = Panel(y=Axis(title="odd", unit=""), series=["odd"])
    chart = tracks(series=[odd], panels=[panel], bands=[Band(label="x", start=0, end=value)])
    ET.fromstring(figures.svg(chart))  # noqa: S314


def test_nothing_to_draw_is_drawn() -> None:
    ET.fromstring(figures.svg(tracks(series=[], panels=[], bands=[], regions=[])))  # noqa: S314


def test_text_of_a_stranger_stays_text() -> None:
    odd = Series(name=HOSTILE, x=[0.0, 1.0], y=[1.0, 2.0])
    panel = Panel(y=Axis(title=HOSTILE, unit=HOSTILE), series=[HOSTILE])
    regions = [Band(label=HOSTILE, start=0, end=1), Band(label="if", start=0, end=1)]
    root = ET.fromstring(  # noqa: S314
        figures.svg(tracks(series=[odd], panels=[panel], regions=regions))
    )
    assert not any(element.tag == f"{SVG}script" for element in root.iter())


def test_a_point_takes_few_bytes() -> None:
    long, short = (len(json.dumps(figures.vega_lite(tracks(points)))) for points in (4050, 50))
    assert (long - short) / (4000 * 3) < 50


def test_room_and_words_for_the_page() -> None:
    assert height_px(tracks()) > height_px(tracks(regions=[], bands=[])) > 150
    assert "2 phases marked" in _description(tracks())
    assert figures.vega_lite(tracks())["usermeta"]["height"] == height_px(tracks())
