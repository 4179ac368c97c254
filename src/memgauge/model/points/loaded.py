"""What `loaded` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Share
from memgauge.model.points.shared import TrafficMemory, TrafficMix


class LoadedRequested(TrafficMix, frozen=True, kw_only=True):
    """A load at one delay, by one team."""

    generators: int | None = None
    """Threads that load the memory."""
    delay: int | None = None
    """Units of the generators' pause after every 16 lines."""
    memory: str = ""
    pages: str = ""


class LoadedActual(TrafficMemory, frozen=True, kw_only=True):
    """Where probe and generators ran, and what they did."""

    cpus: str = ""
    """The probe's first."""
    probe_cpu: int | None = None
    generator_cpus: str = ""
    footprint_bytes: int | None = None
    """Of the probe's ring."""
    delay_ns: float | None = None
    """The pause as measured on the first generator."""
    read_share_issued: Share | None = None
    """Reads among the accesses that were really made."""
    probe_shares_core: bool | None = None
    """A generator runs on a hardware thread of the probe's core. Recorded of a team's first
    point."""
