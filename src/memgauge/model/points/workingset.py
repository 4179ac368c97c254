"""What `workingset` records about its points."""

from __future__ import annotations

from memgauge.model.points.rings import RingRequested


class WorkingsetRequested(RingRequested, frozen=True, kw_only=True):
    """A footprint, walked as a ring or read; its actual facts are a `RingActual`."""

    access: str = ""
    """latency, or read: bandwidth of independent loads, of which there is no ring."""
