"""What `tiers` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts, Share
from memgauge.model.points.shared import Backing


class TiersWork(Facts, frozen=True, kw_only=True):
    """What the threads of a group do: a kernel, or a mix of reads and writes with pauses."""

    kernel: str = ""
    """Empty: a mix, or nothing."""
    access: str = ""
    """Of a kernel to elements in a pool: direct or translated."""
    read_share: Share | None = None
    """Of all accesses of a mix, each of one line; None: no mix."""
    reads: int | None = None
    writes: int | None = None
    """To so many reads: a ratio of whole numbers without a common divisor."""
    delay_ns: int | None = None
    """Pause of the group's threads after every 16 lines of a mix;"""
    delay_a_ns: int | None = None
    """those of group A,"""
    delay_b_ns: int | None = None
    """and of group B."""

    @property
    def name(self) -> str:
        """As in names of points: `copy`, `copy-translated`, `75r` or `75r/d0-200`; empty: none."""
        if self.read_share is None:
            return self.kernel + ("" if self.access in {"", "direct"} else f"-{self.access}")
        reads, writes = self.reads or 0, self.writes or 0
        known = reads + writes > 0
        percent = 100 * reads / (reads + writes) if known else 100 * self.read_share
        pauses = f"/d{self.delay_a_ns or 0}-{self.delay_b_ns or 0}" if self.has_pauses else ""
        return f"{percent:.1f}".removesuffix(".0") + f"r{pauses}"

    @property
    def has_pauses(self) -> bool:
        """Whether threads of any group pause."""
        return bool(self.delay_a_ns or self.delay_b_ns)


class TiersRequested(TiersWork, frozen=True, kw_only=True):
    """Work of one group of threads, or a load from what it reads, while both are at work."""

    threads: int | None = None
    """Of both groups."""
    group: str = ""
    """a or b."""
    group_threads: int | None = None
    b_threads: int | None = None
    """Of group B: the split."""
    source: str = ""
    """Memory that the group reads,"""
    destination: str = ""
    """and that it writes."""
    memory: str = ""
    """Both, where they are the same."""
    pages: str = ""
    element: str = ""
    store: str = ""
    """Empty: left to the kernel, or temporal."""
    fixed_iterations: int | None = None
    """Iterations of each thread; None: all work for a common time."""


class TiersActual(Backing, frozen=True, kw_only=True):
    """Where the threads of a group ran, and what they did."""

    cpus: str = ""
    """Of the team; the probe's first."""
    probe_cpu: int | None = None
    group_cpus: str = ""
    array_bytes: int | None = None
    """Of each array of each thread."""
    iteration_bytes: int | None = None
    """Of each array."""
    lead_in_iterations: int | None = None
    footprint_bytes: int | None = None
    """Of the ring that the probe walks in each memory."""
    llc_bytes: int | None = None
    """The largest last-level cache of a thread; None: the system hides it."""
    source_pages: str = ""
    source_node: int | None = None
    destination_pages: str = ""
    destination_node: int | None = None
    variant: str = ""
    """Of a kernel, as access and instructions: standard or tuned."""
    access: str = ""
    isa: str = ""
    unroll: int | None = None
    streams: int | None = None
    store: str = ""
    """Empty: a mix that writes nothing."""
    delay_units: int | None = None
    """Of a mix, the pause in units of the generator,"""
    delay_ns: float | None = None
    """and as it was measured; missing where there is none."""
    pass_ns: int | None = None
    """Duration of one sampling pass; missing with fixed iterations."""
    transfer_bytes: int | None = None
    """Of one transfer to or from a GPU in group B, and of each buffer."""
    clock_error_ns: float | None = None
    """By which all stamps of the GPU may be shifted on the host's clock."""
    probe_took_cpu: bool | None = None
    """The team has a thread less, because its latency is probed. Recorded of a team's first
    point."""
    pages_a: str = ""
    """Pages of both groups, where both have arrays. Recorded of a team's first point."""
    pages_b: str = ""
