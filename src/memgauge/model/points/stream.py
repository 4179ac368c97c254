"""What `stream` records about its points, on the host and on a GPU."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class StreamRequested(Facts, frozen=True, kw_only=True):
    """A kernel over the arrays of one team or of one GPU."""

    kernel: str = ""
    variant: str = ""
    """standard or tuned."""
    element: str = ""
    """double or float."""
    threads: int | None = None
    """Missing: a GPU runs it."""
    memory: str = ""
    pages: str = ""
    """Missing: a GPU's memory."""
    array_bytes: int | None = None
    """Of each array; missing: by the STREAM rule."""
    candidate: str = ""
    """Name of a variant that a search tries; missing: the variant as it goes without saying."""
    access: str = ""
    """translated; missing: direct."""
    store: str = ""
    """Missing: as the variant stores."""
    prefetch: str = ""
    """Near and far distance, such as `512` or `512:4KiB`; missing: as the variant prefetches."""


class StreamActual(Backing, frozen=True, kw_only=True):
    """Arrays as laid out and the kernel as it ran; what a GPU lacks is missing of its points.

    Points that are counted record `CountedActual` too, those of a GPU `GpuDevice`.
    """

    cpus: str = ""
    llc_bytes: int | None = None
    """Sum of the last-level caches that the team uses; missing: the system hides it."""
    stream_conformant: bool | None = None
    """Arrays are known to be as large as the STREAM rule requires."""
    array_bytes: int | None = None
    """Of each array."""
    isa: str = ""
    """Instructions that the kernel is made of: of a plain loop those that it was compiled for; of
    a GPU the work of a thread."""
    store: str = ""
    """Kind of stores; of a GPU the hint to its caches."""
    access: str = ""
    """translated; missing: direct."""
    write_back: str = ""
    """Instruction by which flushed stores write lines back."""
    unroll: int | None = None
    """Of tuned kernels, as is all that follows but `threads_per_block`."""
    streams: int | None = None
    """Parts of a thread's block that are walked side by side."""
    prefetch_near_bytes: int | None = None
    prefetch_far_bytes: int | None = None
    passes: int | None = None
    """Requested walks over the whole arrays, of the role `pass`; missing: the usual number."""
    regions: int | None = None
    """Requested regions with counters, of the role `counted`; missing: the usual number."""
    threads_per_block: int | None = None
    blocks_per_multiprocessor: int | None = None
    """0: one block for each tile."""
