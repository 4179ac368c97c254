"""The JSON Schema of the document that `--json` prints."""

from typing import Any

from memgauge.analysis.document import DOCUMENT_VERSION, Document
from memgauge.model.schema import schema_of


def document_schema() -> dict[str, Any]:
    """Of the figures of a run; draft 2020-12."""
    return schema_of(Document, f"document:{DOCUMENT_VERSION}", "The figures of a memgauge run")
