"""Run, show progress, print what came out: shared by the survey and every experiment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from memgauge import measuring
from memgauge.commands.shared.output import print_and_write, print_json, print_report
from memgauge.experiments.shared.base import Experiment
from memgauge.model.errors import ExitCode
from memgauge.model.parameters import CommonParameters, RunOptions
from memgauge.model.records import Warning
from memgauge.model.text import plain
from memgauge.results import CORRUPT, EMPTY, Result
from memgauge.runner.budget import Beginning, Budget


def measure(  # noqa: PLR0913 - all but the first two by name
    chosen: Sequence[tuple[Experiment, CommonParameters]],
    options: RunOptions,
    *,
    name: str | None = None,
    resume_run: Path | None = None,
    then: Callable[[Result], None] = lambda _: None,
    full: bool = False,
) -> int:
    """Measure, print the report and save it; returns the exit code.

    Args:
        chosen: Experiments to run, each with its requested parameters.
        options: What applies to the whole run: budget, precision, output directory, form of output.
        name: Last part of the name of a new run directory; None takes the first experiment's name.
        resume_run: Directory of the run to complete; None starts a new run.
        then: Called with the result after it was printed and saved.
        full: Whether to print every section of a run of several experiments, not only the answer.
    """
    from memgauge.reports.terminal.progress import Progress

    budget = Budget(options.budget_s, began=Beginning.of_process())
    with Progress(sys.stderr) as progress:

        def show(now: Any) -> None:
            progress.update(now.phase, now.done_share, now.reached, now.points, now.remaining_s)

        result = measuring.measure(
            chosen,
            options,
            name=name or chosen[0][0].name,
            resume=resume_run,
            began=budget.began,
            on_progress=show,
            on_warning=_warn,
        )

    printing = Beginning.now()

    def write() -> None:
        points = len(result.run.points)
        is_late = len(chosen) > 1 and not budget.has_time_for_page(points, printing)
        save(result, page=not is_late)
        then(result)

    return print_and_write(partial(present, result, as_json=options.json, full=full), write)


def _warn(warning: Warning) -> None:
    remedy = f"; {warning.remedy}" if warning.remedy else ""
    click.echo(f"memgauge: {plain(warning.message + remedy)}", err=True)


def present(result: Result, *, as_json: bool, full: bool = False) -> int:
    """Print the run on stdout, what spoils all of it on stderr, and choose the exit code.

    Args:
        result: What was measured.
        as_json: Whether to print the document, and no report.
        full: Whether to print every section of a run of several experiments.
    """
    if as_json:
        print_json(result.document())
    else:
        print_report(result.report, whole=full)
    if result.failed_validations:
        click.echo(f"memgauge: validation failed: {CORRUPT}", err=True)
        return ExitCode.VALIDATION_FAILED
    if result.is_empty:
        click.echo(f"memgauge: nothing was measured: {EMPTY}", err=True)
        return ExitCode.FAILED
    return ExitCode.DONE


def save(result: Result, *, page: bool = True) -> None:
    """Write summary and page beside the records, and say where; after all was printed.

    Args:
        result: What is saved.
        page: False leaves the page out, for want of time, and says how to have it.
    """
    result.save(page=page)
    if page:
        say_where(result.directory, is_survey=result.report.answer is not None)
        return
    directory = plain(str(result.directory))
    click.echo(
        f"run: {directory}\nno page, because the budget had no time left for it; "
        f"to write it: memgauge report {directory}",
        err=True,
    )


def say_where(directory: Path, *, is_survey: bool = False) -> None:
    """Name a run and its page on stderr; of a survey, also how to see all of it here."""
    run = plain(str(directory))
    page = plain(str(directory / "report.html"))
    more = f"\nall of it: memgauge report {run} --full" if is_survey else ""
    click.echo(f"run: {run}\nreport: {page}{more}", err=True)
