"""`memgauge export RUN`: figures or samples of a run, or readings of a profile, as a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from memgauge.commands.shared.options import form_option, output_option, run_argument
from memgauge.model.errors import RequestError
from memgauge.model.storage.curve_files import NOTE_NAME
from memgauge.model.storage.run_file import read_run
from memgauge.model.text import plain
from memgauge.reports.export.registry import (
    EXPORTERS,
    TIMELINE,
    exported,
    exported_curves,
    formats_help,
)
from memgauge.reports.export.tables import TABLES
from memgauge.reports.files import write_bytes, write_pieces


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
@output_option("file to write, of mess the directory  [default: stdout]")
def command(run: Path, table: str | None, form: str, output: Path | None) -> None:
    """Write the figures or every sample of a run, or every reading of a profile.

    Curves of latency under load are written for simulators (mess), beside Ramulator's own results
    (ramulator) or as a table (csv-curve).

    \N{FORM FEED}

    Args:
        run: Directory of the run.
        table: One of `TABLES`, or `timeline`; None chooses the table that suits the run.
        form: Key of `EXPORTERS`, such as `csv`.
        output: File to write, or directory of a format with several files; None writes to stdout.
    """
    opened = read_run(run)
    curves = exported_curves(opened, form, table)
    if curves is not None and EXPORTERS[form].is_directory:
        _write_directory(curves, form, output)
        return
    pieces = exported(opened, form, table) if curves is None else curves.values()
    if output is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    else:
        write_pieces(output, pieces)


def _write_directory(files: Mapping[str, bytes], form: str, output: Path | None) -> None:
    if output is None:
        raise RequestError(
            f"--format {form} writes {len(files)} files; name a directory by --output"
        )
    for name, content in files.items():
        write_bytes(output / name, content, below=output)
    click.echo(
        f"written: {plain(str(output))}: {len(files)} files; {NOTE_NAME} there says which curves "
        "were measured",
        err=True,
    )
