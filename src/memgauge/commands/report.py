"""`memgauge report RUN`: render a run again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from memgauge import api
from memgauge.cluster.combined import CombinedRun
from memgauge.commands.shared.measure import say_where
from memgauge.commands.shared.options import full_option, run_argument
from memgauge.commands.shared.output import (
    look_of_stdout,
    print_and_write,
    print_json,
    print_page,
    print_report,
)
from memgauge.model.errors import RequestError
from memgauge.model.storage.cluster import is_cluster
from memgauge.model.storage.profile_job import is_profile_job
from memgauge.references.foreign.files import read_foreign
from memgauge.references.library import PREFIX
from memgauge.results import Analysed, ProfiledJob, Published, Result

STREAM = "stream"


def _print_summary(result: Analysed) -> None:
    click.echo(result.text(encoding=look_of_stdout().encoding))


_PRINTED: dict[str, Callable[[Analysed], None]] = {
    "summary": _print_summary,
    "html": lambda result: print_page(result.html()),
    "json": lambda result: print_json(result.document()),
}
"""Forms of any report, by the name that --format takes."""


@click.command("report")
@run_argument
@full_option
@click.option(
    "--format",
    "form",
    type=click.Choice([*_PRINTED, STREAM]),
    default=None,
    help="print the report in this format on stdout and write no file; stream: the table that "
    "STREAM prints",
)
def command(run: Path, form: str | None, full: bool) -> None:
    """Render a run again, on any machine, with or without the native core.

    Writes summary.txt and report.html into the run's directory and prints the summary; of a survey
    the answer, or with --full everything. For published counts of memory controllers, such as
    reference:altra-dmc620, and published splits of threads between two memories, such as
    reference:nvdimm-nvm-nvm, it prints and writes nothing. So it does for the output of another
    tool, such as STREAM or Intel MLC, whose figures it shows under the names that memgauge uses.
    Of a combined run of nodes, and of a job whose ranks were profiled, it uses whatever of them is
    there, and says which are missing.

    \N{FORM FEED}

    Args:
        run: Directory of a run, of a combined run or of a job, the name of a published data set,
            or a file of another tool.
        form: What to print instead of the summary, writing nothing; None prints the summary.
        full: Whether to print every section of a survey.
    """
    if str(run).startswith(PREFIX):
        _published(api.published(str(run)), form)
        return
    if is_cluster(run):
        _render(api.combined(run), form, full=full)
        return
    if is_profile_job(run):
        _render(api.profiled_job(run), form, full=full)
        return
    if (foreign := read_foreign(run)) is not None:
        _published(Published(foreign), form)
        return
    result = api.load(run)
    if form == STREAM:
        click.echo(result.stream_form())
    else:
        _render(result, form, full=full)


def _render(result: Result | CombinedRun | ProfiledJob, form: str | None, *, full: bool) -> None:
    """In one form on stdout; or the summary, and files beside what was read."""
    if form == STREAM:
        raise RequestError(
            "--format stream: a combined run has no such table; give the run of one node or rank"
        )
    if form is not None:
        _PRINTED[form](result)
        return

    def write() -> None:
        result.save()
        say_where(result.directory, is_survey=not full and result.report.answer is not None)

    print_and_write(partial(print_report, result.report, whole=full), write)


def _published(result: Published, form: str | None) -> None:
    if form == STREAM:
        raise RequestError(
            f"{result.reference.address}: is not a run, and only runs have STREAM's table; use "
            "--format summary or html"
        )
    if form is None:
        print_report(result.report)
    else:
        _PRINTED[form](result)
