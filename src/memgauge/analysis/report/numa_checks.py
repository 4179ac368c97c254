"""Node pairs that `numa` and `latency` both measured: by rings and threads of their own."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.report.checks import Check, Side, latency_check
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.rings import RingActual
from memgauge.model.records import Point


def pair_checks(figures: Figures) -> Iterator[Check]:
    """Latency of each pair by either experiment, of the same CPU, order and pages."""
    by_place = {place: entry for entry in figures.slices("latency") if (place := _place(entry[0]))}
    for point, summary in figures.slices("numa"):
        place = _place(point)
        if point.quantity != "latency" or place is None or place not in by_place:
            continue
        other, against = by_place[place]
        yield latency_check(
            f"numa, latency of node {place[0]} to node {place[1]}",
            Side(point.point, summary),
            Side(other.point, against),
            figures.run_to_run_drift or 0.0,
        )


def _place(point: Point) -> tuple[int, int, str, str, str] | None:
    """Both nodes, and what else must be alike; None of what is no pair of nodes in memory.

    What `numa` records of it is what `latency` records.
    """
    requested, actual = LatencyRequested.of(point.requested), RingActual.of(point.actual)
    cpu_node, memory_node = requested.cpu_node, requested.memory_node
    if cpu_node is None or memory_node is None or requested.level not in {"", "DRAM"}:
        return None
    return cpu_node, memory_node, requested.order, actual.pages, actual.cpus
