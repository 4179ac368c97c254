import xml.etree.ElementTree as ET
from itertools import pairwise

import altair as alt
import pytest

from memgauge.analysis.section import Axis, Chart, Mark, Series
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.placing import CHARACTER_PX, corner
from memgauge.reports.charts.theme import HEIGHT_PX, WIDTH_PX

BANDWIDTH: list[float | str] = [1.0, 10.0, 20.0, 24.0, 23.0]
LATENCY: list[float | None] = [90.0, 95.0, 110.0, 180.0, 240.0]


def curves(count: int, label: str = "knee {0}") -> Chart:
    lines = [
        Series(
            name=f"curve {n}",
            x=[float(x) - n for x in BANDWIDTH],
            y=LATENCY,
            notes=[f"delay {d}" for d in (900, 300, 100, 10, 0)],
        )
        for n in range(count)
    ]
    marks = [
        Mark(label=label.format(n), x=20.0 - n, y=110.0, x_low=18.0 - n, x_high=21.0 - n)
        for n in range(count)
    ]
    return Chart(
        name="loaded",
        title="Loaded latency",
        kind="line",
        x=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        y=Axis(title="Latency", unit="ns"),
        series=lines,
        marks=marks,
    )


def texts(chart: Chart) -> list[str]:
    root = ET.fromstring(figures.svg(chart))  # noqa: S314
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def layers(chart: Chart, style: str) -> list[dict[str, object]]:
    return [
        layer
        for layer in figures.vega_lite(chart)["layer"]
        if isinstance(layer["mark"], dict) and layer["mark"].get("style") == style
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_every_mark_is_named(count: int) -> None:
    written = texts(curves(count))
    for n in range(count):
        assert any(f"knee {n}" in text for text in written)
    assert len(layers(curves(count), "mark-place")) == 1
    alt.Chart.from_dict(figures.vega_lite(curves(count)), validate=True)


def test_many_marks_are_numbered_and_listed() -> None:
    written = texts(curves(4))
    assert {"1", "2", "3", "4"} <= set(written)
    assert any(text.split() == ["3", "knee", "2"] for text in written)


def test_many_marks_of_one_name_are_named_once() -> None:
    assert texts(curves(4, "knee")).count("◇ knee") == 2, "once, and once as its own halo"


def test_the_interval_of_a_mark_is_a_whisker_and_told_on_hover() -> None:
    assert layers(curves(1), "whisker")
    rows = [row for one in figures.vega_lite(curves(1))["datasets"].values() for row in one]
    assert "18 GB/s and 21 GB/s" in {row.get("between") for row in rows}
    chart = curves(1)
    bare = Chart(
        name="bare",
        title="",
        kind="line",
        x=chart.x,
        y=chart.y,
        series=chart.series,
        marks=[Mark(label="knee", x=20.0, y=110.0)],
    )
    assert not layers(bare, "whisker")


def test_points_are_joined_in_the_order_given() -> None:
    root = ET.fromstring(figures.svg(curves(1)))  # noqa: S314
    lines = [
        element.get("d") or ""
        for element in root.iter("{http://www.w3.org/2000/svg}path")
        if element.get("aria-roledescription") == "line mark"
    ]
    drawn = next(d for d in lines if d.count("L") == len(BANDWIDTH) - 1)
    xs = [float(step.split(",")[0]) for step in drawn.removeprefix("M").split("L")]
    assert [a < b for a, b in pairwise(xs)] == [True, True, True, False]


def test_notes_are_told_on_hover() -> None:
    known = [
        layer["encoding"].get("tooltip", []) for layer in figures.vega_lite(curves(1))["layer"]
    ]
    assert "note" in {one["title"] for hover in known for one in hover}
    rows = [row for one in figures.vega_lite(curves(1))["datasets"].values() for row in one]
    assert {"delay 900", "delay 0"} <= {row.get("note") for row in rows}


def test_names_stand_inside_the_picture_where_the_lines_are_not() -> None:
    names = ["1  knee at 20 GB/s", "2  knee at 19 GB/s"]
    left, top = corner(curves(2), names)
    assert (left, top) == (8.0, 6.0), "loaded curves leave the upper left corner free"
    assert left + max(map(len, names)) * CHARACTER_PX < WIDTH_PX
    assert top < HEIGHT_PX / 2


@pytest.mark.parametrize("kind", ["line", "bar", "heatmap"])
@pytest.mark.parametrize("name", ["if", "\\", 'a"b', '\\" + event', "datum.x"])
def test_no_name_is_taken_for_an_expression(kind: str, name: str) -> None:
    xs: list[float | str] = [name, "other"]
    chart = Chart(
        name="names",
        title=name,
        kind=kind,  # type: ignore[arg-type]
        x=Axis(title=name, unit=""),
        y=Axis(title=name, unit=name),
        rows=Axis(title=name, unit=""),
        series=[Series(name=one, x=xs, y=[1.0, 2.0], notes=[name, None]) for one in (name, "b")],
    )
    assert any(text.startswith(name) for text in texts(chart))
