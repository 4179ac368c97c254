"""`memgauge export RUN`: figures or samples of a run, or readings of a profile, as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memgauge.commands.shared.options import form_option, output_option, run_argument
from memgauge.model.storage.run_file import read_run
from memgauge.reports.export.registry import EXPORTERS, TIMELINE, exported, formats_help
from memgauge.reports.export.tables import TABLES
from memgauge.reports.files import write_pieces


@click.command("export")
@run_argument
@click.option(
    "--table",
    type=click.Choice([*TABLES, TIMELINE]),
    default=None,
    help="figures: a row for each point and regime, with its interval; samples: for each thread "
    "and iteration; loads: histogram of individually timed loads; simulated: for each machine that "
    "a point was simulated on; timeline: for each reading of a profile's counters  [default: "
    "timeline of a profile, simulated of a run that measured nothing, else samples]",
)
@form_option(EXPORTERS, formats_help())
@output_option("file to write  [default: stdout]")
def command(run: Path, table: str | None, form: str, output: Path | None) -> None:
    """Write the figures or every sample of a run, or every reading of a profile.

    \N{FORM FEED}

    Args:
        run: Directory of the run.
        table: One of `TABLES`, or `timeline`; None chooses the table that suits the run.
        form: Key of `EXPORTERS`, such as `csv`.
        output: File to write; None writes to stdout.
    """
    pieces = exported(read_run(run), form, table)
    if output is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    else:
        write_pieces(output, pieces)
