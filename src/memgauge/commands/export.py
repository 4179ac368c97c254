"""`memgauge export RUN`: the samples as a table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memgauge.model.runfile import read_run
from memgauge.reports.export import EXPORTERS
from memgauge.reports.files import write_bytes


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(EXPORTERS)),
    default="csv",
    show_default=True,
    help="kind of table; parquet needs memgauge[export]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=None,
    help="file to write  [default: stdout]",
)
def command(run: Path, form: str, output: Path | None) -> None:
    """Write every sample of a run, one row for each thread and iteration."""
    made = EXPORTERS[form](read_run(run))
    if output is None:
        sys.stdout.buffer.write(made)
        sys.stdout.buffer.flush()
    else:
        write_bytes(output, made)
