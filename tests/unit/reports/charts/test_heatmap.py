import re
import xml.etree.ElementTree as ET

import altair as alt
import pytest

from memgauge.analysis.section import Axis, Chart, Series
from memgauge.reports.cells import MISSING
from memgauge.reports.charts import files as figures

STRIDES: list[float | str] = [64.0, 4096.0, 65536.0]


def heatmap(**changes: object) -> Chart:
    settings = {
        "name": "stride",
        "title": "Cost of an access",
        "kind": "heatmap",
        "x": Axis(title="Stride", unit="B", scale="log2"),
        "y": Axis(title="Time per access", unit="ns", scale="log10"),
        "rows": Axis(title="Order", unit=""),
        "series": [
            Series(name="sequential", x=STRIDES, y=[1.26, 12.34, 123.4]),
            Series(
                name="random", x=STRIDES, y=[None, 98.7, 4321.0], notes=[None, "p99 1 us", None]
            ),
        ],
    }
    return Chart(**(settings | changes))  # type: ignore[arg-type]


def texts(chart: Chart) -> list[str]:
    root = ET.fromstring(figures.svg(chart))  # noqa: S314
    return [
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def cells(chart: Chart) -> list[dict[str, object]]:
    rows = [row for one in figures.vega_lite(chart)["datasets"].values() for row in one]
    return [row for row in rows if "y" in row]


def test_every_figure_stands_in_its_cell_and_a_dash_where_there_is_none() -> None:
    written = texts(heatmap())
    assert {"1.26", "12.3", "123", "98.7", "4321"} <= set(written)
    assert written.count(MISSING) == 1


def test_rows_columns_and_scale_are_named() -> None:
    written = texts(heatmap())
    assert {"sequential", "random", "Order", "Stride", "Time per access (ns)"} <= set(written)
    assert {"64B", "4KiB", "64KiB"} <= {text.replace(" ", "") for text in written}


def test_digits_contrast_with_their_cell() -> None:
    light = {row["y"]: row["light"] for row in cells(heatmap())}
    assert light[1.26] is light[12.34] is True
    assert light[4321.0] is False


@pytest.mark.parametrize("scale", ["linear", "log10"])
def test_equal_cells_and_one_cell_are_drawn(scale: str) -> None:
    axis = Axis(title="Time", unit="ns", scale=scale)  # type: ignore[arg-type]
    for series in (
        [Series(name="a", x=[1.0, 2.0], y=[5.0, 5.0])],
        [Series(name="a", x=[1.0], y=[5.0])],
    ):
        assert "5.0" in texts(heatmap(y=axis, series=series))


def test_a_column_needs_no_place_on_a_logarithmic_axis() -> None:
    series = [Series(name="a", x=[0.0, 64.0], y=[7.25, 8.25])]
    assert {"7.25", "8.25"} <= set(texts(heatmap(series=series)))


def test_nothing_measured_leaves_dashes() -> None:
    assert texts(heatmap(series=[Series(name="a", x=STRIDES, y=[None] * 3)])).count(MISSING) == 3


def test_shares_read_in_percent() -> None:
    axis = Axis(title="Share", unit="%")
    shares = texts(heatmap(y=axis, series=[Series(name="a", x=STRIDES, y=[0.25, 0.5, 0.75])]))
    assert {"25.0", "50.0", "75.0"} <= set(shares)


def test_it_obeys_the_schema_and_tells_notes_on_hover() -> None:
    chart = heatmap()
    specification = figures.vega_lite(chart)
    alt.Chart.from_dict(specification, validate=True)
    known = [layer["encoding"].get("tooltip", []) for layer in specification["layer"]]
    assert "note" in {one["title"] for hover in known for one in hover}
    assert "p99 1 us" in {row.get("note") for row in cells(chart)}


def test_every_digit_can_be_read_on_its_cell() -> None:
    """At least 4.5:1, as WCAG 2 asks of text (level AA)."""
    values = [round(1 + n / 100, 2) for n in range(1, 31)]
    series = [Series(name="a", x=[float(n) for n in range(30)], y=list(values))]
    chart = heatmap(series=series, y=Axis(title="Time per access", unit="ns"))
    root = ET.fromstring(figures.svg(chart))  # noqa: S314
    inks = {
        "".join(text.itertext()): text.get("fill") or ""
        for text in root.iter("{http://www.w3.org/2000/svg}text")
    }
    grounds = dict(_grounds(root))
    assert len(grounds) == len(values)
    assert {inks[f"{value:.2f}"] for value in values} == {"#ffffff", "#000000"}
    for value in values:
        assert _contrast(grounds[value], inks[f"{value:.2f}"]) >= 4.5, value


def test_lightness_grows_with_the_value() -> None:
    root = ET.fromstring(figures.svg(heatmap()))  # noqa: S314
    lightness = [_luminance(fill) for _, fill in sorted(_grounds(root))]
    assert len(lightness) == 5
    assert lightness == sorted(lightness)


def _grounds(root: ET.Element) -> list[tuple[float, str]]:
    """Value and colour of each cell."""
    said = re.compile(r"Time per access: ([\d.]+)")
    paths = root.iter("{http://www.w3.org/2000/svg}path")
    found = [(said.search(path.get("aria-label") or ""), path.get("fill")) for path in paths]
    return [(float(match[1]), fill) for match, fill in found if match and fill]


def _luminance(fill: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    if fill.startswith("#"):
        channels = [int(fill[at : at + 2], 16) for at in (1, 3, 5)]
    else:
        channels = [int(part) for part in fill.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in channels)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
