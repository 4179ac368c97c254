"""Runs of which nothing was run on this machine: models alone say what is in them."""

from __future__ import annotations

from memgauge.model.run import Run


def is_only_simulated(run: Run) -> bool:
    """Whether no point was to be executed: none has CPUs or regions."""
    return bool(run.points) and all(
        point.role == "region"
        and "cpus" not in point.effective
        and point.effective.get("regions") == 0
        for point in run.points.values()
    )


def simulated_counts(run: Run) -> tuple[int, int]:
    """Simulations that there are of what was asked for: each point on each machine."""
    asked = sum(len(_machines(point.asked.get("machines"))) for point in run.points.values())
    return sum(map(len, run.simulated.values())), asked


def _machines(told: object) -> list[str]:
    return [] if told in {None, "none"} else str(told).split(",")
