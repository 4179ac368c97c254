"""Bars whose parts add up."""

import xml.etree.ElementTree as ET

import pytest

from memgauge.analysis.section import Axis, Chart, Series
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.stacks import height_px

BARS: list[float | str] = ["add: software", "add: hardware"]


def stack(**changes: object) -> Chart:
    settings = {
        "name": "stack",
        "title": "Bandwidth",
        "kind": "stack",
        "x": Axis(title="Kernel", unit=""),
        "y": Axis(title="Bandwidth", unit="MB/s", from_zero=True),
        "series": [
            Series(name="reads", x=BARS, y=[20.0, None]),
            Series(name="writes", x=BARS, y=[12.5, None]),
            Series(name="socket 0", x=BARS, y=[None, 40.25]),
        ],
    }
    return Chart(**(settings | changes))  # type: ignore[arg-type]


def texts(chart: Chart) -> set[str]:
    root = ET.fromstring(figures.svg(chart))  # noqa: S314
    return {
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    }


def parts(chart: Chart) -> list[dict[str, object]]:
    rows = [row for one in figures.vega_lite(chart)["datasets"].values() for row in one]
    return [row for row in rows if "from" in row]


def test_parts_follow_each_other_and_the_sum_stands_behind_them() -> None:
    found = {(row["x"], row["series"]): (row["from"], row["to"]) for row in parts(stack())}
    assert found == {
        ("add: software", "reads"): (0.0, 20.0),
        ("add: software", "writes"): (20.0, 32.5),
        ("add: hardware", "socket 0"): (0.0, 40.25),
    }
    assert {"32.5", "40.2"} <= texts(stack())


def test_bars_and_series_are_named() -> None:
    assert {"reads", "writes", "socket 0", "Bandwidth (MB/s)"} <= texts(stack())


def test_many_bars_make_a_taller_picture() -> None:
    many: list[float | str] = [f"bar {n}" for n in range(60)]
    tall = stack(series=[Series(name="a", x=many, y=[1.0] * 60)])
    assert height_px(tall) > height_px(stack())


@pytest.mark.parametrize("series", [[], [Series(name="a", x=BARS, y=[None, None])]])
def test_nothing_measured_is_drawn_empty(series: list[Series]) -> None:
    assert figures.svg(stack(series=series))
