"""`memgauge export RUN`: the samples as a table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memgauge.commands.options import form_option, output_option, run_argument
from memgauge.model.runfile import read_run
from memgauge.reports.export import EXPORTERS
from memgauge.reports.export_tables import TABLES
from memgauge.reports.files import write_bytes


@click.command("export")
@run_argument
@click.option(
    "--table",
    type=click.Choice(list(TABLES)),
    default="samples",
    show_default=True,
    help="samples: a row for each thread and iteration; loads: for each time that single loads "
    "took, of points that time them",
)
@form_option(EXPORTERS, "kind of table; parquet needs memgauge[export]")
@output_option("file to write  [default: stdout]")
def command(run: Path, table: str, form: str, output: Path | None) -> None:
    """Write every sample of a run as a table."""
    made = EXPORTERS[form](read_run(run), table)
    if output is None:
        sys.stdout.buffer.write(made)
        sys.stdout.buffer.flush()
    else:
        write_bytes(output, made)
