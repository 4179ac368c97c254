"""Student's t: how likely a value this far out is, and how far out 95% of all values lie."""

import math
from functools import lru_cache

from memgauge.analysis.statistics.intervals import CONFIDENCE, regularized_beta

_NARROWEST = 1e-9
"""Relative error of a quantile."""


def two_sided(t: float, freedom: float) -> float:
    """Probability of a value at least this far from 0, on either side.

    Args:
        t: The value.
        freedom: Degrees of freedom, above 0, not necessarily whole.
    """
    if math.isinf(t):
        return 0.0
    square = t * t
    if square < freedom:  # exact near 0, where the other form rounds
        return 1 - regularized_beta(square / (freedom + square), 0.5, freedom / 2)
    return regularized_beta(freedom / (freedom + square), freedom / 2, 0.5)


@lru_cache(maxsize=4096)
def half_width(freedom: float) -> float:
    """Of the central 95% of all values: the 97.5% point."""
    low, high = 0.0, 2.0
    while two_sided(high, freedom) > 1 - CONFIDENCE:
        low, high = high, 2 * high
    while high - low > _NARROWEST * high:
        middle = (low + high) / 2
        outside = two_sided(middle, freedom) > 1 - CONFIDENCE
        low, high = (middle, high) if outside else (low, middle)
    return (low + high) / 2
