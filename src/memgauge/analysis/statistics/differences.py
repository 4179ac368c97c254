"""The difference of two measured figures, with its interval."""

import math

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval


def difference(other: Estimate | None, baseline: Estimate | None) -> Estimate | None:
    """Other less baseline; None without both.

    The interval recovers the variances from the bounds of both, independent, figures (MOVER: Zou
    and Donner 2008). It is unbounded where one of them has none.
    """
    if other is None or baseline is None:
        return None
    value = other.value - baseline.value
    if not (has_interval(other) and has_interval(baseline)):
        return Estimate(value, -math.inf, math.inf)
    below = math.hypot(other.value - other.low, baseline.high - baseline.value)
    above = math.hypot(other.high - other.value, baseline.value - baseline.low)
    return Estimate(value, value - below, value + above)
