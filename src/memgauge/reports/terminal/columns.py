"""How wide the columns of a printed table are: figures whole, words wrapped where they must."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len

from memgauge.analysis.section import Column
from memgauge.reports import cells

_GAP = 3
"""Spaces between two columns of a table."""

_WRAPPED = 10
"""Width at which words in a table may wrap."""


def widths(
    columns: list[Column], written: list[list[str]], numeric: list[bool], room: int
) -> list[int] | None:
    """The width of each column, in characters; None where the table does not fit.

    Args:
        columns: Columns of the table, whose headings may wrap.
        written: Cells as text, one list for each column.
        numeric: Whether a column holds figures, which never wrap, in the order of `columns`.
        room: Characters in a line, gaps between columns included.
    """
    least = list(map(_least, columns, written, numeric))
    left = room - _GAP * (len(columns) - 1)
    if sum(least) > left:
        return None
    whole = [max(map(cell_len, column_cells)) for column_cells in written]
    headed = [
        max(most, cell_len(cells.heading(column)))
        for most, column in zip(whole, columns, strict=True)
    ]
    return _grown(_grown(least, whole, left), headed, left)


def wrapped(cell: str, width: int) -> list[str]:
    """The lines of a cell, broken at spaces and hyphens; longer words stay whole."""
    if cell_len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False) or [cell]


def _grown(start: list[int], most: list[int], room: int) -> list[int]:
    """What is left of the room goes where a column lacks most."""
    grown = list(start)
    for _ in range(room - sum(start)):
        at = max(range(len(grown)), key=lambda at: most[at] / grown[at])
        if grown[at] >= most[at]:
            break
        grown[at] += 1
    return grown


def _least(column: Column, written: list[str], numeric: bool) -> int:
    """Columns that one table column needs: its figures whole, its words wrapped."""
    heads = [min(cell_len(word), _WRAPPED) for word in cells.heading(column).split()]
    whole = [cell_len(cell) for cell in written]
    return max([1, *heads, *(whole if numeric else [min(width, _WRAPPED) for width in whole])])
