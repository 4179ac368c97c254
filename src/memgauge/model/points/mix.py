"""What `mix` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Share
from memgauge.model.points.shared import TrafficMemory, TrafficMix


class MixRequested(TrafficMix, frozen=True, kw_only=True):
    """A mix that one team of threads makes, or a GPU."""

    threads: int | None = None
    """None: a whole GPU."""
    memory: str = ""
    pages: str = ""
    """Empty: on a GPU."""


class MixActual(TrafficMemory, frozen=True, kw_only=True):
    """Who made the mix, and what it was. Points of a GPU record its `GpuDevice` beside this."""

    cpus: str = ""
    """Empty: a GPU."""
    read_share_issued: Share | None = None
    """Reads among the accesses that were really made."""
