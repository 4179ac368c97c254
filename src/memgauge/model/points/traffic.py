"""What `traffic` records about its points."""

from __future__ import annotations

import re

from memgauge.model.nests import EXTENTS, Extents
from memgauge.model.points.facts import Facts
from memgauge.model.points.shared import Backing
from memgauge.model.units import format_bytes

_FILE = re.compile(r"(?:lib)?(.+?)(?:\.so(?:\.[0-9.]+)?)?")


def library_label(name: str) -> str:
    """What a requested BLAS library is called: its name, or that of its file.

    Args:
        name: A name such as `openblas`, or the path of a file such as `/opt/lib/libblis.so.4`.
    """
    found = _FILE.fullmatch(name.rpartition("/")[2])
    return found[1] if found else name


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
    blas: str = ""
    """The BLAS library that computes it, as `library_label` calls it; empty: the loop nest does."""
    load_prefetch: bool | None = None
    """None: loads are not prefetched."""
    prefetch_near_bytes: int | None = None
    """How far ahead; None: nothing is prefetched, or, in runs of earlier versions, 512."""
    prefetch_far_bytes: int | None = None
    """Of a second prefetch each; None: there is none."""

    machines: str = ""
    """Those whose caches are simulated, between commas; `none` where there are none."""
    repetitions: str = ""
    """auto, study, or a number."""
    memory: str = ""
    pages: str = ""

    @property
    def prefetch_text(self) -> str:
        """Such as `loads and stores prefetched 512 B ahead`; empty: nothing is prefetched."""
        kinds = ["loads"] * (self.load_prefetch is True) + ["stores"] * (
            self.store_prefetch is True
        )
        if not kinds:
            return ""
        near, far = self.prefetch_near_bytes, self.prefetch_far_bytes
        distances = [format_bytes(one) for one in (near, far) if one is not None]
        ahead = f" {' and '.join(distances)} ahead" if distances else ""
        return f"{' and '.join(kinds)} prefetched{ahead}"


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
    blas_version: str = ""
    """Of the BLAS library, in its own words."""
    blas_file: str = ""
    """That was loaded, links followed."""
    blas_threads: int | None = None
    """Of one call, as the library reports them; None: it does not tell, and started none when it
    was tried."""
    left_out: str = ""
    """Why the size is not measured."""
    regions: int | None = None
    """That are enough; 0: the size is not measured."""
    regions_requested: int | None = None
    """None: as many as the time allows."""
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
