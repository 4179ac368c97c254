r"""Counters sampled over time, read back from the file of a lane, whatever its bytes.

The file, little-endian throughout: a header of 16 bytes (`MGLANE1\n`, u32 columns, u32 zero), then
blocks: u32 `BLK1`, u32 samples, u32 bytes of payload, u32 CRC-32 of it (zlib's), payload. A payload
holds the columns one after the other: when each reading began and ended, in ns on the run's clock,
then the slots of its counters, raw. A column is u8 bytes of a difference, u8 flags (bit 0: says
which values are present), i64 first value, with the flag a bitmap (lowest bit first, 1: present),
then the differences of each value from the one before; of none bytes where all are equal. A missing
value repeats the one before it.

A block is read when it is asked for and a column when it is looked at, so that memory is bounded by
one block, however long a run was and whatever a stranger wrote.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from itertools import accumulate, repeat
from pathlib import Path
from typing import BinaryIO

from memgauge.model.errors import RunFileError
from memgauge.model.text import plain

MAGIC = b"MGLANE1\n"
BLOCK_MAGIC = 0x314B4C42
MOST_SAMPLES = 65_535
"""In one block."""
MOST_COLUMNS = 1 << 20
MOST_PAYLOAD_BYTES = 64 << 20
"""Of one block: 100 times what a lane of a hundred counters writes in a second at 1 kHz."""
BEGIN, END, FIRST_SLOT = 0, 1, 2
"""Columns: when a reading began, when it ended, and its first slot."""

_HEADER = struct.Struct("<8sII")
_BLOCK = struct.Struct("<IIII")
_COLUMN = struct.Struct("<BBq")
_HAS_BITMAP = 1
_TYPES = {1: "b", 2: "h", 4: "i", 8: "q"}


class Block:
    """Readings that follow each other; a column is decoded when it is asked for."""

    def __init__(self, samples: int, payload: bytes, columns: int) -> None:
        self.samples = samples
        self._payload = payload
        self._at = list(_places(samples, payload, columns))

    @property
    def columns(self) -> int:
        """Of each reading: two stamps and the slots."""
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
            raise RunFileError(f"column {column} leads beyond 64 bits; it is corrupt") from None

    def present(self, column: int) -> list[bool] | None:
        """Which values of a column could be read; None: all of them."""
        bitmap = self._at[column][1]
        if bitmap is None:
            return None
        return [bool(bitmap[at >> 3] >> (at & 7) & 1) for at in range(self.samples)]


def _places(
    samples: int, payload: bytes, columns: int
) -> Iterator[tuple[int, bytes | None, int, int]]:
    """Of each column the width and place of its differences, bitmap and first value."""
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


class LaneReader:
    """The blocks of one lane's file, in constant memory; `notes` say what had to be left out."""

    def __init__(self, path: Path, slots: int) -> None:
        """`slots` of the counter set that the file is said to hold.

        Raises:
            RunFileError: no such file, no lane, or one of other counters.
        """
        self._path = path
        self._columns = slots + FIRST_SLOT
        self.notes: list[str] = []
        with self._open() as file:
            self._check_header(file)

    def blocks(self) -> Iterator[Block]:
        """All whole blocks in their order; one that is torn or wrong is left out and noted.

        May be called again; `notes` are then those of the latest time.
        """
        self.notes.clear()
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
                    self._note(f"block {number} at byte {at} was left out: {error}")

    def _payload(self, file: BinaryIO, head: bytes, number: int, at: int) -> bytes | None:
        """None: from here on the file tells nothing."""
        size = os.fstat(file.fileno()).st_size
        if len(head) < _BLOCK.size:
            self._note(f"its last {size - at} bytes were left out: a block torn while written")
            return None
        magic, samples, payload_bytes, _ = _BLOCK.unpack(head)
        if (
            magic != BLOCK_MAGIC
            or not 1 <= samples <= MOST_SAMPLES
            or payload_bytes > MOST_PAYLOAD_BYTES
        ):
            self._note(
                f"its last {size - at} bytes were left out: no block begins at byte {at}, after "
                f"{number - 1} whole ones"
            )
            return None
        payload = file.read(payload_bytes)
        if len(payload) < payload_bytes:
            self._note(f"its last {size - at} bytes were left out: a block torn while written")
            return None
        return payload

    def _note(self, what: str) -> None:
        self.notes.append(f"{plain(self._path.name)}: {what}")

    def _open(self) -> BinaryIO:
        name = plain(str(self._path))
        try:
            # Without O_NONBLOCK a pipe in the file's place would hold the reader for ever.
            file = open(  # noqa: SIM115
                self._path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise RunFileError(
                f"{name}: cannot be opened: {why}; copy the run with all its files"
            ) from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise RunFileError(f"{name}: not a regular file; copy the run with all its files")
        return file

    def _check_header(self, file: BinaryIO) -> None:
        name = plain(str(self._path))
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            raise RunFileError(f"{name}: holds no whole header; the run was stopped before it")
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
    if zlib.crc32(payload) != crc:
        raise RunFileError("its checksum is wrong")
    return Block(samples, payload, columns)
