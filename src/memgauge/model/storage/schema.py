"""JSON Schemas (draft 2020-12) of memgauge's output, generated from the types that write it."""

from typing import Any

import msgspec

from memgauge.model.records import FORMAT_VERSION, AnyRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(kind: Any, name: str, title: str) -> dict[str, Any]:
    """The schema of a type.

    Args:
        kind: A struct type, or a union of struct types.
        name: Rest of the identifier after `urn:memgauge:`, with the version, such as `record:2`.
        title: One phrase that tells people what the schema describes.
    """
    head = {"$schema": DIALECT, "$id": f"urn:memgauge:{name}", "title": title}
    return head | msgspec.json.schema(kind)


def record_schema() -> dict[str, Any]:
    """The schema of one line of a run's `records.jsonl`."""
    return schema_of(AnyRecord, f"record:{FORMAT_VERSION}", "One record of a memgauge run")


def schema_text(schema: dict[str, Any]) -> str:
    """A schema in published form: indented, with a final line feed."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
