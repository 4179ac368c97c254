"""Whatever the bytes, reading a run gives a `Run` or RunFileError, and what it gives can be used.

The number of mutants is bounded and seeded; MEMGAUGE_FUZZ_MUTANTS asks for more, and each failure
names the seed of its mutant.
"""

import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.model import build

from memgauge.model.errors import RunFileError
from memgauge.model.run import Run
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_reader import read_stream
from memgauge.model.text import plain
from memgauge.reports.export.formats import export_csv, export_json

MUTANTS = int(os.environ.get("MEMGAUGE_FUZZ_MUTANTS", "6000"))
SHARDS = 4
LINES = [encode(record) for record in build.records(1)]
VALID = b"".join(LINES)
TOKENS = [
    b"null", b"true", b"-1", b"0", b"1e308", b"-1e308", b"1e999", b"NaN", b"Infinity", b"{}", b"[]",
    b'""', b'"\\ud800"', b'"\\u0000"', b'"\\u001b[2J"', b"\xff", b"\xc0\x80", b"\0", b"\n",
    b"9223372036854775807", b"9223372036854775808", b"9" * 4400, b"[" * 3000, b'{"a":' * 3000,
    b" " * 999, b'"kind"', b'"run"', b'"point"', b'"sample"', b'"end"', b'"resumed":true',
    b'"format_version":1', *LINES,
]  # fmt: skip


def load(data: bytes) -> Run | None:
    """The run, used as far as pure code goes; None where it is refused in one line of text."""
    try:
        run = read_stream(io.BytesIO(data), Path("run"))
    except RunFileError as error:
        refusal = str(error)
    else:
        use(run)
        return run
    assert refusal.startswith("run: ")
    assert plain(refusal) == refusal
    return None


def use(run: Run) -> None:
    """All that pure code does with a run before it is analysed."""
    assert run.starts
    assert run.rounds >= 0
    for name, point in run.points.items():
        samples = run.samples_of(name)
        assert len(samples) == len(run.legs[name])
        assert all(len(sample.threads) == point.threads for sample in samples)
    export_csv(run)
    export_json(run)


def flip(data: bytearray, dice: random.Random) -> None:
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def overwrite(data: bytearray, dice: random.Random) -> None:
    data[dice.randrange(len(data))] = dice.randrange(256)


def delete(data: bytearray, dice: random.Random) -> None:
    begin = dice.randrange(len(data))
    del data[begin : begin + dice.randrange(1, 200)]


def repeat(data: bytearray, dice: random.Random) -> None:
    begin = dice.randrange(len(data))
    part = data[begin : begin + dice.randrange(1, 500)]
    data[begin:begin] = part * dice.randrange(1, 4)


def insert(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data))
    data[at:at] = dice.choice(TOKENS)


def replace_value(data: bytearray, dice: random.Random) -> None:
    """Put a token in place of the value after some colon or comma: well-formed more often."""
    at = max(data.find(b":", dice.randrange(len(data))), data.find(b",", dice.randrange(len(data))))
    end = at + 1
    while end < len(data) and data[end] not in b",}]\n":
        end += 1
    data[at + 1 : end] = dice.choice(TOKENS)


def swap_lines(data: bytearray, dice: random.Random) -> None:
    lines = bytes(data).splitlines(keepends=True)
    one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    data[:] = b"".join(lines)


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    flip, overwrite, delete, repeat, insert, replace_value, replace_value, swap_lines,
]  # fmt: skip


def mutant(seed: int) -> bytes:
    dice = random.Random(seed)
    data = bytearray(VALID)
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        if data:
            dice.choice(MUTATIONS)(data, dice)
    return bytes(data)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_mutants_of_a_run_are_read_or_refused(shard: int) -> None:
    read = 0
    for seed in range(shard, MUTANTS, SHARDS):
        try:
            read += load(mutant(seed)) is not None
        except Exception as error:  # noqa: BLE001 - any is a failure, told with its seed
            pytest.fail(f"mutant {seed} is neither read nor refused: {error!r}")
    assert 0 < read < MUTANTS / SHARDS


def test_the_run_the_mutants_come_from_is_read_whole() -> None:
    run = load(VALID)
    assert run is not None
    assert run.end is not None


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    load(data)


@given(st.lists(st.sampled_from(LINES)), st.binary(max_size=40))
def test_any_order_of_whole_lines_is_read_or_refused(lines: list[bytes], tail: bytes) -> None:
    load(b"".join([LINES[0], *lines]) + tail)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(
    st.sampled_from(["run", "point", "sample", "environment", "validation", "warning", "end"]),
    st.dictionaries(
        st.sampled_from(["point", "threads", "round", "checks", "message", "code", "rounds"]),
        json_values,
    ),
)
def test_any_json_in_a_record_s_place_is_read_or_refused(
    kind: str, fields: dict[str, object]
) -> None:
    line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
    load(b"".join(LINES[:4]) + line)
