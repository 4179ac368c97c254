"""The ratio of two measured figures, with its interval."""

import math

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval


def ratio(numerator: Estimate | None, denominator: Estimate | None) -> Estimate | None:
    """Numerator over denominator; None without both.

    The interval recovers the variances of the logs from the bounds of both, independent, figures
    (MOVER: Zou and Donner 2008).
    """
    if numerator is None or denominator is None or not denominator.value or not numerator.value:
        return None
    value = numerator.value / denominator.value
    if not (has_interval(numerator) and has_interval(denominator)):
        return Estimate(value, 0.0, math.inf)
    if numerator.low <= 0 or denominator.low <= 0:
        return Estimate(value, 0.0, math.inf)
    below = math.hypot(
        math.log(numerator.value / numerator.low), math.log(denominator.high / denominator.value)
    )
    above = math.hypot(
        math.log(numerator.high / numerator.value), math.log(denominator.value / denominator.low)
    )
    return Estimate(value, value * math.exp(-below), value * math.exp(above))
