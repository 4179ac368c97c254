"""What `loaded` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts, Share
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


class ReplayRequested(Facts, frozen=True, kw_only=True):
    """A step of a profile that is replayed, or the memory before and after all of them."""

    step: int | None = None
    """From 1 in order of time; 0: nothing is replayed."""
    begin_s: float | None = None
    """On the profile's time, as is"""
    end_s: float | None = None
    moved_gb_per_s: float | None = None
    """Read and written by memory, as the profile counted it."""
    moved_read_share: Share | None = None
    """Of these bytes."""
    generators: int | None = None
    memory: str = ""
    pages: str = ""


class ReplayActual(LoadedActual, frozen=True, kw_only=True):
    """How the generators were set for it."""

    reads: int | None = None
    writes: int | None = None
    """Accesses to lines, to so many reads."""
    store: str = ""
    order: str = ""
    most_gb_per_s: float | None = None
    """What memory moved for them without a pause when they were set, where that is less than
    requested."""
    least_gb_per_s: float | None = None
    """The same with the longest pause, where that is more than requested."""
    passes: int | None = None
    """Sampling passes without load that a run takes at least."""
