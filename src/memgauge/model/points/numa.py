"""What `numa` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class NumaRequested(Facts, frozen=True, kw_only=True):
    """A pair of a CPU node and a memory node: its latency, or the bandwidth of a kernel."""

    cpu_node: int | None = None
    memory_node: int | None = None
    kernel: str = ""
    """Of bandwidth."""
    at_once: bool | None = None
    """Of bandwidth: whether all pairs are measured at the same time."""
    threads: int | None = None
    """Of bandwidth: those of the CPU node that use this memory node."""
    order: str = ""
    """Of latency: in which the lines of a ring follow each other."""
    node_bytes: int | None = None
    """Of latency: memory of the ring for each load."""
    footprint_bytes: int | None = None
    """Of latency: of the ring."""
    memory: str = ""
    pages: str = ""


class NumaActual(Backing, frozen=True, kw_only=True):
    """Where the threads of a pair ran, and what they walked over."""

    cpus: str = ""
    array_bytes: int | None = None
    """Of each array of each thread."""
    iteration_bytes: int | None = None
    """Of each array."""
    llc_bytes: int | None = None
    """Last-level caches of the CPU node with the most; None: the system hides them."""
    isa: str = ""
    store: str = ""
    pass_ns: int | None = None
    """Duration of one sampling pass."""
    exceeds_caches: bool | None = None
    """Whether the arrays of each node are four times its last-level caches. Recorded of the first
    point."""
    too_few_for_all: bool | None = None
    """A CPU node has fewer threads than there are memory nodes, so that all pairs at once are not
    measured. Recorded of the first point."""
