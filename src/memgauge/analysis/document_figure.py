"""A figure with its interval, as documents hold it."""

from __future__ import annotations

from typing import overload

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure and its interval."""

    value: float
    low: float | None
    """None: too few independent samples for an interval."""
    high: float | None


@overload
def figure(estimate: Estimate) -> Figure: ...
@overload
def figure(estimate: None) -> None: ...
@overload
def figure(estimate: Estimate | None) -> Figure | None: ...
def figure(estimate: Estimate | None) -> Figure | None:
    """The estimate as data, which has no infinity."""
    if estimate is None:
        return None
    if not has_interval(estimate):
        return Figure(value=estimate.value, low=None, high=None)
    return Figure(value=estimate.value, low=estimate.low, high=estimate.high)
