"""How many threads to measure with when nobody says."""

from __future__ import annotations

from memgauge.model.system import System
from memgauge.system.placement import cpus_for, physical_cores


def team_sizes(threads: tuple[int, ...] | None, cpus: str, system: System) -> list[int]:
    """As asked; else 1, doubling, up to all threads the policy offers, plus all physical cores."""
    if threads is not None:
        return list(threads)
    most = len(cpus_for(cpus, None, system))
    sizes = {1, most}
    size = 2
    while size < most:
        sizes.add(size)
        size *= 2
    cores = physical_cores(system)
    if cores < most:
        sizes.add(cores)
    return sorted(sizes)
