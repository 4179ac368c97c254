"""`memgauge schema`: the published JSON Schema."""

from __future__ import annotations

import click

from memgauge.analysis.schema import document_schema
from memgauge.model.schema import record_schema, schema_text


@click.command("schema")
@click.option(
    "--of",
    "subject",
    type=click.Choice(["record", "document"]),
    default="record",
    show_default=True,
    help="record: one line of records.jsonl; document: what --json prints",
)
def command(subject: str) -> None:
    """Print the JSON Schema of a run's records, or of the document that --json prints."""
    made = record_schema() if subject == "record" else document_schema()
    click.echo(schema_text(made), nl=False)
