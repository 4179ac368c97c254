import math
import re
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.model import build

from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.records import (
    AnyRecord,
    ArrayCheck,
    Point,
    Sample,
    ThreadSample,
    Validation,
    Warning,
)
from memgauge.model.storage.codec import LineDecoder, encode

names = st.text(st.characters(codec="utf-8"))
counts = st.integers(0, LARGEST_INTEGER)
scalars = (
    st.none()
    | st.booleans()
    | names
    | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
)
points = st.builds(
    Point,
    point=names,
    experiment=names,
    quantity=st.sampled_from(["bandwidth", "latency"]),
    requested=st.dictionaries(names, scalars),
    actual=st.dictionaries(names, scalars),
    bytes_counted=counts,
    bytes_moved=counts,
    accesses=counts,
    threads=st.integers(1, LARGEST_INTEGER),
    role=st.sampled_from(["slice", "pass"]),
)
threads = st.builds(
    ThreadSample,
    cpu=counts,
    begin_ns=st.lists(counts, min_size=1, max_size=9),
    end_ns=st.lists(counts, min_size=1, max_size=9),
    involuntary_switches=counts,
    page_faults=counts,
)
samples = st.builds(
    Sample,
    point=names,
    round=counts,
    threads=st.lists(threads, max_size=3),
    pingpong_ns=st.none() | st.floats(0, 1e12),
    cycles_per_ns=st.none() | st.floats(1e-3, 100),
)
warnings = st.builds(Warning, code=names, message=names, remedy=st.none() | names)


def decode(line: bytes) -> AnyRecord:
    decoder = LineDecoder()
    decoder.decode(encode(build.start()))
    return decoder.decode(line)


@given(points | samples | warnings)
def test_a_record_reads_back_as_it_was(record: AnyRecord) -> None:
    line = encode(record)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line) == record


@pytest.mark.parametrize("record", build.records(1), ids=lambda record: type(record).__name__)
def test_every_kind_reads_back_as_it_was(record: AnyRecord) -> None:
    assert decode(encode(record)) == record
    assert encode(record).startswith(b'{"kind":"')


def test_what_would_not_read_back_is_not_written() -> None:
    impossible = msgspec.structs.replace(build.records()[-1], elapsed_s=math.nan)
    with pytest.raises(ValueError, match="cannot be written"):
        encode(impossible)
    with pytest.raises(ValueError, match="cannot be written"):
        encode(Warning(code="x", message="\ud800"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"kind":"sample","point":"p","round":-1,"threads":[]}', ">= 0"),
        (b'{"kind":"sample","point":"p","round":9223372036854775808,"threads":[]}', "<= 922"),
        (b'{"kind":"sample","point":"p","round":1.5,"threads":[]}', "Expected `int`"),
        (b'{"kind":"sample","point":"p","round":0,"threads":[[0,[],[]]]}', "length >= 1"),
        (b'{"kind":"sample","point":"p","round":0,"threads":[[0,[-5],[1]]]}', ">= 0"),
        (b'{"kind":"sample","point":"p","round":0,"threads":[],"pingpong_ns":NaN}', "malformed"),
        (b'{"kind":"sample","point":"p","round":0,"threads":[],"pingpong_ns":1e999}', "range"),
        (b'{"kind":"sample","point":"p"}', "missing required field `round`"),
        (b'{"kind":"spell"}', "Invalid value 'spell'"),
        (b'{"point":"p"}', "missing required field `kind`"),
        (b'{"kind":"sample","x":' + b"[" * 100_000, "nested too deeply"),
        (b'{"kind":"warning","code":"\xff","message":""}', "invalid start byte"),
        (b'{"kind":"\\u001b[2J"}', "Invalid value ''"),
        (b"", "truncated"),
        (b"\0\0\0\0", "malformed"),
    ],
)
def test_what_is_no_record_is_refused_in_words(line: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)) as error:
        decode(line)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_an_array_corrupted_beyond_measure_can_be_recorded(error: float) -> None:
    check = ArrayCheck(
        array="a",
        average_relative_error=error,
        epsilon=1e-13,
        elements=9,
        failed_elements=1,
        first_failed=3,
        passed=False,
    )
    record = Validation(experiment="stream", subject="double", checks=[check])
    assert check.average_relative_error == sys.float_info.max
    assert decode(encode(record)) == record


def test_fields_of_later_versions_are_passed_over() -> None:
    line = b'{"kind":"warning","code":"c","message":"m","colour":"red"}'
    assert decode(line) == Warning(code="c", message="m")
