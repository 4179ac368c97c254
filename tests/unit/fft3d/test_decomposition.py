import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.fft3d.decomposition import (
    block_of,
    cut,
    rank_counts,
    strong_steps,
    weak_steps,
)
from memgauge.model.errors import RequestError
from memgauge.model.grid import Grid, grid_of

grids = st.builds(Grid, st.integers(1, 6), st.integers(1, 6))


@given(grids, st.integers(1, 5))
def test_blocks_hold_every_pencil_once(grid: Grid, times: int) -> None:
    pencils = Pencils(size=grid.divisor * times, grid=grid)
    blocks = [block_of(pencils, rank) for rank in range(grid.ranks)]
    held = [place for block in blocks for place in itertools.product(block.first, block.second)]
    assert sorted(held) == list(itertools.product(range(pencils.size), repeat=2))
    assert {len(block.first) * len(block.second) * pencils.size for block in blocks} == {
        pencils.local_elements
    }


def test_another_grid_is_taken_where_the_most_square_does_not_divide() -> None:
    assert cut(9, 9, None).grid == Grid(3, 3)
    assert cut(8, 4, None).grid == Grid(2, 2)
    assert cut(12, 12, None).grid == Grid(3, 4)
    assert cut(16, 16, None).grid == Grid(4, 4)
    # 6x6 does not divide 36 ranks' size 12 any worse than 4x9 would; 2x3 is all that divides 6.
    assert cut(6, 6, None).grid == Grid(2, 3)


@pytest.mark.parametrize(
    ("size", "ranks", "grid", "said"),
    [
        (250, 8, "2x4", "--size 250: the grid 2x4 does not divide it; .* 248 and 252"),
        (3, 5, None, "--grid 1x5: has more ranks than pencils: .* cut into at most 3 parts"),
        (2, 12, "2x6", "--grid 2x6: has more ranks than pencils"),
        (64, 4, "2x4", r"--grid 2x4: needs 8 ranks, but 4 ranks run; .*'mpirun -n 8'.*--grid 2x2"),
        (64, 1, "2x4", "one rank runs"),
        (1, 2, None, "--grid 1x2: has more ranks than pencils"),
    ],
)
def test_what_cannot_be_cut_is_refused_in_one_line(
    size: int, ranks: int, grid: str | None, said: str
) -> None:
    with pytest.raises(RequestError, match=said) as raised:
        cut(size, ranks, grid_of(grid) if grid else None)
    assert "\n" not in str(raised.value)


def test_a_size_below_the_smallest_names_one_alone() -> None:
    with pytest.raises(RequestError, match=r"the nearest sizes that it divides: 6$"):
        cut(5, 6, Grid(2, 3))


@pytest.mark.parametrize(
    ("ranks", "steps"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]
)
def test_steps_double_and_end_with_all_ranks(ranks: int, steps: list[int]) -> None:
    assert rank_counts(ranks) == steps
    assert [one.grid.ranks for one in weak_steps(16, ranks)] == steps


def test_strong_steps_keep_the_size() -> None:
    assert {one.size for one in strong_steps(64, 8)} == {64}
    with pytest.raises(RequestError, match="does not divide"):
        strong_steps(63, 8)


@given(st.integers(4, 300), st.integers(1, 64))
def test_weak_steps_keep_the_work_of_a_rank_nearly(size: int, ranks: int) -> None:
    for one in weak_steps(size, ranks):
        assert one.size % one.grid.divisor == 0
        wanted = size * one.grid.ranks ** (1 / 3)
        assert abs(one.size - wanted) <= max(one.grid.divisor / 2, one.grid.divisor - wanted) + 1e-6
