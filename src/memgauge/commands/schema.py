"""`memgauge schema`: the published JSON Schema."""

from __future__ import annotations

import click

from memgauge.analysis.schema import (
    cluster_schema,
    comparison_schema,
    counters_schema,
    document_schema,
    ranks_schema,
    simulation_schema,
    trend_schema,
)
from memgauge.model.storage.schema import record_schema, schema_text

SCHEMAS = {
    "record": record_schema,
    "document": document_schema,
    "comparison": comparison_schema,
    "counters": counters_schema,
    "cluster": cluster_schema,
    "ranks": ranks_schema,
    "simulation": simulation_schema,
    "trend": trend_schema,
}


@click.command("schema")
@click.option(
    "--of",
    "subject",
    type=click.Choice(list(SCHEMAS)),
    default="record",
    show_default=True,
    help="record: one line of records.jsonl; document: what --json prints; comparison: what "
    "compare --json prints; counters: what counters --json prints; cluster: what "
    "cluster --json prints; ranks: what report --format json prints of a job of profiled ranks; "
    "simulation: what simulate --json prints; trend: what trend --json prints",
)
def command(subject: str) -> None:
    """Print the JSON Schema of a run's records, or of a document that --json prints."""
    click.echo(schema_text(SCHEMAS[subject]()), nl=False)
