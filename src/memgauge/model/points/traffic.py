"""What `traffic` records about its points."""

from __future__ import annotations

from memgauge.model.nests import EXTENTS, Extents
from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing


class TrafficRequested(Facts, frozen=True, kw_only=True):
    """A loop nest of one size."""

    kernel: str = ""
    size: int | None = None
    """N, see `memgauge.model.nests`."""
    batched: bool | None = None
    """One thread on each physical core; None: a GPU executes it."""
    grid: str = ""
    """Of ranks that share the 3-D FFT of a re-sorting routine; empty for other kernels."""
    cap: int | None = None
    """Rows and columns of GEMV's matrix at most."""
    store_prefetch: bool | None = None
    machines: str = ""
    """Those whose caches are simulated, between commas; `none` where there are none."""
    repetitions: str = ""
    """auto, study, or a number."""
    memory: str = ""
    pages: str = ""


class NestExtents(Facts, frozen=True, kw_only=True):
    """Extents of the loop nest in elements; those that it does not have are missing."""

    m: int | None = None
    n: int | None = None
    cap: int | None = None
    stride: int | None = None
    planes: int | None = None
    rows: int | None = None
    cols: int | None = None
    x: int | None = None
    y: int | None = None

    @property
    def known(self) -> Extents:
        """Those that it has."""
        found = {name: getattr(self, name) for name in EXTENTS}
        return {name: extent for name, extent in found.items() if extent is not None}


class NestArrays(Facts, frozen=True, kw_only=True):
    """Bytes of each array of the nest by its name; those that it does not have are missing."""

    A_bytes: int | None = None
    B_bytes: int | None = None
    C_bytes: int | None = None
    a_bytes: int | None = None
    b_bytes: int | None = None
    c_bytes: int | None = None
    x_bytes: int | None = None
    y_bytes: int | None = None
    in_bytes: int | None = None
    tmp_bytes: int | None = None
    out_bytes: int | None = None


class TrafficActual(Backing, frozen=True, kw_only=True):
    """Who executes the nest, what it moves, and how it is repeated."""

    cpus: str = ""
    """Empty: a GPU executes it, or nothing is run."""
    read_bytes: int | None = None
    """Of the elements that one execution by all threads reads, each once."""
    write_bytes: int | None = None
    cached_bytes: int | None = None
    """What one thread may keep in the caches; None: hidden, or nothing is run."""
    simulated_in_part: str = ""
    """Machines, between commas, of which a part is simulated and its figures multiplied."""
    not_counted: str = ""
    """Why there are no counters. Recorded of a group's first point."""
    left_out: str = ""
    """Why the size is not measured."""
    regions: int | None = None
    """That are enough; 0: the size is not measured."""
    copies: int | None = None
    """Sets of its arrays that are used in turn."""
    copies_wanted: int | None = None
    """So many would let twice the caches' bytes pass between two uses of a set."""
    pool_bytes: int | None = None
    """Of all sets."""
    caches_bytes: int | None = None
    """Of all caches that the threads can use."""
    lead_in: int | None = None
    """Executions before a region."""
    lead_in_wanted: int | None = None
    """So many would let the caches' bytes pass once."""
    repetitions: int | None = None
    """Executions in a region."""
