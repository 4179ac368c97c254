"""What `diagnose` records about its points."""

from __future__ import annotations

from memgauge.model.points.facts import Facts, Share
from memgauge.model.points.shared import Backing

PROGRAM = "program"
LATENCY = "latency"
SCATTERED = "scattered"
"""Loads from anywhere in memory, each of which walks the page tables too where pages are small;
those of LATENCY go through it huge page by huge page."""
BANDWIDTH = "bandwidth"
CACHED = "cached"
REFERENCES = (LATENCY, SCATTERED, BANDWIDTH, CACHED)
WAITING = (LATENCY, SCATTERED)
"""Those that wait for each load."""

COMPUTE = "compute"
"""The treatment that pressure is compared with: the generators only calculate."""
COMPUTE_AGAIN = "compute again"
WRITE = "write"
READ = "read"
CACHE = "cache"
THROTTLE = "throttle"
"""Beside arithmetic, with little bandwidth by the processor's own limit (resctrl)."""
FEWER_WAYS = "fewer ways"
"""The same, with few ways of the last-level cache."""
CACHE_PART = 0.5
"""Of the last-level cache, that generators of the treatment `cache` walk over together."""
AS_IT_IS = "as it is"
"""The treatment that variants are compared with."""
AS_IT_IS_AGAIN = "as it is again"
ALL_CPUS = "all CPUs"
"""The usual way, on the CPUs that generators have otherwise too."""


def point_name(subject: str, treatment: str) -> str:
    """Name of the point of the program, or of a reference, under a treatment."""
    return f"diagnose/{subject}/{treatment}"


class DiagnoseRequested(Facts, frozen=True, kw_only=True):
    """A program, or one of the references, under one treatment."""

    subject: str = ""
    """program, or of the references latency, bandwidth or cached."""
    treatment: str = ""
    kind: str = ""
    """pressure: generators run on other CPUs. variant: the program is started otherwise."""
    baseline: str = ""
    """The treatment that this one is compared with; empty: it is a baseline itself."""
    change: str = ""
    """Of a variant: what is different, as a user would write it. Of a limit: its schemata."""
    pages_wanted: str = ""
    """Of a variant: `huge` or `base`, where it changes the pages of the program's memory."""
    nodes_wanted: str = ""
    """Of a variant: the nodes on which it puts the program's memory, as a list of ranges."""
    metric_better: str = ""
    """Of numbers that were printed: more, or less, which empty stands for too."""
    step_of: str = ""
    """Of a part dose: the treatment that applies the same pressure, `write` or `cache`."""
    part: Share | None = None
    """Of a part dose: of all that generators can write, or of the last-level cache."""


class DiagnoseActual(Backing, frozen=True, kw_only=True):
    """Where it ran, and beside what."""

    cpus: str = ""
    """Of the program, or of the thread of a reference."""
    pressure_cpus: str = ""
    """Of the generators; empty: there were none."""
    pressure_bytes: int | None = None
    """Memory that each generator walks over; 0: arithmetic only."""
    pause_units: int | None = None
    """Of a part dose: multiplications, each waiting for the last, after every 16 lines written."""
    unit_bytes: int | None = None
    """Of a variant that places stretches of large blocks by weights of nodes: their length for each
    unit of weight, longer in blocks that would have more than about a thousand of them."""
    passes: int | None = None
    """Rounds wanted."""
    may_end_early: bool | None = None
    """Whether fewer suffice once the treatment is decided: the user named no number of rounds."""
    runs_in_a_pass: int | None = None
    """How often the program runs in each pass."""
    first_run_ns: int | None = None
    """Time of the first run, which is in no figure."""
    footprint_bytes: int | None = None
    """Memory of a reference."""
    llc_bytes: int | None = None
    """Of the last-level cache in front of the program's first CPU; None: the system hides it."""
    tlb_entries: int | None = None
    """Entries of the last level of the TLB for base pages as the kernel reports them, those for
    instructions among them; None: it reports none."""
    region_marks: int | None = None
    """Marks of regions in the first run; None: no region of the program is judged."""
    not_counted: str = ""
    """Of the program: why no counter of memory traffic was read around its runs; empty: one was, or
    nobody asked."""
    same_cache: bool | None = None
    """Whether the topology says that program and generators share a last-level cache."""
    not_tried: str = ""
    """Of the first point: what was not tried and why, a line `name: reason` for each."""
    pid: int | None = None
    """Of a process that ran already; None: the program is a command that was started."""
    process: str = ""
    """Its name."""
