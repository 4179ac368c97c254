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
FUSED, TWO_NESTS = "fused", "two"
"""How the first and the third of them are written: as one loop nest, or as two."""
COPY_IN = "copy in"
COPY_OUT = "copy out"
"""To and from a GPU, around each FFT there."""
FFT_PHASES = (COPY_IN, FFT, COPY_OUT)

_TRANSFORM = re.compile(r"transform, ([1-9][0-9]{0,8}) ranks?(?:, N = ([1-9][0-9]{0,8}))?")


class Resort(msgspec.Struct, frozen=True, kw_only=True):
    """A loop nest of a re-sorting routine on one rank, and its extents in elements."""

    name: str
    """Of the phase."""
    kind: str
    """Of the nest: s1cf, s2cf, s1pf or s2pf, or s1cf-first and so on."""
    extents: dict[str, int]


class Pencils(msgspec.Struct, frozen=True, kw_only=True):
    """A transform of so many points each way on a grid that divides them."""

    size: int
    grid: Grid
    nests: str = FUSED
    """`FUSED` or `TWO_NESTS`."""

    @property
    def arrays(self) -> int:
        """Arrays of each rank: one that is sent, one that receives, and what lies between nests."""
        return 3 if self.nests == TWO_NESTS else 2

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
    def routines(self) -> list[list[Resort]]:
        """The four, in their order, each as its loop nests: one, or of S1CF and S1PF two.

        See docs/fft3d.md for the layouts between them.
        """
        return [
            self._nests(f"resort {number}", kind) for number, kind in enumerate(RESORTS, start=1)
        ]

    @property
    def resorts(self) -> list[Resort]:
        """All loop nests of the four, in their order."""
        return [nest for routine in self.routines for nest in routine]

    def _nests(self, name: str, kind: str) -> list[Resort]:
        kinds = {name: kind}
        if self.nests == TWO_NESTS and kind.startswith("s1"):
            kinds = {f"{name}, nest 1": f"{kind}-first", f"{name}, nest 2": f"{kind}-second"}
        return [
            Resort(name=name, kind=kind, extents=extents_of(kind, self.size, grid=self.grid))
            for name, kind in kinds.items()
        ]

    def sent_bytes(self, exchange: int) -> int:
        """What one rank sends to others in the first (1) or second (2) All2All."""
        peers = self.grid.columns if exchange == 1 else self.grid.rows
        return self.local_bytes * (peers - 1) // peers


def transform_name(ranks: int, size: int) -> str:
    """Of the region around one whole transform of so many points each way on so many ranks."""
    return f"transform, {format_count(ranks, 'rank')}, N = {size}"


def transform_of(name: str) -> tuple[int, int | None] | None:
    """Ranks and size of the transform that a region of this name is of; None: it is none.

    The size is None in records of earlier versions, whose jobs had one for each number of ranks.
    """
    found = _TRANSFORM.fullmatch(name)
    return (int(found[1]), int(found[2]) if found[2] else None) if found else None
