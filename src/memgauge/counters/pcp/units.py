"""The unit of a metric, from dimensions and scale as Performance Co-Pilot gives them (pmUnits)."""

from __future__ import annotations

import msgspec

from memgauge import _core

_SECONDS = (1e-9, 1e-6, 1e-3, 1.0, 60.0, 3600.0)
_COUNTER_BITS = 8
_LEVEL_BITS = 20


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """What one in the daemon's value is."""

    unit: str
    scale: float
    note: str | None = None


def unit_of(metric: _core.PcpMetric) -> Unit:
    """Bytes, seconds or plain counts; what is compound stays in the daemon's unit, with a note."""
    dimensions = (metric.space, metric.time, metric.count)
    if dimensions == (1, 0, 0):
        return Unit(unit="B", scale=float(1024**metric.space_scale))
    if dimensions == (0, 1, 0) and metric.time_scale < len(_SECONDS):
        return Unit(unit="s", scale=_SECONDS[metric.time_scale])
    if dimensions in {(0, 0, 0), (0, 0, 1)}:
        return Unit(unit="", scale=10.0**metric.count_scale)
    return Unit(
        unit="",
        scale=1.0,
        note=f"its unit is compound (space {metric.space}, time {metric.time}, count "
        f"{metric.count}) and is left as the daemon has it",
    )


def is_integer(metric: _core.PcpMetric) -> bool:
    """Whether its values are whole numbers."""
    return metric.type in {"i32", "u32", "i64", "u64"}


def is_number(metric: _core.PcpMetric) -> bool:
    """Whether its values can be counted at all."""
    return metric.type != "other"


def fraction_bits(metric: _core.PcpMetric) -> int | None:
    """In parts of which power of 1/2 a value that is no integer is kept; None: it is one.

    A counter keeps 8 bits, so that it may grow to 3.6e16; a level keeps 20.
    """
    if is_integer(metric):
        return None
    return _COUNTER_BITS if metric.counts else _LEVEL_BITS
