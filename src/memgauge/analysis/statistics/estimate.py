"""A figure with its interval: what every measured number is."""

from __future__ import annotations

import msgspec


class Estimate(msgspec.Struct, frozen=True):
    """A measured figure and its 95% interval, in the unit of the column or axis it stands in."""

    value: float
    low: float
    high: float

    @property
    def precision(self) -> float:
        """Half the interval's width over the value."""
        return (self.high - self.low) / 2 / self.value if self.value else float("inf")
