"""The rows of a recorded watch, one after the other, in the memory of one block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from memgauge.analysis.profile.rates import ordered_blocks
from memgauge.model.errors import RunFileError
from memgauge.model.storage.lane_file import BEGIN, END, FIRST_SLOT, Block, LaneReader


class Row(msgspec.Struct, frozen=True):
    """One reading, raw."""

    begin_ns: int
    end_ns: int
    values: list[int | None]


def rows_of(path: Path, slots: int, notes: list[str]) -> Iterator[Row]:
    """All rows in order.

    Args:
        path: File of the lane.
        slots: Of its counter set.
        notes: Takes what had to be left out, once all rows were read.
    """
    try:
        reader = LaneReader(path, slots)
    except RunFileError as error:
        notes.append(str(error))
        return
    for _, block in ordered_blocks(reader):
        try:
            columns = [_values(block, FIRST_SLOT + slot) for slot in range(slots)]
        except RunFileError as error:
            reader.note(f"a block was left out: {error}")
            continue
        stamps = zip(block.values(BEGIN), block.values(END), strict=True)
        for at, (begin_ns, end_ns) in enumerate(stamps):
            yield Row(begin_ns, end_ns, [column[at] for column in columns])
    notes += reader.notes


def _values(block: Block, column: int) -> list[int | None]:
    values: list[int | None] = [*block.values(column)]
    present = block.present(column)
    if present is None:
        return values
    return [value if there else None for value, there in zip(values, present, strict=True)]
