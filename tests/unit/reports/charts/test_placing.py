"""Where values lie along an axis, and what has no place on one."""

import pytest

from memgauge.analysis.section import Axis, Chart, Mark, Rule, Series
from memgauge.reports.charts import files as figures
from memgauge.reports.charts.placing import along

SIZES = Axis(title="", unit="", scale="log2")


@pytest.mark.parametrize(("value", "share"), [(1.0, 0.0), (4.0, 0.5), (16.0, 1.0)])
def test_values_of_a_logarithmic_axis_lie_by_their_logarithm(value: float, share: float) -> None:
    assert along(SIZES, value, 1.0, 16.0) == pytest.approx(share)


def test_a_rule_at_zero_has_no_place_among_bars() -> None:
    """Bars stand for names, whatever the scale of the axis says."""
    chart = Chart(
        name="bars",
        title="",
        kind="bar",
        x=SIZES,
        y=Axis(title="", unit=""),
        series=[Series(name="", x=[0.0], y=[0.0])],
        rules=[Rule(label="", axis="x", value=0.0)],
        marks=[Mark(label="", x=1.0, y=0.0)],
    )
    assert "rule-mark" not in str(figures.vega_lite(chart)["layer"])
