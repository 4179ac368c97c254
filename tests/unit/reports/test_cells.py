import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.analysis.section import Cell, Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.reports import cells

SPEED = Column(title="triad", unit="GB/s")
SHARE = Column(title="share", unit="%")
SIZE = Column(title="found", unit="B")


@pytest.mark.parametrize(
    ("cell", "column", "written"),
    [
        (Estimate(50.1, 49.9, 50.3), SPEED, "50.1 ±0.4%"),
        (Estimate(50.0, 40.0, 60.0), SPEED, "50.0 ±20%"),
        (Estimate(50.0, 49.999, 50.001), SPEED, "50.0 ±<0.1%"),
        (Estimate(50.0, 50.0, 50.0), SPEED, "50.0 ±0.0%"),
        (Estimate(0.0, 0.0, 1.0), SPEED, "0.0 ±?"),
        (Estimate(0.5, 0.49, 0.51), SHARE, "50.0 ±1.0"),
        (Estimate(math.nan, math.nan, math.nan), SPEED, "\N{EN DASH} ±?"),
        (None, SPEED, "\N{EN DASH}"),
        (0.25, SHARE, "25.0"),
        (1, SHARE, "100.0"),
        (33554432, SIZE, "32 MiB"),
        (7.5 * 2**20, SIZE, "7.5 MiB"),
        (512, SIZE, "512 B"),
        (0, SIZE, "0 B"),
        (math.inf, SIZE, "inf"),
        (12345, Column(title="samples"), "12,345"),
        (0.004, SPEED, "0.004"),
        (True, SPEED, "yes"),
        (False, SPEED, "no"),
        ("cores", SPEED, "cores"),
    ],
)
def test_a_cell_reads(cell: Cell, column: Column, written: str) -> None:
    assert cells.text(cell, column) == written


def test_what_missed_the_asked_precision_is_marked() -> None:
    assert cells.text(Estimate(50, 48, 52), SPEED, 0.01) == "50.0 ±4.0%*"
    assert cells.text(Estimate(50, 49.9, 50.1), SPEED, 0.01) == "50.0 ±0.2%"
    assert cells.text(Estimate(50, 48, 52), SPEED, None) == "50.0 ±4.0%"
    assert cells.text(Estimate(50, 48, 52), SIZE, 0.01) == "50 B ±4.0%"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 4))
def test_only_zero_reads_zero(value: float, digits: int) -> None:
    written = cells.number(value, digits).replace(",", "")
    assert (float(written) == 0) == (value == 0)


def test_aligned_cells_are_equally_wide() -> None:
    column = [Estimate(150.0, 149, 151), None, Estimate(1.1, 0.9, 1.3), Estimate(2, 2, 2)]
    written = cells.aligned(list(column), SPEED, 0.01)
    assert {len(cell) for cell in written} == {len(written[0])}
    assert [cell.split() for cell in written] == [
        ["150.0", "±0.7%"],
        ["\N{EN DASH}"],
        ["1.1", "±18%*"],
        ["2.0", "±0.0%"],
    ]


def test_units_stand_in_the_heading() -> None:
    assert [cells.heading(column) for column in (SPEED, SHARE, SIZE)] == [
        "triad (GB/s)",
        "share (%)",
        "found",
    ]


@pytest.mark.parametrize(
    ("column", "numeric"),
    [([1.0, None], True), ([None], False), ([], False), ([1, "one"], False), ([True], False)],
)
def test_a_column_of_figures_is_told_from_words(column: list[Cell], numeric: bool) -> None:
    assert cells.is_numeric(column) is numeric
