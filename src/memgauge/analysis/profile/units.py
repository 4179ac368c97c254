"""Units in which values of tracks are easy to read."""

from __future__ import annotations

import math

from memgauge.model.text import plain

_WORDS = {"G": "10⁹", "M": "10⁶", "k": "10³"}


def shown_unit(unit: str, largest: float) -> tuple[float, str]:
    """Factor and unit in which values up to the largest are easy to read."""
    if unit not in {"B/s", "B", "1/s", "Hz"} or not math.isfinite(largest):
        return 1.0, plain(unit)
    for scale, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if largest >= scale:
            return 1 / scale, f"{prefix}{unit}" if unit != "1/s" else f"{_WORDS[prefix]}/s"
    return 1.0, unit
