"""What points of several experiments record."""

from __future__ import annotations

from memgauge.model.points.facts import Facts, Share


class Backing(Facts, frozen=True, kw_only=True):
    """What the kernel says backs the memory of a point."""

    pages: str = ""
    """4k, 64k, thp, 2m, 1g or mixed."""
    huge_share: Share | None = None
    """Of the resident bytes."""
    node: int | None = None
    """None: not known, or several."""


class TrafficMix(Facts, frozen=True, kw_only=True):
    """A requested mix of reads and writes."""

    read_share: Share | None = None
    """Of all accesses, each of one line."""
    reads: int | None = None
    writes: int | None = None
    """To so many reads: a ratio of whole numbers without a common divisor."""
    store: str = ""
    """temporal, non-temporal, or empty: nothing is written."""
    order: str = ""
    """sequential or random."""


class TrafficMemory(Backing, frozen=True, kw_only=True):
    """The memory that traffic walks over, and what a reader is warned of once for a team."""

    traffic_bytes: int | None = None
    """Of all threads, read and written."""
    llc_bytes: int | None = None
    """Sum of the last-level caches that the team uses; None: the system hides it."""
    exceeds_caches: bool | None = None
    """Whether what is read is four times these caches. Recorded of a team's first point."""
    left_out: str = ""
    """Kinds of stores that the processor does not have. Recorded of a team's first point."""
