"""`memgauge figures RUN`: the pictures of a run as files."""

from __future__ import annotations

from pathlib import Path

import click

from memgauge import api
from memgauge.cluster.combined import CombinedRun
from memgauge.commands.shared.options import form_option, output_option, run_argument
from memgauge.model.errors import RequestError
from memgauge.model.storage.cluster import is_cluster
from memgauge.model.storage.profile_job import is_profile_job
from memgauge.model.text import plain
from memgauge.reports.charts.files import png, svg, vega_lite_json
from memgauge.reports.files import write_bytes
from memgauge.results import ProfiledJob, Result

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
    """Write every picture of a run, of nodes or of ranks together, as a file of its own.

    svg and png need memgauge[pictures]. json does not, and the page of 'memgauge report' saves each
    chart as SVG or PNG.

    \N{FORM FEED}

    Args:
        run: Directory of the run, of the combined run or of the job.
        form: Key of `FORMATS`, which is also the ending of each file name.
        output: Directory to write into; None chooses `figures` inside the run.

    Raises:
        RequestError: the run holds too few figures for any picture.
    """
    result = _result(run)
    directory = output or result.directory / "figures"
    charts = [chart for section in result.report.sections for chart in section.charts]
    if charts and result.report.topology is not None:
        charts.append(result.report.topology)
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


def _result(run: Path) -> Result | CombinedRun | ProfiledJob:
    if is_cluster(run):
        return api.combined(run)
    return api.profiled_job(run) if is_profile_job(run) else api.load(run)
