"""What stands in a table, to be asserted."""

from memgauge.analysis.section import Cell, Table
from memgauge.analysis.statistics.estimate import Estimate


def rows(table: Table) -> list[dict[str, Cell]]:
    """Cells by the title of their column."""
    return [dict(zip([c.title for c in table.columns], r, strict=True)) for r in table.rows]


def value(cell: Cell) -> float:
    """Of an estimate, which lies in its interval."""
    assert isinstance(cell, Estimate)
    assert cell.low <= cell.value <= cell.high
    return cell.value
