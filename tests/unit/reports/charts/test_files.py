import json
import math
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Literal

import altair as alt
import pytest
from hypothesis import given, settings
from tests.unit.reports.strangers import charts
from tests.unit.reports.synthetic import HOSTILE, hostile, survey

from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.model.errors import RequestError
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.points import rows
from memgauge.reports.charts.theme import WIDTH_PX, config

CHARTS = [chart for section in survey().sections for chart in section.charts]
NAMES = [chart.name for chart in CHARTS]
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314


def line(**changes: object) -> Chart:
    settings_ = {
        "name": "line",
        "title": "Line",
        "kind": "line",
        "x": Axis(title="Footprint", unit="B", scale="log2"),
        "y": Axis(title="Latency", unit="ns"),
        "series": [Series(name="one", x=[1024.0, 2048.0, 4096.0], y=[1.0, None, 3.0])],
    }
    return Chart(**(settings_ | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("chart", CHARTS, ids=NAMES)
def test_a_chart_obeys_the_vega_lite_schema(chart: Chart) -> None:
    alt.Chart.from_dict(figures.vega_lite(chart), validate=True)


@pytest.mark.parametrize("chart", CHARTS, ids=NAMES)
def test_svg_is_well_formed_and_names_what_it_shows(chart: Chart) -> None:
    written = texts(figures.svg(chart))
    for axis in [chart.y] if chart.kind == "bar" else [chart.x, chart.y]:
        unit = f" ({axis.unit})" if axis.unit not in {"", "B"} else ""
        assert f"{axis.title}{unit}" in written
    for band in chart.bands:
        assert band.label in written
    for rule in chart.rules:
        assert rule.label in written
    if len(chart.series) > 1:
        assert {series.name for series in chart.series} <= set(written)


def test_png_is_one_of_the_size_promised() -> None:
    png = figures.png(CHARTS[0])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert width >= WIDTH_PX * figures.PNG_SCALE
    assert 0.3 < height / width < 1.2


def test_json_is_a_specification_with_its_data() -> None:
    specification = json.loads(figures.vega_lite_json(CHARTS[0]))
    assert "vega-lite" in specification["$schema"]
    points = [row for rows_ in specification["datasets"].values() for row in rows_]
    measured = [y for series in CHARTS[0].series for y in series.y if y is not None]
    assert set(measured) <= {row.get("y") for row in points}


@settings(max_examples=25)
@given(charts)
def test_any_chart_of_a_stranger_is_drawn(chart: Chart) -> None:
    ET.fromstring(figures.svg(chart))  # noqa: S314


@pytest.mark.parametrize("unit", ["", "ns", "B", "%"])
@pytest.mark.parametrize("scale", ["log2", "log10"])
def test_an_axis_has_few_ticks_with_short_labels_however_far_it_reaches(
    scale: Literal["log2", "log10"], unit: str
) -> None:
    axis = Axis(title="Far", unit=unit, scale=scale)
    far = Series(name="one", x=[1e-270, 1.0, 1e270], y=[1e-270, 1.0, 1e270])
    chart = line(x=axis, y=axis, series=[far])
    layers = figures.vega_lite(chart)["layer"]
    axes = [layer["encoding"][name]["axis"] for layer in layers for name in ("x", "y")]
    ticks = [drawn["values"] for drawn in axes if "values" in drawn]
    assert ticks
    assert all(2 < len(values) <= 60 for values in ticks)
    drawn = texts(figures.svg(chart))
    assert len(drawn) < 300
    assert max(map(len, drawn)) < 30


def test_hostile_text_stays_text() -> None:
    chart = hostile().sections[0].charts[0]
    root = ET.fromstring(figures.svg(chart))  # noqa: S314
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "g", "path", "text", "line", "rect", "defs", "clipPath", "title", "tspan",
    }  # fmt: skip
    assert not any(char in HOSTILE and ord(char) < 32 for char in figures.svg(chart))


def test_a_gap_is_a_gap_and_never_zero() -> None:
    found = rows(line())
    assert [row["y"] for row in found] == [1.0, 3.0]
    assert found[0]["segment"] != found[1]["segment"]


def test_points_that_stand_alone_are_joined_to_none() -> None:
    x: list[float | str] = [1.0, 2.0, 3.0]
    ends: list[float | None] = [1.0, 1.0, 1.0]
    alone = Series(name="alone", x=x, y=ends, low=ends, high=ends, joined=False)
    found = rows(line(series=[alone, Series(name="joined", x=x, y=ends)]))
    segments = [row["segment"] for row in found]
    assert len(set(segments[:3])) == 3
    assert len(set(segments[3:])) == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, -1.0])
def test_what_has_no_place_on_a_logarithmic_axis_is_a_gap(value: float) -> None:
    axis = Axis(title="Latency", unit="ns", scale="log10")
    chart = line(y=axis, series=[Series(name="one", x=[1.0, 2.0, 3.0], y=[1.0, value, 3.0])])
    assert [row["y"] for row in rows(chart)] == [1.0, 3.0]


@pytest.mark.parametrize("scale", ["linear", "log2", "log10"])
def test_what_is_too_small_for_the_arithmetic_of_axes_is_a_gap(
    scale: Literal["linear", "log2", "log10"],
) -> None:
    axis = Axis(title="Latency", unit="ns", scale=scale)
    small = Series(name="one", x=[1.0, 2.0, 3.0], y=[5e-324, 1e-323, 1e-300])
    assert rows(line(y=axis, series=[small])) == []
    assert ET.fromstring(figures.svg(line(y=axis, series=[small]))).tag == f"{SVG}svg"  # noqa: S314


def test_byte_axes_read_in_binary_units() -> None:
    ticks = texts(figures.svg(CHARTS[NAMES.index("workingset-latency")]))
    assert {"4 KiB", "1 MiB", "64 MiB"} <= set(ticks)


def test_few_counts_have_a_tick_each_and_none_between() -> None:
    counts = Series(name="one", x=[0.0, 1.0, 2.0], y=[10.0, 20.0, 30.0], low=[9.0, 19.0, 29.0])
    chart = line(
        x=Axis(title="Threads in B", unit=""),
        series=[counts],
        rules=[Rule(label="alone", axis="y", value=20.0)],
    )
    drawn = texts(figures.svg(chart))
    assert {"0", "1", "2"} <= set(drawn)
    assert not {"0.5", "1.5"} & set(drawn)


def test_bars_start_from_zero_whatever_the_axis_asks() -> None:
    axis = Axis(title="Bandwidth", unit="GB/s", from_zero=False)
    bars = Series(name="one", x=["a", "b"], y=[100.0, 101.0])
    chart = line(kind="bar", x=Axis(title="Kernel", unit=""), y=axis, series=[bars])
    assert "0" in texts(figures.svg(chart))


def test_a_rule_is_drawn_where_values_run_on_lying_bars_too() -> None:
    many = Series(name="one", x=[f"kernel {n}" for n in range(9)], y=[float(n) for n in range(9)])
    chart = line(
        kind="bar",
        x=Axis(title="Kernel", unit=""),
        series=[many],
        rules=[Rule(label="peak", axis="y", value=20.0)],
    )
    layers = figures.vega_lite(chart)["layer"]
    rule = next(layer for layer in layers if layer["mark"].get("style") == "rule-mark")
    assert set(rule["encoding"]) == {"x"}
    assert "peak" in texts(figures.svg(chart))


def test_the_name_of_a_rule_is_written_over_bars_that_reach_beyond_it() -> None:
    bars = Series(name="one", x=["a", "b"], y=[1.0, 1.2])
    rule = Rule(label="as it is", axis="y", value=1.0)
    chart = line(kind="bar", x=Axis(title="Kernel", unit=""), series=[bars], rules=[rule])
    marks = [one["mark"] for one in figures.vega_lite(chart)["layer"]]
    styles = [mark.get("style") for mark in marks]
    bar = next(at for at, mark in enumerate(marks) if mark["type"] == "bar")
    assert bar < styles.index("rule-halo") < styles.index("rule-label")
    assert config(dark=False)["style"]["rule-halo"]["stroke"] == "#ffffff"


def test_the_name_of_a_rule_stays_inside_the_picture() -> None:
    rules = [Rule(label=f"at {at:g}", axis="x", value=at) for at in (1024.0, 1024.0**2)]
    chart = line(series=[Series(name="one", x=[512.0, 2.0 * 1024**2], y=[1.0, 2.0])], rules=rules)
    marks = [one["mark"] for one in figures.vega_lite(chart)["layer"]]
    sides = [mark["align"] for mark in marks if mark.get("style") == "rule-label"]
    assert sides == ["left", "right"]


def test_series_differ_by_colour_dash_and_shape() -> None:
    names = [f"series {n}" for n in range(4)]
    chart = line(series=[Series(name=name, x=[1024.0, 2048.0], y=[1.0, 2.0]) for name in names])
    encodings = [layer["encoding"] for layer in figures.vega_lite(chart)["layer"]]
    dashes = next(e["strokeDash"]["scale"]["range"] for e in encodings if "strokeDash" in e)
    shapes = next(e["shape"]["scale"]["range"] for e in encodings if "shape" in e)
    assert len(set(map(tuple, dashes))) == len(set(shapes)) == 4
    for dark in (False, True):
        assert len(set(config(dark=dark)["range"]["category"][:4])) == 4


def test_light_and_dark_show_the_same_chart() -> None:
    light, dark = (figures.vega_lite(CHARTS[0], dark=dark) for dark in (False, True))
    assert light.pop("config") != dark.pop("config")
    assert light == dark


@pytest.mark.parametrize(
    ("module", "step"),
    [("altair", "install it"), ("vl_convert", r"pip install 'memgauge\[pictures\]'")],
)
def test_without_the_libraries_the_reason_is_given(
    module: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "shipped", lambda: None)
    for name in [name for name in sys.modules if name.startswith("memgauge.reports.")]:
        if name.rpartition(".")[2] in {
            "drawing",
            "lines",
            "bars",
            "heatmap",
            "channels",
            "marks",
            "placing",
            "annotations",
            "axes",
        }:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("memgauge.reports.charts.drawing", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RequestError, match=rf"^cannot draw charts: .*; {step}"):
        figures.svg(CHARTS[0])
    reason = figures.unavailable()
    assert reason is not None
    assert "\n" not in reason


def test_a_page_needs_no_vl_convert_where_the_build_shipped_its_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "shipped", lambda: "draw()")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert figures.unavailable() is None
    written = figures.javascript.__wrapped__()
    assert written.startswith("/*")
    assert written.endswith("*/\ndraw()")
    assert json.loads(figures.vega_lite_json(CHARTS[0]))


def test_where_altair_finds_too_little_memory_the_limit_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "memgauge.reports.charts.drawing":
                raise MemoryError

    monkeypatch.delitem(sys.modules, "memgauge.reports.charts.drawing", raising=False)
    monkeypatch.delattr("memgauge.reports.charts.drawing", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Full(), *sys.meta_path])
    with pytest.raises(RequestError, match=r"^cannot draw charts: too little memory .*ulimit -v"):
        figures.vega_lite(CHARTS[0])
    assert "too little memory" in (figures.unavailable() or "")


HOMELESS = """
import os, pwd
os.environ.pop("HOME", None)
pwd.getpwuid = lambda number: (_ for _ in ()).throw(KeyError(number))
from memgauge.reports.charts import files as figures
print(figures.unavailable(), os.environ.get("HOME"))
"""


def test_charts_are_drawn_for_a_user_without_a_home() -> None:
    """As in a container that is started for a user whom it does not list."""
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "None None\n", done.stderr


def test_a_band_breaks_where_there_is_no_interval() -> None:
    y = [float(at) for at in range(1, 17)]
    known = [1, 2, 3, 8, 12, 13]
    low: list[float | None] = [v - 0.5 if at in known else None for at, v in enumerate(y)]
    high: list[float | None] = [v + 0.5 if at in known else None for at, v in enumerate(y)]
    series = Series(name="one", x=[1024.0 * at for at in y], y=[*y], low=low, high=high)
    drawn = ET.fromstring(figures.svg(line(series=[series])))  # noqa: S314
    groups = [one for one in drawn.iter(f"{SVG}g") if "mark-area" in one.get("class", "")]
    outlines = [path.get("d", "") for one in groups for path in one.iter(f"{SVG}path")]
    assert sum(outline.count("M") for outline in outlines) == 3
    rules = [one for one in drawn.iter(f"{SVG}g") if "mark-rule role-mark" in one.get("class", "")]
    assert sum(len(list(one.iter(f"{SVG}line"))) for one in rules) == 1
