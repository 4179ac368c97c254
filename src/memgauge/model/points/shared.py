"""What points of several experiments record."""

from __future__ import annotations

from memgauge.model.points.facts import Facts, Share


class AnyRequested(Facts, frozen=True, kw_only=True):
    """What figures of any experiment read of a point's request."""

    memory: str = ""
    host_memory: str = ""
    """On the host, of what a GPU copies from or to."""
    source: str = ""
    """Memory that is copied from, where it is another than `memory`."""
    fixed_iterations: int | None = None
    """Of each thread, from start to end; None: as many as the time allows."""


class AnyActual(Facts, frozen=True, kw_only=True):
    """What figures of any experiment, and the runner, read of what was measured."""

    cpus: str = ""
    """Of the threads, as a list of ranges."""
    gpu: str = ""
    gpu_uuid: str = ""
    timed_by: str = ""
    """device...: a GPU stamps the time itself."""
    passes: int | None = None
    """So many whole walks are timed; None: not decided by the experiment."""
    may_end_early: bool | None = None
    """Whether fewer suffice if the analysis finds that they decide; None: they do not."""
    regions: int | None = None
    """So many counted regions suffice, however few repetitions they hold. 0: the point is not
    measured at all. None: not decided by the experiment."""


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
