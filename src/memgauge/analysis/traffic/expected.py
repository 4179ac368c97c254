"""What a loop nest must read and write, in closed form, and the sizes at which caching ends.

Of one execution by one core, with caches that hold nothing of its arrays before, and all that is
changed written in the end. *Expected*: while caches hold what the nest comes back to, each array
that is read is read once, what is written is read once before (write-allocate) and written once:
3 N^2 and N^2 elements of GEMM, M N + M + N and M of GEMV, 2 and 1 for each element of a re-sorting
routine. Of the capped GEMV every walk over A counts, for the cap is there to exceed the caches.
A GPU reads nothing before it is written: its second-level cache writes sectors of 32 bytes by
themselves (NVIDIA, "Nsight Compute: Kernel Profiling Guide", memory tables).
*Past* the caches the nest comes back to what has left them: each time a whole sector is moved for
it, or the array anew.

Source of the element counts and of the bands: D. Barry and others, "Memory Traffic and Complete
Application Profiling with PAPI Multi-Component Measurements", sections II to IV. What is past the
caches for other nests than S1CF's second follows from their index orders, by the same thought.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.model.grid import grid_of
from memgauge.model.nests import (
    COMPLEX_BYTES,
    KINDS,
    REAL_BYTES,
    Extents,
    arrays_of,
    trips_of,
)
from memgauge.model.points.traffic import NestExtents, TrafficRequested
from memgauge.model.records import Point

SECTOR_BYTES = 64
"""What memory moves at a time: a line, or the half of one of 128 bytes."""

GPU_SECTOR_BYTES = 32
"""Of a GPU's caches, and what they get from its memory at least."""

LARGEST_SIZE = 1 << 40
"""A band that begins beyond is none."""


class Nest(msgspec.Struct, frozen=True, kw_only=True):
    """A loop nest of one size, as a point of `traffic` describes it."""

    kernel: str
    extents: Extents
    grid: str = ""
    """Of ranks, of a re-sorting routine."""
    cap: int | None = None
    prefetched: bool = False
    """Stores are."""
    gpu: str = ""
    """The GPU that executes it in its memory, such as `cuda:0`; empty: cores do."""
    library: str = ""
    """The BLAS library that computes what the nest does; empty: the nest is executed."""


class ExpectedArray(msgspec.Struct, frozen=True, kw_only=True):
    """What is expected of one array."""

    bytes: int
    element_bytes: int
    read_bytes: int
    """While cached,"""
    past_read_bytes: int
    """past the caches."""
    write_bytes: int = 0
    past_write_bytes: int = 0


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What is expected of one execution."""

    kernel: str
    elements: int
    """Of the result."""
    element_bytes: int
    trips: int
    """Of the innermost loop."""
    arrays: dict[str, ExpectedArray]
    """In the order of the operands."""

    @property
    def read_bytes(self) -> int:
        """Of all arrays, while cached."""
        return sum(array.read_bytes for array in self.arrays.values())

    @property
    def write_bytes(self) -> int:
        """While cached."""
        return sum(array.write_bytes for array in self.arrays.values())

    @property
    def past_read_bytes(self) -> int:
        """Past the caches, at most."""
        return sum(array.past_read_bytes for array in self.arrays.values())

    @property
    def past_write_bytes(self) -> int:
        """Past the caches, at most."""
        return sum(array.past_write_bytes for array in self.arrays.values())

    @property
    def load_bytes(self) -> int:
        """Read for loads, while cached: all but what stores read."""
        return sum(array.read_bytes for array in self.arrays.values() if not array.write_bytes)


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes N over which caching ends.

    Of GEMM as the study has it. Of other nests what counts is what they touch until they come back
    to a sector: that of the array they come back to, and that of the others meanwhile.
    """

    all_fit: int
    """The largest at which all arrays, or all that is touched meanwhile, fit,"""
    one_fits: int
    """and at which one does: B, or the one come back to."""


def expected(  # noqa: PLR0913 - all but two by name
    kernel: str,
    extents: Extents,
    *,
    bypass: bool = False,
    prefetched: bool = False,
    allocates: bool = True,
    blocked: bool = False,
    sector_bytes: int = SECTOR_BYTES,
) -> Expected:
    """What a kind of nest of these extents must move.

    Args:
        kernel: Name of the kind, a key of `KINDS`.
        extents: Extents that the kind requires, by name, in elements.
        bypass: Whether the processor writes streams of stores past its caches. It does so only
            where nothing is walked in strides.
        prefetched: Whether stores are prefetched; such stores do not bypass, for their lines are
            already in the caches.
        allocates: Whether what is stored is read first, unless it bypasses; a GPU reads none of it.
        blocked: Whether a library arranges what comes back so that caches hold it: nothing more is
            expected past the caches.
        sector_bytes: Bytes that memory transfers at a time.
    """
    kind = KINDS[kernel]
    found = {}
    for array in arrays_of(kernel, extents):
        once = _once(kernel, array.bytes, extents, sector_bytes)
        read = _walked(extents) if (kernel, array.name) == ("gemv", "A") else once
        past = (None if blocked else _past(kernel, array.name, extents, sector_bytes)) or read
        streamed = bypass and not prefetched and kind.streams_stores
        bypassed = array.written and (streamed or not allocates)
        found[array.name] = ExpectedArray(
            bytes=array.bytes,
            element_bytes=array.element_bytes,
            read_bytes=0 if bypassed else read,
            past_read_bytes=0 if bypassed else past,
            write_bytes=once if array.written else 0,
            past_write_bytes=past if array.written else 0,
        )
    written = found[kind.written]
    return Expected(
        kernel=kernel,
        elements=extents["n"]
        if kernel == "strided-copy"
        else written.bytes // written.element_bytes,
        element_bytes=kind.element_bytes,
        trips=trips_of(kernel, extents),
        arrays=found,
    )


def nest_of(point: Point) -> Nest | None:
    """What a point of `traffic` executes; None where it describes no nest that there can be."""
    requested = TrafficRequested.of(point.requested)
    extents = NestExtents.of(point.actual).known
    kind = KINDS.get(requested.kernel)
    if kind is None or not set(kind.extents) <= set(extents):
        return None
    cap = 1 if requested.cap is None else requested.cap
    if min(cap, *extents.values()) < 1 or (requested.grid and grid_of(requested.grid) is None):
        return None
    return Nest(
        kernel=kind.name,
        extents=extents,
        grid=requested.grid,
        cap=requested.cap,
        prefetched=requested.store_prefetch is True,
        gpu=gpu_of(point),
        library=requested.blas,
    )


def expected_of(nest: Nest, *, bypass: bool = False) -> Expected:
    """What a nest must move."""
    return expected(
        nest.kernel,
        nest.extents,
        bypass=bypass,
        prefetched=nest.prefetched,
        allocates=not nest.gpu,
        blocked=bool(nest.library),
        sector_bytes=GPU_SECTOR_BYTES if nest.gpu else SECTOR_BYTES,
    )


def _once(kernel: str, array_bytes: int, extents: Extents, sector_bytes: int) -> int:
    """Of what is touched of an array; of elements further apart than sectors, a whole one each."""
    if kernel == "strided-copy" and extents["stride"] * REAL_BYTES > REAL_BYTES:
        return sector_bytes * min(extents["n"], math.ceil(array_bytes / sector_bytes))
    return array_bytes


def _walked(extents: Extents) -> int:
    """Of all rows of A, those that come again as often as they do."""
    return REAL_BYTES * extents["m"] * extents["n"]


def _past(kernel: str, array: str, extents: Extents, sector_bytes: int) -> int | None:
    """Of an array that a nest comes back to, when it has left the caches; None: it does not."""
    match kernel, array:
        case "gemv", "x":  # for each row
            return REAL_BYTES * extents["m"] * extents["n"]
        case "gemv", "y":  # its line leaves between two rows
            return sector_bytes * extents["m"]
        case "gemm", "B":  # for each row of A
            return REAL_BYTES * extents["n"] ** 3
        case "transpose", "b":  # for each row of a
            whole = REAL_BYTES * extents["m"] * extents["n"]
            return extents["m"] * min(extents["n"] * sector_bytes, whole)
    return _past_first_resort(kernel, array, extents, sector_bytes)


def _past_first_resort(kernel: str, array: str, extents: Extents, sector_bytes: int) -> int | None:
    """Of the second loop nest's tmp for each innermost index; of the fused one's out each row."""
    name, _, part = kernel.partition("-")
    inner_of = {"s1cf": "cols", "s1pf": "planes"}
    if name not in inner_of or (part, array) not in {("second", "tmp"), ("", "out")}:
        return None
    inner = extents[inner_of[name]]
    outer = math.prod(extents[name] for name in KINDS[kernel].extents) // inner
    whole = COMPLEX_BYTES * inner * outer
    walks, each = (inner, outer) if part else (outer, inner)
    return walks * min(each * sector_bytes, whole)


def band_of(nest: Nest, cached_bytes: int, *, sector_bytes: int = SECTOR_BYTES) -> Band | None:
    """Sizes over which caches cease to hold what the nest needs again.

    None for nests that never come back to anything, such as plain copies, where no size of the
    nest is too large, as with a capped GEMV of a small cap, and where a library computes it, whose
    loops are not known.

    Args:
        nest: Nest of any size; its kind, grid and cap decide.
        cached_bytes: Bytes that caches keep for one core.
        sector_bytes: Bytes that memory transfers at a time.
    """
    if nest.library:
        return None
    grid = grid_of(nest.grid)
    return band(
        nest.kernel,
        cached_bytes,
        ranks=grid.ranks if grid else 1,
        cap=nest.cap,
        sector_bytes=sector_bytes,
    )


def band(
    kernel: str,
    cached_bytes: int,
    *,
    ranks: int = 1,
    cap: int | None = None,
    sector_bytes: int = SECTOR_BYTES,
) -> Band | None:
    """As `band_of`, for a kind of nest by its size.

    Sizes need not be such that the grid divides them.

    Args:
        kernel: Name of the kind, a key of `KINDS`.
        cached_bytes: Bytes that caches keep for one core.
        ranks: Ranks of the grid of the FFT, for re-sorting routines.
        cap: Largest number of rows and columns of GEMV's matrix; None: not capped.
        sector_bytes: Bytes that memory transfers at a time.
    """
    touched = _touched(kernel, ranks, cap, sector_bytes)
    if touched is None:
        return None
    all_fit, one_fits = (_largest(needed, cached_bytes) for needed in touched)
    if all_fit is None:
        return None
    return Band(all_fit=all_fit, one_fits=LARGEST_SIZE if one_fits is None else one_fits)


Needed = Callable[[int], Fraction]


def _touched(
    kernel: str, ranks: int, cap: int | None, sector_bytes: int
) -> tuple[Needed, Needed] | None:
    """Bytes by the size: of all that must fit, and of the array that is come back to alone."""

    def strided(element_bytes: int, count: Needed) -> tuple[Needed, Needed]:
        return (
            lambda n: count(n) * (sector_bytes + element_bytes),
            lambda n: count(n) * sector_bytes,
        )

    match kernel:
        case "gemm":
            return lambda n: Fraction(3 * REAL_BYTES * n * n), lambda n: Fraction(
                REAL_BYTES * n * n
            )
        case "gemv":  # x, and the row of A walked beside it
            return lambda n: Fraction(2 * REAL_BYTES * min(n, cap or n)), lambda n: Fraction(
                REAL_BYTES * min(n, cap or n)
            )
        case "transpose":
            return strided(REAL_BYTES, Fraction)
        case "s1cf" | "s1pf":
            return strided(COMPLEX_BYTES, Fraction)
        case "s1cf-second" | "s1pf-second":
            return strided(COMPLEX_BYTES, lambda n: Fraction(n * n, ranks))
    return None


def _largest(needed: Needed, cached_bytes: int) -> int | None:
    """The largest size whose needs fit; None: all do."""
    if needed(LARGEST_SIZE) <= cached_bytes:
        return None
    low, high = 0, LARGEST_SIZE
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= cached_bytes else (low, middle)
    return low
