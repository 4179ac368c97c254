"""What `misses` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class MissesRequested(Facts, frozen=True, kw_only=True):
    """A walk of saxpy over x and y, or dependent loads that take the latency of a level."""

    pattern: str = ""
    """sequential, stride, random or, of the latency of a level, dependent."""
    level: str = ""
    """L1, L2 and so on, or DRAM: what the footprint was chosen for."""
    footprint_bytes: int | None = None
    """Of a walk: x and y together."""
    stride_bytes: int | None = None
    """Missing: a ring, which a cache level holds."""
    pages: str = ""


class MissesActual(Backing, frozen=True, kw_only=True):
    """Where a walk ran, and what it touches; or what the topology claims of a ring's level."""

    cpus: str = ""
    capacity_bytes: int | None = None
    """Of the cache level that a ring takes the latency of."""
    slots: int | None = None
    """Places that a walk comes to, in each array."""
    touched_bytes: int | None = None
    """Of the lines that a walk comes to."""
