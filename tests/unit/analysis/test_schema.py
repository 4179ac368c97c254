import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.model import build

from memgauge.analysis.report.document import DOCUMENT_VERSION, json_document
from memgauge.analysis.schema import document_schema
from memgauge.model.run import run_of
from memgauge.model.storage.schema import schema_text

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema" / f"document-{DOCUMENT_VERSION}.json"


@pytest.mark.parametrize("kept", [1, 4, 7, None], ids=lambda kept: f"{kept or 'all'} records")
def test_the_document_of_a_run_obeys_the_schema_however_early_it_ended(kept: int | None) -> None:
    made = json.loads(msgspec.json.encode(json_document(run_of(build.records()[:kept]))))
    jsonschema.Draft202012Validator.check_schema(document_schema())
    jsonschema.Draft202012Validator(document_schema()).validate(made)


def test_the_published_schema_is_the_one_in_force() -> None:
    assert PUBLISHED.read_text() == schema_text(document_schema()), (
        f"publish it: memgauge schema --of document > docs/schema/{PUBLISHED.name}"
    )
