"""Runs of which nothing was run on this machine: models alone say what is in them."""

from __future__ import annotations

from memgauge.model.run import Run


def is_only_simulated(run: Run) -> bool:
    """Whether no point was to be executed: none has CPUs or regions."""
    return bool(run.points) and all(
        point.role == "counted" and "cpus" not in point.actual and point.actual.get("regions") == 0
        for point in run.points.values()
    )


def simulated_counts(run: Run) -> tuple[int, int]:
    """Simulations that there are of what was asked for: each point on each machine."""
    requested = sum(
        len(_machines(point.requested.get("machines"))) for point in run.points.values()
    )
    return sum(map(len, run.simulated.values())), requested


def _machines(known: object) -> list[str]:
    return [] if known in {None, "none"} else str(known).split(",")
