import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid, check_divides, grid_of, nearest_sizes, square_grids


@given(st.integers(1, 400), st.integers(1, 64))
def test_the_nearest_sizes_are_divided_and_lie_around(size: int, divisor: int) -> None:
    found = nearest_sizes(size, divisor)
    assert all(one % divisor == 0 and one > 0 for one in found)
    assert found[-1] > size
    assert all(abs(one - size) <= divisor for one in found)


@given(st.integers(1, 500))
def test_the_first_grid_is_the_most_square(ranks: int) -> None:
    found = square_grids(ranks)
    assert all(grid.ranks == ranks and grid.rows <= grid.columns for grid in found)
    assert [grid.rows for grid in found] == sorted((g.rows for g in found), reverse=True)
    assert found[-1] == Grid(1, ranks)


@pytest.mark.parametrize("text", ["2x4", " 16x1 "])
def test_a_grid_is_read(text: str) -> None:
    found = grid_of(text)
    assert found is not None
    assert str(found) == text.strip()


@pytest.mark.parametrize(
    "text", ["", "2", "2x", "0x4", "2x4x1", "-2x4", "2X4", "2 x 4", "9999999x1"]
)
def test_what_is_no_grid_is_none(text: str) -> None:
    assert grid_of(text) is None


@given(st.builds(Grid, st.integers(1, 9), st.integers(1, 9)), st.integers(1, 200))
def test_a_grid_divides_the_multiples_of_its_divisor(grid: Grid, size: int) -> None:
    if size % grid.rows == 0 and size % grid.columns == 0:
        check_divides(grid, size)
    else:
        with pytest.raises(RequestError, match=rf"^size {size}: the grid {grid} does not divide"):
            check_divides(grid, size)
