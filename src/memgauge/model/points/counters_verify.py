"""What `counters_verify` and `counters_compare` record about their points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import TrafficMemory


class VerifyRequested(Facts, frozen=True, kw_only=True):
    """A load of known traffic, and who makes it."""

    load: str = ""
    """One of `memgauge.model.loads`, or kind and size of a loop nest."""
    cpu_node: int | None = None
    """Whose CPUs make it; None: a GPU does."""
    memory_node: int | None = None
    """Whose memory it goes to; None: a GPU's."""
    reads: int | None = None
    """To so many writes, of a GPU's load."""
    writes: int | None = None
    memory: str = ""
    pages: str = ""
    kernel: str = ""
    """Of a loop nest that is a load: its kind,"""
    size: int | None = None
    """and its size N."""


class VerifyActual(TrafficMemory, frozen=True, kw_only=True):
    """What the load went over, and how much was issued. The GPU that made it is a `GpuDevice`."""

    cpus: str = ""
    issued_bytes: int | None = None
    """By all threads, or by the GPU, in one region."""
    repetitions: int | None = None
    """Of a loop nest: executions of one region,"""
    copies: int | None = None
    """and the sets of arrays that are used in turn."""
