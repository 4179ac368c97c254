"""The `latency` points of a run: rings of the host or of a GPU, as they were walked."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memgauge.analysis.figures.gpu_points import GPU_MEMORY, gpu_name, gpu_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.rings import RingActual
from memgauge.model.records import Point

MEMORY = "DRAM"


class LatencyResult(msgspec.Struct, frozen=True, kw_only=True):
    """One ring."""

    point: Point
    requested: LatencyRequested
    actual: RingActual
    summary: PointSummary
    latency: Estimate
    """Sustained."""
    gpu: str
    """Such as `cuda:0`; empty: the host walked it."""

    @property
    def in_memory(self) -> bool:
        """Whether its loads were meant to go to memory."""
        return self.requested.level == MEMORY

    @property
    def level(self) -> str:
        """What the level is called there."""
        return level_name(self.requested.level) if self.gpu else self.requested.level

    @property
    def order(self) -> str:
        """Random in blocks: within one, then within the next."""
        order = self.requested.order
        return "random in blocks" if order == "block-random" else order

    @property
    def pages(self) -> str:
        """Actual pages, else those requested."""
        return self.actual.pages or self.requested.pages

    @property
    def nodes(self) -> str:
        """Such as `0 to 1`; empty: of one node, or not known."""
        here, there = self.requested.cpu_node, self.requested.memory_node
        return "" if here is None or there is None else f"{here} to {there}"

    @property
    def label(self) -> str:
        """Level, and of memory order and nodes too."""
        label = f"{self.level}, {self.order}" if self.in_memory else self.level
        return f"{label}, node {self.nodes}" if self.nodes else label


def latency_results(figures: Figures) -> list[LatencyResult]:
    """Every ring that was measured, in the order of declaration."""
    return [
        LatencyResult(
            point=point,
            requested=LatencyRequested.of(point.requested),
            actual=RingActual.of(point.actual),
            summary=summary,
            latency=summary.sustained,
            gpu=gpu_of(point),
        )
        for point, summary in figures.slices("latency")
        if summary.sustained is not None
    ]


def level_name(level: str) -> str:
    """What a level is called on a GPU."""
    return GPU_MEMORY if level == MEMORY else level


def fastest(results: Iterable[LatencyResult]) -> LatencyResult | None:
    """The one with the least latency; of several as fast, the first."""
    return min(results, key=lambda result: result.latency.value, default=None)


def fastest_by_level(results: Iterable[LatencyResult]) -> dict[str, Estimate]:
    """The least latency of each level, in the order in which the levels were declared."""
    found: dict[str, Estimate] = {}
    for result in results:
        known = found.setdefault(result.requested.level, result.latency)
        if result.latency.value < known.value:
            found[result.requested.level] = result.latency
    return found


@once
def memory_latency(figures: Figures) -> tuple[LatencyResult, Estimate] | None:
    """Of local memory, or the GPU's: blocks in random order, the fastest pages."""
    best = fastest(result for result in latency_results(figures) if result.in_memory)
    return None if best is None else (best, best.latency)


def conditions(result: LatencyResult) -> str:
    """In which order and pages, or by which GPU, it was measured."""
    if result.gpu:
        return f"{result.order}, {gpu_name([result.point])}"
    return f"{result.requested.order}, {result.pages} pages"
