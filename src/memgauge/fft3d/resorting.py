"""The four re-sorting routines on a caller's arrays: the core's loop nests, and NumPy's transposes.

The transposes say in one line what the nests do in loops; tests hold the two against each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from memgauge.analysis.fft3d.shape import Resort
from memgauge.system.native import load_core

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex


class Resorting(Protocol):
    """An implementation of re-sorting: `given` is in the old order, `stored` in the new order."""

    def __call__(self, resort: Resort, given: Complex, stored: Complex) -> None:
        """Both are flat, contiguous, and of as many elements as the extents make."""


_ORDERS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "s1cf": (("planes", "rows", "cols"), (2, 0, 1)),
    "s1pf": (("cols", "rows", "planes"), (2, 0, 1)),
    "s1cf-first": (("planes", "rows", "cols"), (0, 1, 2)),
    "s1cf-second": (("planes", "rows", "cols"), (2, 0, 1)),
    "s1pf-first": (("cols", "rows", "planes"), (0, 1, 2)),
    "s1pf-second": (("cols", "rows", "planes"), (2, 0, 1)),
    "s2cf": (("y", "planes", "x", "rows"), (1, 2, 0, 3)),
    "s2pf": (("y", "cols", "x", "rows"), (1, 2, 0, 3)),
}
"""By kind: the extents of what is given, outermost first, and the order of what is stored."""


def by_transpose(resort: Resort, given: Complex, stored: Complex) -> None:
    """Re-sort with NumPy.

    Args:
        resort: The routine and its extents.
        given: Flat array in the old order, which is only read.
        stored: Flat array of the same length that receives the new order.
    """
    names, order = _ORDERS[resort.kind]
    shape = tuple(resort.extents[name] for name in names)
    stored.reshape(tuple(shape[axis] for axis in order))[...] = given.reshape(shape).transpose(
        order
    )


TILED = frozenset({"s1cf", "s1pf"})
"""Kinds whose stores are strided: the others walk both arrays in order."""


def by_nest(resort: Resort, given: Complex, stored: Complex, *, tile: int = 0) -> None:
    """Re-sort with the core's loop nest, the same code whose traffic is expected and simulated.

    Args:
        resort: The routine and its extents.
        given: Flat array in the old order, which is only read.
        stored: Flat array of the same length that receives the new order.
        tile: For kinds in `TILED`, the elements of a row of `given` that are taken at a time, so
            that lines of both arrays are used whole; 0 takes whole rows, as the study's loops do.
    """
    core: Any = load_core()
    tiles = {"tile": tile} if tile and resort.kind in TILED else {}
    spec = core.NestSpec(resort.kind, **resort.extents, **tiles)
    core.execute_nest(spec, [given, stored])
