"""`memgauge figures RUN`: the pictures of a run as files."""

from __future__ import annotations

from pathlib import Path

import click

from memgauge import api
from memgauge.commands.shared.options import form_option, output_option, run_argument
from memgauge.model.errors import RequestError
from memgauge.model.storage.cluster import is_cluster
from memgauge.model.text import plain
from memgauge.reports.charts.files import png, svg, vega_lite_json
from memgauge.reports.files import write_bytes

FORMATS = {
    "svg": lambda chart: svg(chart).encode(),
    "png": png,
    "json": vega_lite_json,
}
"""File name ending to renderer; json is Vega-Lite."""


@click.command("figures")
@run_argument
@form_option(FORMATS, "kind of picture")
@output_option("directory to write into  [default: figures inside the run]")
def command(run: Path, form: str, output: Path | None) -> None:
    """Write every picture of a run, or of a combined run of nodes, as a file of its own.

    \N{FORM FEED}

    Args:
        run: Directory of the run or of the combined run.
        form: Key of `FORMATS`, which is also the ending of each file name.
        output: Directory to write into; None chooses `figures` inside the run.

    Raises:
        RequestError: the run holds too few figures for any picture.
    """
    result = api.combined(run) if is_cluster(run) else api.load(run)
    directory = output or result.directory / "figures"
    charts = [chart for section in result.report.sections for chart in section.charts]
    if not charts:
        raise RequestError(
            f"{plain(str(run))}: holds too few figures to draw; 'memgauge report' shows them"
        )
    unprinted = None
    for chart in charts:
        path = directory / f"{chart.name}.{form}"
        write_bytes(path, FORMATS[form](chart), below=output or result.directory)
        try:
            if unprinted is None:
                click.echo(plain(str(path)))
        except OSError as error:  # the pictures are what was asked for
            unprinted = error
    if unprinted is not None:
        raise unprinted
