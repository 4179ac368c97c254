r"""Counters sampled over time, read back from the file of a lane, whatever its bytes.

The file, little-endian throughout: a header of 16 bytes (`MGLANE1\n`, u32 columns, u32 zero), then
blocks: u32 `BLK1`, u32 samples, u32 bytes of payload, u32 CRC-32 of it (zlib's), payload. A payload
holds the columns one after the other: when each reading began and ended, in ns on the run's clock,
then the slots of its counters, raw. A column is u8 bytes of a difference, u8 flags (bit 0: says
which values are present), i64 first value, with the flag a bitmap (lowest bit first, 1: present),
then the differences of each value from the one before; of none bytes where all are equal. A missing
value repeats the one before it.

Blocks are read and columns are decoded on demand, so that memory is bounded by one block, however
long a run was and whatever an untrusted file contains. Stamps rise, so that each reading
takes two bytes at least, and the number of readings is bounded by the size of the file.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import BinaryIO, Protocol

from memgauge.model.errors import RunFileError
from memgauge.model.storage.files import open_file
from memgauge.model.text import plain
from memgauge.model.units import format_count

MAGIC = b"MGLANE1\n"
BLOCK_MAGIC = 0x314B4C42
MOST_SAMPLES = 65_535
"""Most readings in one block."""
MOST_COLUMNS = 1 << 16
MOST_VALUES = 1 << 20
"""Readings times columns of one block: 1000 counters for a second at 1 kHz. The native core splits
what would be more into several blocks."""
MOST_PAYLOAD_BYTES = 16 << 20
"""Most bytes of one block: more than the most values take."""
MOST_NOTES = 10
"""Most notes about one file; of the rest, only the number is reported."""
BEGIN, END, FIRST_SLOT = 0, 1, 2
"""Columns: when a reading began, when it ended, and its first slot."""

_HEADER = struct.Struct("<8sII")
_BLOCK = struct.Struct("<IIII")
_COLUMN = struct.Struct("<BBq")
_HAS_BITMAP = 1
_TYPES = {1: "b", 2: "h", 4: "i", 8: "q"}
_BITS = [[bool(byte >> at & 1) for at in range(8)] for byte in range(256)]


class Block:
    """Consecutive readings; a column is decoded on demand."""

    def __init__(self, samples: int, payload: bytes, columns: int) -> None:
        self.samples = samples
        self._payload = payload
        self._at = list(_places(samples, payload, columns))

    @property
    def columns(self) -> int:
        """Columns of each reading: two stamps and the slots."""
        return len(self._at)

    def values(self, column: int) -> array[int]:
        """All values of a column, raw; a missing one repeats the one before.

        Raises:
            RunFileError: its differences lead beyond 64 bits.
        """
        width, _, first, at = self._at[column]
        count = self.samples - 1
        if width == 0:
            return array("q", repeat(first, self.samples))
        steps = array(_TYPES[width])
        steps.frombytes(self._payload[at : at + width * count])
        if sys.byteorder == "big":
            steps.byteswap()
        try:
            return array("q", accumulate(steps, initial=first))
        except OverflowError:
            raise RunFileError(f"column {column} exceeds 64 bits; it is corrupt") from None

    def constant(self, column: int) -> int | None:
        """The common value of a column; None if values differ, or some are missing."""
        width, bitmap, first, _ = self._at[column]
        return first if (width == 0 or self.samples == 1) and bitmap is None else None

    def is_missing(self, column: int) -> bool:
        """Whether no value of a column could be read."""
        bitmap = self._at[column][1]
        return bitmap is not None and not any(bitmap)

    def present(self, column: int) -> list[bool] | None:
        """Which values of a column could be read; None if all of them."""
        bitmap = self._at[column][1]
        if bitmap is None:
            return None
        return [*chain.from_iterable(map(_BITS.__getitem__, bitmap))][: self.samples]


def _places(
    samples: int, payload: bytes, columns: int
) -> Iterator[tuple[int, bytes | None, int, int]]:
    """For each column: width and place of its differences, bitmap, and first value."""
    at = 0
    bitmap_bytes = (samples + 7) // 8
    for column in range(columns):
        if at + _COLUMN.size > len(payload):
            raise RunFileError(f"column {column} is missing")
        width, flags, first = _COLUMN.unpack_from(payload, at)
        if (width and width not in _TYPES) or flags > _HAS_BITMAP:
            raise RunFileError(f"column {column} has an unknown form")
        at += _COLUMN.size
        bitmap = None
        if flags & _HAS_BITMAP:
            bitmap = payload[at : at + bitmap_bytes]
            at += bitmap_bytes
        if at + width * (samples - 1) > len(payload):
            raise RunFileError(f"column {column} is cut short")
        yield width, bitmap, first, at
        at += width * (samples - 1)
    if at != len(payload):
        raise RunFileError(f"{len(payload) - at} bytes follow its last column")


class LaneBlocks(Protocol):
    """Blocks of readings, wherever they are from."""

    @property
    def notes(self) -> list[str]:
        """Notes on what was left out."""

    def note(self, what: str) -> None:
        """Note an omission."""

    def blocks(self) -> Iterator[Block]:
        """All of them in order; may be called again."""


class LaneReader:
    """The blocks of one lane's file, in constant memory."""

    def __init__(self, path: Path, slots: int) -> None:
        """`slots` is the number of slots of the counter set that the file should contain.

        Raises:
            RunFileError: the file is missing, not a lane, or belongs to other counters.
        """
        self._path = path
        self._columns = slots + FIRST_SLOT
        self._notes: list[str] = []
        self._unsaid = 0
        with self._open() as file:
            self._check_header(file)

    @property
    def notes(self) -> list[str]:
        """Notes on what was left out."""
        if not self._unsaid:
            return list(self._notes)
        more = format_count(self._unsaid, "more fault")
        return [*self._notes, f"{plain(self._path.name)}: {more} of this kind"]

    def note(self, what: str) -> None:
        """Note an omission; beyond the first few, omissions are only counted."""
        if len(self._notes) < MOST_NOTES:
            self._notes.append(f"{plain(self._path.name)}: {what}")
        else:
            self._unsaid += 1

    def blocks(self) -> Iterator[Block]:
        """All intact blocks in order; incomplete or damaged ones are left out and noted.

        May be called again; `notes` are then those of the latest call.
        """
        self._notes.clear()
        self._unsaid = 0
        with self._open() as file:
            file.seek(_HEADER.size)
            for number in range(1, sys.maxsize):
                at = file.tell()
                head = file.read(_BLOCK.size)
                if not head:
                    return
                payload = self._payload(file, head, number, at)
                if payload is None:
                    return
                try:
                    yield _checked(head, payload, self._columns)
                except RunFileError as error:
                    self.note(f"block {number} at byte {at} was left out: {error}")

    def _payload(self, file: BinaryIO, head: bytes, number: int, at: int) -> bytes | None:
        """The next block; None if nothing after it can be read."""
        size = os.fstat(file.fileno()).st_size
        if len(head) < _BLOCK.size:
            self.note(f"its last {size - at} bytes were left out: a block torn while written")
            return None
        magic, samples, payload_bytes, _ = _BLOCK.unpack(head)
        if (
            magic != BLOCK_MAGIC
            or not 1 <= samples <= MOST_SAMPLES
            or payload_bytes > MOST_PAYLOAD_BYTES
        ):
            self.note(
                f"its last {size - at} bytes were left out: no block begins at byte {at}, after "
                f"{number - 1} whole ones"
            )
            return None
        payload = file.read(payload_bytes)
        if len(payload) < payload_bytes:
            self.note(f"its last {size - at} bytes were left out: a block torn while written")
            return None
        return payload

    def _open(self) -> BinaryIO:
        try:
            return open_file(self._path, sys.maxsize)
        except OSError as error:
            raise RunFileError(
                f"{plain(str(self._path))}: cannot be opened: {error.strerror}; copy the run with "
                "all its files"
            ) from error

    def _check_header(self, file: BinaryIO) -> None:
        name = plain(str(self._path))
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            raise RunFileError(
                f"{name}: contains no complete header; the run was stopped before writing it"
            )
        magic, columns, zero = _HEADER.unpack(head)
        if magic != MAGIC or zero != 0:
            raise RunFileError(f"{name}: not a lane of a profile; copy the run with all its files")
        if columns != self._columns or columns > MOST_COLUMNS:
            raise RunFileError(
                f"{name}: has {columns} columns where its counters have {self._columns}; "
                "it belongs to another run"
            )


def _checked(head: bytes, payload: bytes, columns: int) -> Block:
    _, samples, _, crc = _BLOCK.unpack(head)
    if samples * columns > MOST_VALUES:
        raise RunFileError(
            f"it states {samples} readings of {columns} columns, more than any lane has"
        )
    if zlib.crc32(payload) != crc:
        raise RunFileError("its checksum is wrong")
    block = Block(samples, payload, columns)
    if samples > 1 and (block.constant(BEGIN) is not None or block.constant(END) is not None):
        raise RunFileError(f"its {samples} readings all have the same time")
    return block
