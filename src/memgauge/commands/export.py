"""`memgauge export RUN`: the samples of a run, or the readings of a profile, for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from memgauge.commands.shared.options import form_option, output_option, run_argument
from memgauge.model.errors import RequestError
from memgauge.model.run import Run
from memgauge.model.storage.run_file import read_run
from memgauge.reports.export.formats import EXPORTERS, TIMELINE_EXPORTERS
from memgauge.reports.export.tables import TABLES
from memgauge.reports.files import write_pieces

TIMELINE = "timeline"


@click.command("export")
@run_argument
@click.option(
    "--table",
    type=click.Choice([*TABLES, TIMELINE]),
    default=None,
    help="samples: a row for each thread and iteration; loads: histogram of individually "
    "timed loads; simulated: for each machine that a point was simulated on; "
    "timeline: for each reading of a profile's counters  [default: timeline of a "
    "profile, simulated of a run that measured nothing, else samples]",
)
@form_option(
    TIMELINE_EXPORTERS,
    "csv, json and parquet (needs memgauge[export]) are tables; of a profile also chrome, a trace "
    "that Perfetto opens, and openmetrics",
)
@output_option("file to write  [default: stdout]")
def command(run: Path, table: str | None, form: str, output: Path | None) -> None:
    """Write every sample of a run, or every reading of a profile."""
    pieces = _pieces(read_run(run), table, form)
    if output is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    else:
        write_pieces(output, pieces)


def _pieces(run: Run, table: str | None, form: str) -> Iterable[bytes]:
    chosen = table or _default(run)
    if chosen == TIMELINE:
        return _begun(TIMELINE_EXPORTERS[form](run))
    if form not in EXPORTERS:
        raise RequestError(
            f"--format {form} works only for profiles, and this run's {chosen} are a table; "
            f"give {', '.join(EXPORTERS)}"
        )
    return [EXPORTERS[form](run, chosen)]


def _default(run: Run) -> str:
    if run.lanes and not run.points:
        return TIMELINE
    return "simulated" if run.simulated and not run.rounds else "samples"


def _begun(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, the first made already, so that a run without a timeline is refused at once."""
    first = next(pieces, b"")

    def joined() -> Iterator[bytes]:
        yield first
        yield from pieces

    return joined()
