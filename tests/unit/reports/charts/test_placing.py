"""Where values lie along an axis."""

import pytest

from memgauge.analysis.section import Axis
from memgauge.reports.charts.placing import along


@pytest.mark.parametrize(
    ("value", "low", "share"), [(4.0, 1.0, 0.5), (0.0, 0.0, 0.0), (4.0, 0.0, 0.5), (16.0, 1.0, 1.0)]
)
def test_values_of_a_logarithmic_axis_lie_by_their_logarithm(
    value: float, low: float, share: float
) -> None:
    """Zero, which has no place there, lies at the lower end."""
    assert along(Axis(title="", unit="", scale="log2"), value, low, 16.0) == pytest.approx(share)
