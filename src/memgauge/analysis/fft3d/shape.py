"""What a 3-D FFT cut into pencils is made of: its grid, its phases, and the bytes each must move.

N x N x N complex doubles lie on r x c ranks, N/r x N/c x N on each. The four re-sorting routines
are those of Barry, Jagode, Danalis, Dongarra: Memory Traffic and Complete Application Profiling
with PAPI Multi-Component Measurements (section IV).
"""

from __future__ import annotations

import math
import re

import msgspec

from memgauge.model.grid import Grid
from memgauge.model.nests import extents_of
from memgauge.model.units import format_count

NAME = "fft3d"
ELEMENT_BYTES = 16
"""Of a complex double."""

FFT = "fft"
ALL2ALL = "all2all"
RESORTS = ("s1cf", "s2cf", "s1pf", "s2pf")
"""Kinds of re-sorting in their order."""
COPY_IN = "copy in"
COPY_OUT = "copy out"
"""To and from a GPU, around each FFT there."""
FFT_PHASES = (COPY_IN, FFT, COPY_OUT)

_TRANSFORM = re.compile(r"transform, ([1-9][0-9]{0,8}) ranks?")


class Resort(msgspec.Struct, frozen=True, kw_only=True):
    """One re-sorting routine on one rank: a loop nest of the core and its extents in elements."""

    name: str
    """Of the phase."""
    kind: str
    """Of the nest: s1cf, s2cf, s1pf or s2pf."""
    extents: dict[str, int]


class Pencils(msgspec.Struct, frozen=True, kw_only=True):
    """A transform of so many points each way on a grid that divides them."""

    size: int
    grid: Grid

    @property
    def local_elements(self) -> int:
        """Of one rank."""
        return self.size**3 // self.grid.ranks

    @property
    def local_bytes(self) -> int:
        """Of one rank's array."""
        return ELEMENT_BYTES * self.local_elements

    @property
    def flops(self) -> float:
        """Of the whole, as FFTs are counted: 5 n log2 n."""
        elements = self.size**3
        return 5.0 * elements * math.log2(elements)

    @property
    def resorts(self) -> list[Resort]:
        """The four, in their order. See docs/fft3d.md for the layouts between them."""
        return [
            Resort(
                name=f"resort {number}",
                kind=kind,
                extents=extents_of(kind, self.size, grid=self.grid),
            )
            for number, kind in enumerate(RESORTS, start=1)
        ]

    def sent_bytes(self, exchange: int) -> int:
        """What one rank sends to others in the first (1) or second (2) All2All."""
        peers = self.grid.columns if exchange == 1 else self.grid.rows
        return self.local_bytes * (peers - 1) // peers


def transform_name(ranks: int) -> str:
    """Of the region around one whole transform on so many ranks."""
    return f"transform, {format_count(ranks, 'rank')}"


def transform_ranks(name: str) -> int | None:
    """On how many ranks the transform ran that a region of this name is of; None: it is none."""
    found = _TRANSFORM.fullmatch(name)
    return int(found[1]) if found else None
