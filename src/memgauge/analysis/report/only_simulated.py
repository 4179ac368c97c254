"""Runs of which nothing was run on this machine: models alone say what is in them."""

from __future__ import annotations

from memgauge.model.points.traffic import TrafficActual, TrafficRequested
from memgauge.model.records import Point
from memgauge.model.run import Run


def is_only_simulated(run: Run) -> bool:
    """Whether no point was to be executed: none has CPUs or regions."""
    return bool(run.points) and not any(map(_is_executed, run.points.values()))


def _is_executed(point: Point) -> bool:
    actual = TrafficActual.of(point.actual)
    return point.role != "counted" or bool(actual.cpus) or actual.regions != 0


def simulated_counts(run: Run) -> tuple[int, int]:
    """Simulations that there are of what was requested: each point on each machine."""
    machines = (TrafficRequested.of(point.requested).machines for point in run.points.values())
    requested = sum(len(names.split(",")) for names in machines if names not in {"", "none"})
    return sum(map(len, run.simulated.values())), requested
