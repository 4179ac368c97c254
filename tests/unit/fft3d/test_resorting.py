"""Each index order as a plain formula, against both ways to re-sort."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from memgauge.analysis.fft3d.shape import Pencils, Resort
from memgauge.fft3d.resorting import by_nest, by_transpose
from memgauge.model.grid import Grid

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")

WAYS = [
    by_transpose,
    *(
        pytest.param(partial(by_nest, tile=tile), id=f"tile {tile}", marks=pytest.mark.native)
        for tile in (0, 1, 4, 8, 100)
    ),
]


def s1(resort: Resort, outer: str, middle: str, inner: str, given: Any) -> Any:
    """out[inner][outer][middle] = in[outer][middle][inner]."""
    o, m, i = (resort.extents[name] for name in (outer, middle, inner))
    stored = np.empty_like(given)
    for at_o, at_m, at_i in product(range(o), range(m), range(i)):
        stored[at_i * o * m + at_o * m + at_m] = given[at_o * m * i + at_m * i + at_i]
    return stored


def s2(resort: Resort, outer: str, given: Any) -> Any:
    """in[y][outer][x][rows], walked outer, x, y, rows; out in order."""
    p, x, y, r = (resort.extents[name] for name in (outer, "x", "y", "rows"))
    walked = product(range(p), range(x), range(y), range(r))
    return np.array(
        [given[((at_y * p + at_p) * x + at_x) * r + at_r] for at_p, at_x, at_y, at_r in walked]
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grid", [Grid(1, 1), Grid(2, 3), Grid(3, 2), Grid(1, 6), Grid(6, 1)])
@pytest.mark.parametrize("size", [6, 12])
def test_the_four_are_the_studys_index_orders(
    way: Callable[[Resort, Any, Any], None], grid: Grid, size: int
) -> None:
    pencils = Pencils(size=size, grid=grid)
    given = np.arange(pencils.local_elements) * (1 - 2j) + 0.5
    first, second, third, fourth = pencils.resorts
    expected = [
        s1(first, "planes", "rows", "cols", given),
        s2(second, "planes", given),
        s1(third, "cols", "rows", "planes", given),
        s2(fourth, "cols", given),
    ]
    for resort, answer in zip(pencils.resorts, expected, strict=True):
        stored = np.zeros_like(given)
        way(resort, given, stored)
        np.testing.assert_array_equal(stored, answer, err_msg=resort.name)


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("grid", [Grid(1, 1), Grid(2, 3)])
def test_two_nests_come_to_what_the_fused_one_does(
    way: Callable[[Resort, Any, Any], None], grid: Grid
) -> None:
    fused, two = (Pencils(size=12, grid=grid, nests=nests) for nests in ("fused", "two"))
    given = np.arange(fused.local_elements) * (1 - 2j) + 0.5
    for (whole,), nests in zip(fused.routines, two.routines, strict=True):
        answer, found = np.zeros_like(given), given
        way(whole, given, answer)
        for nest in nests:
            stored = np.zeros_like(given)
            way(nest, found, stored)
            found = stored
        np.testing.assert_array_equal(found, answer, err_msg=whole.name)


def test_extents_make_the_local_array() -> None:
    pencils = Pencils(size=24, grid=Grid(2, 4))
    for resort in pencils.resorts:
        assert np.prod(list(resort.extents.values())) == pencils.local_elements


def test_bytes_sent_leave_out_what_stays() -> None:
    pencils = Pencils(size=24, grid=Grid(2, 4))
    assert pencils.local_bytes == 24**3 * 16 // 8
    assert pencils.sent_bytes(1) == pencils.local_bytes * 3 // 4
    assert pencils.sent_bytes(2) == pencils.local_bytes // 2
    assert Pencils(size=24, grid=Grid(1, 1)).sent_bytes(1) == 0
