"""The loop nests with known memory traffic: what they compute, their arrays, their extents by size.

The nests themselves are in the core (`nests.hpp`, `NestSpec`); this module describes them without
it. Source of GEMV, GEMM and the re-sorting routines' index orders: D. Barry and others,
"Memory Traffic and Complete Application Profiling with PAPI Multi-Component Measurements".

The re-sorting routines work on what one rank of an r x c grid has of N x N x N complex doubles.
S1CF has PLANES = N/r, ROWS = N/c, COLS = N. S2CF joins Y = c blocks, one from each rank of a
row of the grid: PLANES = N/c, X = N/r, ROWS = N/c of each. The planewise pair, S1PF and S2PF, has
planes and columns exchanged, and serves the exchange within a column of the grid, so that r and c
are exchanged too. The study gives neither the extents of the second routines nor any details of the
planewise ones: these are assumptions under which the four form a 3-D FFT.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid, check_divides
from memgauge.model.text import did_you_mean, quoted

REAL_BYTES, COMPLEX_BYTES = 8, 16

STUDY_GRID = Grid(2, 4)
"""Grid of ranks that the study measured on: the default of re-sorting routines."""

BLAS_KERNELS = ("gemv", "gemm")
"""Nests that do what a routine of a BLAS library does."""

Extents = dict[str, int]
"""Names of extents in the core's `NestSpec`, in elements:"""
EXTENTS = ("m", "n", "cap", "stride", "planes", "rows", "cols", "x", "y")
"""the extents that follow from a size."""

Walk = Literal["in order", "in strides", "apart"]
"""How the innermost loop walks an array: element by element, in strides, or not at all; then one
element is stored after the loop."""


class NestKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of loop nest."""

    name: str
    words: str
    """Description."""
    size: str
    """Meaning of its size N."""
    extents: tuple[str, ...]
    """Required parameters; `cap` and `tile` are optional."""
    read: tuple[str, ...]
    """Names of its arrays,"""
    written: str
    element_bytes: int = REAL_BYTES
    loads: Walk = "in order"
    stores: Walk = "in order"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays in the order of the operands, the written one last."""
        return (*self.read, self.written)

    @property
    def streams_stores(self) -> bool:
        """Whether stores are sequential and no other array is walked in strides.

        Some processors write such stores past their caches, without reading the overwritten lines.
        """
        return self.stores == self.loads == "in order"

    @property
    def is_resort(self) -> bool:
        """Whether it belongs to the 3-D FFT on a grid of ranks."""
        return self.element_bytes == COMPLEX_BYTES


class NestArray(msgspec.Struct, frozen=True, kw_only=True):
    """One array of a nest of some extents."""

    name: str
    bytes: int
    element_bytes: int
    written: bool


def _stream(name: str, words: str, read: str, written: str) -> NestKind:
    return NestKind(
        name=name,
        words=f"STREAM's {name}: {words} over N doubles",
        size="doubles of each array",
        extents=("n",),
        read=tuple(read),
        written=written,
    )


_SIZE_OF_FFT = "points of the 3-D FFT each way, of which a rank of the grid has its part"


def _first(
    name: str,
    words: str,
    arrays: tuple[str, str],
    loads: Walk = "in order",
    stores: Walk = "in order",
) -> NestKind:
    return NestKind(
        name=name,
        words=words,
        size=_SIZE_OF_FFT,
        extents=("planes", "rows", "cols"),
        read=arrays[:1],
        written=arrays[1],
        element_bytes=COMPLEX_BYTES,
        loads=loads,
        stores=stores,
    )


def _firsts(letter: str, given: str, kept: str) -> list[NestKind]:
    """The first re-sorting routine as two loop nests and as one."""
    name, turned = f"s1{letter}f", given.rsplit(" x ", 1)
    out = f"{turned[1]} x {kept}"
    return [
        _first(
            f"{name}-first",
            f"first loop nest of {name.upper()}: tmp = in, {given}, both in order",
            ("in", "tmp"),
        ),
        _first(
            f"{name}-second",
            f"second loop nest of {name.upper()}: tmp ({given}) to out ({out}), out in order, "
            f"tmp in strides",
            ("tmp", "out"),
            loads="in strides",
        ),
        _first(
            name,
            f"{name.upper()} as one loop nest: in ({given}) to out ({out}), in in order, out in "
            f"strides",
            ("in", "out"),
            stores="in strides",
        ),
    ]


def _second(name: str, outer: str) -> NestKind:
    shown = {"cols": "columns"}.get(outer, outer)
    return NestKind(
        name=name,
        words=f"{name.upper()}: in (y x {shown} x x x rows) to out ({shown} x x x y x rows), out "
        f"in order, in by whole rows",
        size=_SIZE_OF_FFT,
        extents=("y", outer, "x", "rows"),
        read=("in",),
        written="out",
        element_bytes=COMPLEX_BYTES,
    )


KINDS: dict[str, NestKind] = {
    kind.name: kind
    for kind in (
        NestKind(
            name="gemv",
            words="matrix times vector: y = A x by inner products, the rows of A in order; capped, "
            "A has min(M, cap) rows, and row i is row i % cap",
            size="rows M of y; A is square up to the cap",
            extents=("m", "n"),
            read=("A", "x"),
            written="y",
            stores="apart",
        ),
        NestKind(
            name="gemm",
            words="matrix times matrix: C = A B by inner products, B walked by columns",
            size="rows and columns of each matrix",
            extents=("n",),
            read=("A", "B"),
            written="C",
            loads="in strides",
            stores="apart",
        ),
        _stream("copy", "c = a", "a", "c"),
        _stream("scale", "b = 3 c", "c", "b"),
        _stream("add", "c = a + b", "ab", "c"),
        _stream("triad", "a = b + 3 c", "bc", "a"),
        NestKind(
            name="strided-copy",
            words="copy of N doubles that lie a stride apart",
            size="doubles copied",
            extents=("n", "stride"),
            read=("a",),
            written="b",
            loads="in strides",
            stores="in strides",
        ),
        NestKind(
            name="transpose",
            words="transpose of doubles: b = a, transposed; a in order, b in strides",
            size="rows and columns",
            extents=("m", "n"),
            read=("a",),
            written="b",
            stores="in strides",
        ),
        *_firsts("c", "planes x rows x columns", "planes x rows"),
        *_firsts("p", "columns x rows x planes", "columns x rows"),
        _second("s2cf", "planes"),
        _second("s2pf", "cols"),
    )
}


def parse_kernel(text: str) -> str:
    """The name of a kind; raises RequestError with the nearest."""
    name = text.strip().lower().replace("_", "-")
    if name in KINDS:
        return name
    meant = f"{did_you_mean(name, KINDS)} choose from {', '.join(KINDS)}".lstrip()
    raise RequestError(f"kernel {quoted(text)} is unknown; {meant}")


def extents_of(
    kernel: str,
    size: int,
    *,
    grid: Grid = STUDY_GRID,
    cap: int | None = None,
    stride: int = 16,
) -> Extents:
    """The extents of a kind of nest for size N.

    Args:
        kernel: Name of the kind, as in `KINDS`.
        size: N, whose meaning depends on the kind; see `NestKind.size`.
        grid: Grid of ranks, which only the re-sorting routines use.
        cap: Maximum rows and columns of A, which only GEMV uses; None sets no limit.
        stride: Distance in doubles between copied elements, which only strided-copy uses.

    Raises:
        RequestError: the kind is unknown, or the grid does not divide the size.
    """
    kind = KINDS[parse_kernel(kernel)]
    if kind.is_resort:
        check_divides(grid, size)
        return _of_grid(kind, size, grid)
    match kind.name:
        case "gemv":
            width = min(size, cap or size)
            return {"m": size, "n": width, "cap": width}
        case "transpose":
            return {"m": size, "n": size}
        case "strided-copy":
            return {"n": size, "stride": stride}
        case _:
            return {"n": size}


def _of_grid(kind: NestKind, size: int, grid: Grid) -> Extents:
    colwise = kind.name.startswith(("s1c", "s2c"))
    outer, rows = size // grid.rows, size // grid.columns
    if not colwise:
        outer, rows = rows, outer
    if kind.name.startswith("s1"):
        names = ("planes", "rows", "cols") if colwise else ("cols", "rows", "planes")
        return dict(zip(names, (outer, rows, size), strict=True))
    name = "planes" if colwise else "cols"
    return {"y": size // rows, name: rows, "x": outer, "rows": rows}


def arrays_of(kernel: str, extents: Extents) -> list[NestArray]:
    """The arrays of a kind of nest with these extents, in the order of the operands."""
    kind = KINDS[kernel]
    return [
        NestArray(
            name=name,
            bytes=kind.element_bytes * _elements(kind, name, extents),
            element_bytes=kind.element_bytes,
            written=name == kind.written,
        )
        for name in kind.arrays
    ]


def _elements(kind: NestKind, array: str, extents: Extents) -> int:
    match kind.name, array:
        case "gemv", "A":
            return rows_of_a(extents) * extents["n"]
        case "gemv", "x":
            return extents["n"]
        case "gemv", _:
            return extents["m"]
        case "gemm", _:
            return extents["n"] ** 2
        case "strided-copy", _:
            return (extents["n"] - 1) * extents["stride"] + 1
        case _:
            return math.prod(extents[name] for name in kind.extents)


def rows_of_a(extents: Extents) -> int:
    """Rows of GEMV's matrix that exist."""
    return min(extents["m"], extents.get("cap") or extents["m"])


def trips_of(kernel: str, extents: Extents) -> int:
    """Iterations of the innermost loop."""
    if kernel == "gemm":
        return extents["n"] ** 3
    if kernel == "strided-copy":
        return extents["n"]
    return math.prod(extents[name] for name in KINDS[kernel].extents)
