import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.profile.runs import counter
from tests.unit.model import build

from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import FORMAT_VERSION, AnyRecord
from memgauge.model.storage.codec import encode
from memgauge.model.storage.schema import record_schema, schema_text

PUBLISHED = Path(__file__).parents[4] / "docs" / "schema" / f"run-{FORMAT_VERSION}.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(record_schema())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(record_schema())


@pytest.mark.parametrize("record", build.records(1), ids=lambda record: type(record).__name__)
def test_every_line_of_a_run_obeys_the_schema(
    record: AnyRecord, validator: jsonschema.Draft202012Validator
) -> None:
    validator.validate(json.loads(encode(record)))


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b'{"kind":"spell"}',
        b'{"kind":"warning","code":"c"}',
        b'{"kind":"sample","point":"p","round":-1,"threads":[]}',
        b'{"kind":"sample","point":"p","round":0,"threads":[[0,[],[]]]}',
        b'{"kind":"sample","point":"p","round":0,"threads":[[0,[1]]]}',
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(
    line: bytes, validator: jsonschema.Draft202012Validator
) -> None:
    assert not validator.is_valid(json.loads(line))
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=AnyRecord)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e308])
def test_a_scale_whose_counts_no_float_holds_is_refused(
    scale: float, validator: jsonschema.Draft202012Validator
) -> None:
    line = encode(CounterSet(counters="fast", slots=1, of=[counter("imc", 0, scale=64.0)]))
    line = line.replace(b'"scale":64.0', f'"scale":{scale}'.encode())
    assert not validator.is_valid(json.loads(line))
    with pytest.raises(msgspec.ValidationError, match="scale"):
        msgspec.json.decode(line, type=AnyRecord)


def test_the_published_schema_is_the_one_in_force() -> None:
    assert PUBLISHED.read_text() == schema_text(record_schema()), (
        f"publish it: memgauge schema > docs/schema/{PUBLISHED.name}"
    )
