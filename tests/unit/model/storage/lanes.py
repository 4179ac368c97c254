"""Writes lane files as the native core does, for tests that have none."""

import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

Value = int | None
Sample = Sequence[Value]


def width_of(steps: Sequence[int]) -> int:
    """Bytes that hold every difference."""
    for width in (0, 1, 2, 4, 8):
        half = 1 << (8 * width - 1) if width else 0
        if all(-half <= step < max(half, 1) for step in steps):
            return width
    raise OverflowError


def column(values: Sequence[Value]) -> bytes:
    """One column of a block; a missing value repeats the one before."""
    full: list[int] = []
    for value in values:
        full.append(value if value is not None else full[-1] if full else 0)
    steps = [after - before for before, after in pairwise(full)]
    width = width_of(steps)
    missing = any(value is None for value in values)
    made = struct.pack("<BBq", width, missing, full[0])
    if missing:
        bits = sum(1 << at for at, value in enumerate(values) if value is not None)
        made += bits.to_bytes((len(values) + 7) // 8, "little")
    return made + b"".join(step.to_bytes(width, "little", signed=True) for step in steps if width)


def block(samples: Sequence[Sample]) -> bytes:
    """One block of readings, each begin, end and slots."""
    payload = b"".join(column(values) for values in zip(*samples, strict=True))
    return raw_block(len(samples), payload)


def raw_block(samples: int, payload: bytes) -> bytes:
    """A block around any payload."""
    return struct.pack("<IIII", 0x314B4C42, samples, len(payload), zlib.crc32(payload)) + payload


def header(columns: int) -> bytes:
    """Of a lane's file."""
    return struct.pack("<8sII", b"MGLANE1\n", columns, 0)


def write_lane(path: Path, samples: Iterable[Sample], slots: int, per_block: int = 100) -> None:
    """A whole file; blocks of as many samples."""
    with path.open("wb") as file:
        file.write(header(slots + 2))
        gathered: list[Sample] = []
        for sample in samples:
            gathered.append(sample)
            if len(gathered) == per_block:
                file.write(block(gathered))
                gathered = []
        if gathered:
            file.write(block(gathered))
