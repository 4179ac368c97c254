"""Grids of ranks in rows and columns, over which a 3-D array is divided."""

from __future__ import annotations

import math
import re

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.option import Option
from memgauge.model.text import quoted

_GRID = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", re.ASCII)


class Grid(msgspec.Struct, frozen=True):
    """Ranks in rows and columns; the rank of row i and column j is i * columns + j."""

    rows: int
    columns: int

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.rows * self.columns

    @property
    def divisor(self) -> int:
        """The grid divides exactly the multiples of this size."""
        return math.lcm(self.rows, self.columns)

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


def grid_of(text: str) -> Grid | None:
    """The grid named by a text such as `2x4`; None if malformed."""
    found = _GRID.fullmatch(text.strip())
    return Grid(int(found[1]), int(found[2])) if found else None


def parse_grid(text: str, option: str) -> Grid:
    """Rows and columns of ranks, such as `2x4`; raises RequestError."""
    grid = grid_of(text)
    if grid is None:
        raise RequestError(
            f"{option} {quoted(text)} is not a grid of ranks; write rows and columns, such as 2x4"
        )
    return grid


def grid_option(help: str, *, automatic: str) -> Option:  # noqa: A002
    """A grid; native value `Grid`, or a pair of numbers."""
    return Option(
        help=help,
        metavar="RxC",
        parse=parse_grid,
        write=_text,
        automatic=automatic,
        natives=(Grid, int, list),
    )


def _text(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def square_grids(ranks: int) -> list[Grid]:
    """All grids of this many ranks with no more rows than columns, the most square first."""
    rows = [row for row in range(1, math.isqrt(ranks) + 1) if ranks % row == 0]
    return [Grid(row, ranks // row) for row in reversed(rows)]


def nearest_sizes(size: int, divisor: int) -> list[int]:
    """The nearest sizes that the grid divides, below and above."""
    below = size // divisor * divisor
    return [one for one in (below, below + divisor) if one > 0]


def check_divides(grid: Grid, size: int, what: str = "size") -> None:
    """Refuse a size that the grid does not divide.

    Args:
        grid: Grid of ranks.
        size: Number of points in each dimension.
        what: What error messages call the size, such as `--size`.

    Raises:
        RequestError: the grid does not divide the size; the message names the nearest that it
            divides.
    """
    if size < 1 or size % grid.divisor:
        nearest = " and ".join(map(str, nearest_sizes(size, grid.divisor)))
        raise RequestError(
            f"{what} {size}: the grid {grid} does not divide it; the nearest sizes that it "
            "divides: "
            f"{nearest}"
        )
