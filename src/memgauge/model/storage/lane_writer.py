"""Writes the file of a lane that this process samples itself, a block at a time.

The native core writes lanes that its own threads sample; the format is that of
`memgauge.model.storage.lane_file`.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

from memgauge.model.errors import SystemFailure
from memgauge.model.storage.files import open_new
from memgauge.model.storage.lane_file import BLOCK_MAGIC, FIRST_SLOT, MAGIC, Block
from memgauge.model.text import shown

ROWS_PER_BLOCK = 30
"""A killed process loses at most so many."""
_WIDTHS = ((1, "b"), (2, "h"), (4, "i"), (8, "q"))
_LARGEST = (1 << 63) - 1


class LaneWriter:
    """A new lane file.

    Raises:
        SystemFailure: the file exists or cannot be made.
    """

    def __init__(self, path: Path, slots: int) -> None:
        self.path = path
        self.bytes = 0
        """Written so far."""
        self._columns = slots + FIRST_SLOT
        self._rows: list[list[int | None]] = []
        try:
            self._file = open_new(path)
        except OSError as error:
            raise self._failure(error) from error
        self._write(struct.pack("<8sII", MAGIC, self._columns, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, begin_ns: int, end_ns: int, values: Sequence[int | None]) -> None:
        """Take a reading, later than the one before.

        Args:
            begin_ns: When it began, on the run's clock.
            end_ns: When it ended.
            values: Raw values by slot; None where one could not be read.

        Raises:
            SystemFailure: the disk is full or failing.
        """
        bounded = [None if v is None or not 0 <= v <= _LARGEST else v for v in values]
        self._rows.append([begin_ns, end_ns, *bounded])
        if len(self._rows) >= ROWS_PER_BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write what was taken as a block.

        Raises:
            SystemFailure: the disk is full or failing.
        """
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        payload = payload_of(rows, self._columns)
        head = struct.pack("<IIII", BLOCK_MAGIC, len(rows), len(payload), zlib.crc32(payload))
        self._write(head + payload)

    def close(self) -> None:
        """Write the rest and close; a second call does nothing.

        Raises:
            SystemFailure: the disk is full or failing.
        """
        if self._file.closed:
            return
        try:
            self.flush()
        finally:
            self._file.close()

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise self._failure(error) from error
        self.bytes += len(data)

    def _failure(self, error: OSError) -> SystemFailure:
        why = os.strerror(error.errno) if error.errno else str(error)
        return SystemFailure(
            f"{shown(self.path)}: cannot be written: {why}; what was recorded before is kept; free "
            "some space, or name another --output"
        )


class RecordedLane:
    """Readings that stand in a record, as the blocks of a lane's file."""

    def __init__(self, rows: Sequence[Sequence[int | None]]) -> None:
        """Take all of them.

        Args:
            rows: One reading at least: when it began and ended in ns, then its raw slots.
        """
        columns = len(rows[0])
        self._block = Block(len(rows), payload_of(rows, columns), columns)
        self.notes: list[str] = []

    def note(self, what: str) -> None:
        """Note an omission."""
        self.notes.append(what)

    def blocks(self) -> Iterator[Block]:
        """The one block."""
        yield self._block


def payload_of(rows: Sequence[Sequence[int | None]], columns: int) -> bytes:
    """Readings as the payload of a block.

    Args:
        rows: Stamps and raw values of each; None where one could not be read.
        columns: Of each.
    """
    return b"".join(_column([row[at] for row in rows]) for at in range(columns))


def _column(values: Sequence[int | None]) -> bytes:
    """Width, flags, first value, bitmap of what is there, differences."""
    known = [value for value in values if value is not None]
    has_gaps = len(known) < len(values)
    filled: list[int] = []
    last = known[0] if known else 0
    for value in values:
        last = last if value is None else value
        filled.append(last)
    steps = [later - earlier for earlier, later in pairwise(filled)]
    width, code = _width(steps)
    made = struct.pack("<BBq", width, int(has_gaps), filled[0])
    if has_gaps:
        made += _bitmap([value is not None for value in values])
    if width:
        differences = array(code, steps)
        if sys.byteorder == "big":
            differences.byteswap()
        made += differences.tobytes()
    return made


def _width(steps: Sequence[int]) -> tuple[int, str]:
    if not any(steps):
        return 0, ""
    low, high = min(steps), max(steps)
    return next(
        (width, code)
        for width, code in _WIDTHS
        if -(1 << (8 * width - 1)) <= low and high < 1 << (8 * width - 1)
    )


def _bitmap(present: Sequence[bool]) -> bytes:
    made = bytearray((len(present) + 7) // 8)
    for at, there in enumerate(present):
        made[at // 8] |= there << at % 8
    return bytes(made)
