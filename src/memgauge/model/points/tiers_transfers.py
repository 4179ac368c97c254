"""What `tiers` records about points of threads beside a GPU's transfers."""

from __future__ import annotations

from memgauge.model.points.tiers import TiersRequested


class TiersTransfersRequested(TiersRequested, frozen=True, kw_only=True):
    """Work of the host's threads, transfers meanwhile, or a load from what the threads read.

    The group is a of the threads, b of the transfers and probe of the load. What the threads do is
    missing where they sleep.
    """

    transfer: str = ""
    """host-to-device, device-to-host or both; missing: nothing is transferred."""
    direction: str = ""
    """Of the point's own transfers."""
    gpu: str = ""
    """Placement of the GPU; every such point has it, and no other."""
    host_memory: str = ""
    """Placement of the pinned buffers."""
