"""Which grids and sizes a job can have, and which part of the array each rank holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid, check_divides, square_grids


class Block(msgspec.Struct, frozen=True):
    """The part of an array on one rank: ranges of its first and second index, all of its third.

    Before the transform the indices are x, y, z; after it y, z, x.
    """

    first: range
    second: range


def block_of(pencils: Pencils, rank: int) -> Block:
    """Of either array; the grid's rows cut the first index, its columns the second."""
    row, column = divmod(rank, pencils.grid.columns)
    high, wide = pencils.size // pencils.grid.rows, pencils.size // pencils.grid.columns
    return Block(
        range(row * high, (row + 1) * high),
        range(column * wide, (column + 1) * wide),
    )


def cut(size: int, ranks: int, grid: Grid | None) -> Pencils:
    """A transform of this size on this many ranks.

    Args:
        size: Number of points in each of the three dimensions.
        ranks: Number of ranks, all of which take part.
        grid: Requested grid; None chooses the most nearly square one that divides the size.

    Raises:
        RequestError: the grid needs another number of ranks, has more ranks than there are pencils,
            or does not divide the size.
    """
    if grid is not None and grid.ranks != ranks:
        raise RequestError(_other_ranks(grid, ranks))
    grids = [grid] if grid is not None else square_grids(ranks)
    chosen = next((one for one in grids if size % one.divisor == 0), grids[0])
    if max(chosen.rows, chosen.columns) > size:
        raise RequestError(
            f"--grid {chosen}: has more ranks than pencils: --size {size} can be cut into at most "
            f"{size} parts in each dimension; use a larger size or start fewer ranks"
        )
    check_divides(chosen, size, "--size")
    return Pencils(size=size, grid=chosen)


def _other_ranks(grid: Grid, ranks: int) -> str:
    running = "one rank runs" if ranks == 1 else f"{ranks} ranks run"
    return (
        f"--grid {grid}: needs {grid.ranks} ranks, but {running}; start it with 'mpirun -n "
        f"{grid.ranks}' or give --grid {square_grids(ranks)[0]}"
    )


def rank_counts(ranks: int) -> list[int]:
    """1, 2, 4 and so on, and all of them: the steps of a scaling table."""
    doubling = [1 << power for power in range(ranks.bit_length()) if 1 << power < ranks]
    return [*doubling, ranks]


def strong_steps(size: int, ranks: int) -> list[Pencils]:
    """The same size on growing numbers of ranks; RequestError as `cut`."""
    return [cut(size, count, None) for count in rank_counts(ranks)]


def weak_steps(size: int, ranks: int) -> list[Pencils]:
    """About as many points for each rank as `size` gives one, on growing numbers of ranks.

    Sizes are the nearest that the grid divides, so the work of a rank differs a little between
    steps; analyses compare rates, not times.
    """
    return list(_weak(size, rank_counts(ranks)))


def _weak(size: int, counts: Sequence[int]) -> Iterator[Pencils]:
    for count in counts:
        grid = square_grids(count)[0]
        wanted = size * math.cbrt(count)
        nearest = max(1, round(wanted / grid.divisor)) * grid.divisor
        yield Pencils(size=nearest, grid=grid)
