"""What `latency` records about its points."""

from __future__ import annotations

from memgauge.model.points.rings import RingRequested


class LatencyRequested(RingRequested, frozen=True, kw_only=True):
    """A ring that is meant to hit one level; its actual facts are a `RingActual`."""

    level: str = ""
    """L1, L2, ..., or DRAM, of the host or of a GPU."""
    cpu_node: int | None = None
    """NUMA node of the CPU that walks."""
    memory_node: int | None = None
    """NUMA node of the ring; None: any, or a GPU's memory."""
