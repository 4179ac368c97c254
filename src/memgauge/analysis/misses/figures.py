"""The walks of `misses`: what was measured, and what a model of the caches predicts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import msgspec

from memgauge.analysis.figures.concurrency import usual_line_bytes
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.amat import MemoryLevel, miss_rates, modelled
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.misses import MissesActual, MissesRequested
from memgauge.model.units import format_bytes

MEMORY = "DRAM"
LOADS = 2
"""Of an element: x and y. The store finds the line that y was just loaded from."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One walk: what was measured, and what the model predicts."""

    pattern: str
    level: str
    """That its footprint was chosen for."""
    footprint_bytes: int
    stride_bytes: int
    touched_bytes: int
    measured: Estimate
    """ns for each element."""
    rates: list[float]
    """Modelled local miss rates of the cache levels; empty without a model."""
    amat: Estimate | None
    """Modelled ns for each element, were each of its loads waited for; None without a model."""
    summary: PointSummary

    @property
    def hidden(self) -> Estimate | None:
        """Times that the element is cheaper than the model's waiting."""
        return ratio(self.amat, self.measured)

    @property
    def last_level_misses(self) -> float | None:
        """Modelled, for each element: loads that no cache answers; None without a model."""
        return LOADS * prod(self.rates) if self.rates else None

    @property
    def walk(self) -> str:
        """Pattern, and how far apart its elements lie where it does not show that."""
        if self.pattern == "stride":
            return f"stride {format_bytes(self.stride_bytes)}"
        return self.pattern


def levels_of(figures: Figures) -> list[MemoryLevel]:
    """Levels whose latency was measured beside the walks, nearest first, memory last."""
    found = []
    for point, summary in figures.slices("misses"):
        requested = MissesRequested.of(point.requested)
        if requested.pattern == "dependent" and summary.sustained is not None:
            capacity = MissesActual.of(point.actual).capacity_bytes
            found.append(MemoryLevel(requested.level, summary.sustained, capacity))
    caches = [level for level in found if (level.capacity_bytes or 0) > 0]
    memory = [level for level in found if level.name == MEMORY and level.capacity_bytes is None]
    return [*sorted(caches, key=lambda level: level.capacity_bytes or 0), *memory[:1]]


def cases_of(figures: Figures, levels: Sequence[MemoryLevel]) -> list[Case]:
    """All walks that were measured, in the order of declaration."""
    line_bytes = usual_line_bytes(figures.run.start.system)
    found = (
        _case(
            MissesRequested.of(point.requested),
            MissesActual.of(point.actual),
            summary,
            line_bytes,
            levels,
        )
        for point, summary in figures.slices("misses")
    )
    return [case for case in found if case is not None]


def new_line_share(pattern: str, stride_bytes: int, line_bytes: int) -> float:
    """Share of elements that lie in another line than the element before.

    In scrambled order each does, even where two elements share a line.

    Args:
        pattern: `random` for scrambled order; any other pattern walks in order.
        stride_bytes: Distance from one element to the next, for walks in order.
        line_bytes: Length of a cache line.
    """
    return 1.0 if pattern == "random" else min(1.0, stride_bytes / line_bytes)


def _case(
    requested: MissesRequested,
    actual: MissesActual,
    summary: PointSummary,
    line_bytes: int,
    levels: Sequence[MemoryLevel],
) -> Case | None:
    """None of dependent loads, and of what was not measured."""
    pattern, measured = requested.pattern, summary.sustained
    footprint, stride = requested.footprint_bytes or 0, requested.stride_bytes or 0
    if pattern == "dependent" or min(footprint, stride) <= 0 or measured is None:
        return None
    touched = max(0, actual.touched_bytes or footprint)
    known = len(levels) > 1 and levels[-1].capacity_bytes is None
    capacities = [level.capacity_bytes for level in levels if level.capacity_bytes is not None]
    share = new_line_share(pattern, stride, line_bytes)
    rates = miss_rates(capacities, touched, share) if known else []
    return Case(
        pattern=pattern,
        level=requested.level,
        footprint_bytes=footprint,
        stride_bytes=stride,
        touched_bytes=touched,
        measured=measured,
        rates=rates,
        amat=scaled(modelled(levels, rates), LOADS) if known else None,
        summary=summary,
    )
