"""What `latency` and `workingset` record about the rings of dependent loads that they walk."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class RingRequested(Facts, frozen=True, kw_only=True):
    """A ring to walk, one load after the other."""

    footprint_bytes: int | None = None
    node_bytes: int | None = None
    """Memory of the ring for each load."""
    order: str = ""
    """random, or block-random: within one block, then within the next."""
    through: str = ""
    """On a GPU: l1, the loads look there first; l2, they bypass it. Empty: on the host."""
    memory: str = ""
    pages: str = ""
    """Empty: on a GPU."""


class RingActual(Backing, frozen=True, kw_only=True):
    """Who walked it. Points of a GPU record its `GpuDevice` beside this."""

    cpus: str = ""
    """The one that walked; empty: a GPU."""
    nodes: int | None = None
    """On a GPU: loads of one round of the ring."""
    timer_resolution_ns: float | None = None
    """On a GPU: step of the timer that timed the walk."""
