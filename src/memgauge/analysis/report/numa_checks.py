"""Node pairs that `numa` and `latency` both measured: by rings and threads of their own."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.run import Figures, number_fact, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.report.checks import Check, Side, latency_check
from memgauge.model.records import Point

Measured = tuple[Point, PointSummary]


def pair_checks(figures: Figures) -> Iterator[Check]:
    """Latency of each pair by either experiment, of the same CPU, order and pages."""
    by_place = {place: entry for entry in figures.slices("latency") if (place := _place(entry[0]))}
    for point, summary in figures.slices("numa"):
        other = by_place.get(_place(point) or ())
        if point.quantity != "latency" or other is None:
            continue
        pair = f"node {point.requested['cpu_node']} to node {point.requested['memory_node']}"
        yield latency_check(
            f"numa, latency of {pair}",
            Side(point.point, summary),
            Side(other[0].point, other[1]),
            figures.run_to_run_drift or 0.0,
        )


def _place(point: Point) -> tuple[object, ...] | None:
    """What must be alike; None of what is no pair of nodes in memory."""
    nodes = [number_fact(point.requested, key) for key in ("cpu_node", "memory_node")]
    level = text_fact(point.requested, "level") or "DRAM"
    if None in nodes or level != "DRAM":
        return None
    order, pages = text_fact(point.requested, "order"), text_fact(point.actual, "pages")
    return (*nodes, order, pages, text_fact(point.actual, "cpus"))
