"""What `stride` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class StrideRequested(Facts, frozen=True, kw_only=True):
    """A pattern in which memory is accessed."""

    kind: str = ""
    """dependent: each access waits for the one before; or independent."""
    order: str = ""
    """sequential or random."""
    access_bytes: int | None = None
    stride_bytes: int | None = None
    """From the begin of an access to that of the next, in order of addresses."""
    footprint_bytes: int | None = None
    memory: str = ""
    pages: str = ""


class StrideActual(Backing, frozen=True, kw_only=True):
    """What a pattern walks, and what each access moves."""

    cpus: str = ""
    slots: int | None = None
    """Accesses until the first comes again."""
    walked_bytes: int | None = None
    line_bytes: int | None = None
    lines_per_access: int | None = None
    moved_bytes_per_access: int | None = None
    """By the count of lines; not measured at the memory controller."""
    flushed_before: bool | None = None
    """The lines to be accessed are flushed from all caches before."""
