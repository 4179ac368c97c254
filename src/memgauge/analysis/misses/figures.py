"""The walks of `misses` with the level latencies measured beside them, and what the model says."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import msgspec

from memgauge.analysis.figures.concurrency import usual_line_bytes
from memgauge.analysis.figures.run import Figures, number_fact, scaled, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.amat import MemoryLevel, miss_rates, modelled
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.records import Point
from memgauge.model.units import format_bytes

MEMORY = "DRAM"
LOADS = 2
"""Of an element: x and y. The store finds the line that y was just loaded from."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One walk: what was measured, and what the model says of it."""

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
    found = [
        MemoryLevel(
            text_fact(point.requested, "level"),
            summary.sustained,
            number_fact(point.actual, "capacity_bytes"),
        )
        for point, summary in figures.slices("misses")
        if text_fact(point.requested, "pattern") == "dependent" and summary.sustained is not None
    ]
    caches = [level for level in found if (level.capacity_bytes or 0) > 0]
    memory = [level for level in found if level.name == MEMORY and level.capacity_bytes is None]
    return [*sorted(caches, key=lambda level: level.capacity_bytes or 0), *memory[:1]]


def cases_of(figures: Figures, levels: Sequence[MemoryLevel]) -> list[Case]:
    """All walks that were measured, in the order of declaration."""
    found = []
    for point, summary in figures.slices("misses"):
        footprint = number_fact(point.requested, "footprint_bytes") or 0
        stride = number_fact(point.requested, "stride_bytes") or 0
        pattern = text_fact(point.requested, "pattern")
        if pattern == "dependent" or min(footprint, stride) <= 0 or summary.sustained is None:
            continue
        line_bytes = usual_line_bytes(figures.run.start.system)
        share = new_line_share(pattern, stride, line_bytes)
        found.append(_case(point, summary, (pattern, footprint, stride, share), levels))
    return found


def new_line_share(pattern: str, stride_bytes: int, line_bytes: int) -> float:
    """Elements that come to another line than the one before, over all.

    In scrambled order each does, even where two elements share a line.
    """
    return 1.0 if pattern == "random" else min(1.0, stride_bytes / line_bytes)


def _case(
    point: Point,
    summary: PointSummary,
    walk: tuple[str, int, int, float],
    levels: Sequence[MemoryLevel],
) -> Case:
    pattern, footprint, stride, share = walk
    touched = max(0, number_fact(point.actual, "touched_bytes") or footprint)
    known = len(levels) > 1 and levels[-1].capacity_bytes is None
    capacities = [level.capacity_bytes for level in levels if level.capacity_bytes is not None]
    rates = miss_rates(capacities, touched, share) if known else []
    return Case(
        pattern=pattern,
        level=text_fact(point.requested, "level"),
        footprint_bytes=footprint,
        stride_bytes=stride,
        touched_bytes=touched,
        measured=summary.sustained or Estimate(0.0, 0.0, 0.0),
        rates=rates,
        amat=scaled(modelled(levels, rates), LOADS) if known else None,
        summary=summary,
    )
