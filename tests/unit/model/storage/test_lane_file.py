"""Lane files come back as they were written, and hostile ones do no harm."""

import os
import random
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.model.storage.lanes import Sample, block, column, header, raw_block, write_lane

from memgauge.model.errors import RunFileError
from memgauge.model.storage.lane_file import Block, LaneReader

I63 = st.integers(0, (1 << 63) - 1)
SMALL = st.integers(0, 300)


@st.composite
def lanes(draw: st.DrawFn) -> list[list[int | None]]:
    slots = draw(st.integers(0, 3))
    value = st.one_of(st.none(), SMALL, I63)
    stamps = draw(st.lists(I63, min_size=1, max_size=40, unique=True))
    sample = st.tuples(*([value] * slots))
    return [[stamp, stamp, *draw(sample)] for stamp in sorted(stamps)]


def read(path: Path, slots: int) -> tuple[list[list[int | None]], list[str]]:
    """The samples as they were given, missing ones as None."""
    reader = LaneReader(path, slots)
    samples: list[list[int | None]] = []
    for found in reader.blocks():
        columns: list[list[int | None]] = []
        for at in range(found.columns):
            present = found.present(at) or [True] * found.samples
            values = found.values(at)
            columns.append([v if there else None for v, there in zip(values, present, strict=True)])
        samples += [list(sample) for sample in zip(*columns, strict=True)]
    return samples, reader.notes


@given(lanes(), st.integers(1, 20))
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, samples: list[list[int | None]], per_block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.lane"
    slots = len(samples[0]) - 2
    write_lane(path, samples, slots, per_block)
    assert read(path, slots) == (samples, [])


def test_the_bytes_are_those_of_the_format() -> None:
    """Worked out by hand: equal values take no bytes, and a missing one repeats the one before."""
    assert column([7, 7, 7]) == bytes([0, 0, 7, 0, 0, 0, 0, 0, 0, 0])
    assert column([5, None, 4]) == bytes([1, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0b101, 0, 255])
    found = Block(3, column([5, None, 4]), 1)
    assert list(found.values(0)) == [5, 5, 4]
    assert found.present(0) == [True, False, True]


SAMPLES: list[Sample] = [[at * 10, at * 10 + 1, at * at] for at in range(30)]


def test_every_torn_end_keeps_the_blocks_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lane"
    write_lane(path, SAMPLES, 1, 10)
    whole = path.read_bytes()
    third = len(header(3)) + len(block(SAMPLES[:10])) + len(block(SAMPLES[10:20]))
    for cut in range(third + 1, len(whole)):
        path.write_bytes(whole[:cut])
        samples, notes = read(path, 1)
        assert len(samples) == 20
        assert notes == [
            f"a.lane: its last {cut - third} bytes were left out: a block torn while written"
        ]


def test_a_wrong_checksum_leaves_out_that_block_only(tmp_path: Path) -> None:
    path = tmp_path / "a.lane"
    write_lane(path, SAMPLES, 1, 10)
    whole = bytearray(path.read_bytes())
    whole[len(header(3)) + len(block(SAMPLES[:10])) + 20] ^= 1
    path.write_bytes(whole)
    samples, notes = read(path, 1)
    assert samples == [list(sample) for sample in SAMPLES[:10] + SAMPLES[20:]]
    assert len(notes) == 1
    assert "block 2 at byte" in notes[0]
    assert "checksum" in notes[0]


def test_garbage_after_the_last_block_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.lane"
    write_lane(path, SAMPLES, 1)
    path.write_bytes(path.read_bytes() + b"x" * 40)
    samples, notes = read(path, 1)
    assert len(samples) == 30
    assert "no block begins" in notes[0]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no complete header"),
        (b"MGLANE1\n\x03", "no complete header"),
        (b"MGLANE2\n" + struct.pack("<II", 3, 0), "not a lane"),
        (header(4), "has 4 columns where its counters have 3"),
    ],
)
def test_what_is_no_lane_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.lane"
    path.write_bytes(content)
    with pytest.raises(RunFileError, match=why):
        LaneReader(path, 1)


def test_a_missing_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="No such file"):
        LaneReader(tmp_path / "none.lane", 1)
    os.mkfifo(tmp_path / "pipe.lane")
    with pytest.raises(RunFileError, match="not a regular file"):
        LaneReader(tmp_path / "pipe.lane", 1)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "column 0 is missing"),
        (column([1, 2]) * 3 + b"x", "1 bytes follow"),
        (b"\x03" + column([1, 2])[1:], "unknown form"),
        (column([1, 2]) * 2 + column([1, 2])[:-1], "cut short"),
    ],
)
def test_a_payload_that_lies_is_left_out(tmp_path: Path, payload: bytes, why: str) -> None:
    path = tmp_path / "a.lane"
    path.write_bytes(header(3) + raw_block(2, payload))
    samples, notes = read(path, 1)
    assert samples == []
    assert why in notes[0]


def test_differences_beyond_64_bits_are_refused() -> None:
    payload = struct.pack("<BBqq", 8, 0, (1 << 63) - 1, 1)
    with pytest.raises(RunFileError, match="exceeds 64 bits"):
        Block(2, payload, 1).values(0)


def test_readings_that_take_no_bytes_are_left_out(tmp_path: Path) -> None:
    """65,535 readings in 160 bytes: the clock stands still in them, as it does in no lane."""
    path = tmp_path / "a.lane"
    still = column([7] * 65_535)
    moving = column(range(65_535))
    for stamps in (still + moving, moving + still, still + still):
        path.write_bytes(header(3) + raw_block(65_535, stamps + still))
        samples, notes = read(path, 1)
        assert samples == []
        assert "65535 readings all have the same time" in notes[0]


def test_a_block_of_too_many_values_is_left_out(tmp_path: Path) -> None:
    """20,000 columns of 65,535 values would fill 10 GB, were they all decoded."""
    path = tmp_path / "a.lane"
    columns = 20_000
    stamps = column(range(65_535)) * 2
    path.write_bytes(header(columns) + raw_block(65_535, stamps + column([1]) * (columns - 2)))
    tracemalloc.start()
    reader = LaneReader(path, columns - 2)
    assert list(reader.blocks()) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
    assert "65535 readings of 20000 columns" in reader.notes[0]


def test_a_column_that_stands_still_is_known_without_decoding_it() -> None:
    payload = column([7, 7, 7]) + column([1, 2, 3]) + column([None] * 3) + column([None, 4, 4])
    found = Block(3, payload, 4)
    assert [found.constant(at) for at in range(4)] == [7, None, None, None]
    assert [found.is_missing(at) for at in range(4)] == [False, False, True, False]


def test_of_many_wrong_blocks_a_few_are_named_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.lane"
    path.write_bytes(header(3) + raw_block(1, b"") * 50_000)
    samples, notes = read(path, 1)
    assert samples == []
    assert len(notes) == 11
    assert notes[-1] == "a.lane: 49990 more faults of this kind"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.lane"
    path.write_bytes(header(3) + content)
    read(path, 1)


@given(st.data())
def test_a_flipped_byte_never_makes_other_samples(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.lane"
    write_lane(path, SAMPLES, 1, 10)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(len(header(3)), len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    samples, notes = read(path, 1)
    assert notes
    assert all(tuple(sample) in {tuple(one) for one in SAMPLES} for sample in samples)


def test_an_hour_of_fifty_columns_is_iterated_in_constant_memory(tmp_path: Path) -> None:
    """Blocks of a second, as a lane writes them: memory is that of one block, not of the file."""
    path = tmp_path / "hour.lane"
    rng = random.Random(1)
    second = [
        [
            at * 10_000_000,
            at * 10_000_000 + 20_000,
            *(at * 5000 + rng.randrange(9) for _ in range(48)),
        ]
        for at in range(100)
    ]
    one = block(second)
    path.write_bytes(header(50) + one * 3600)
    assert path.stat().st_size < 100_000_000
    tracemalloc.start()
    blocks = sum(1 for found in LaneReader(path, 48).blocks() if found.samples == 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert blocks == 3600
    assert peak < 1 << 20
