"""`memgauge survey`: every experiment, inside one time budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.commands.cluster_ranks import is_one_of_several, survey_nodes
from memgauge.commands.measure import measure, resume
from memgauge.commands.options import given, options_of
from memgauge.commands.speaking import OneSpeaks
from memgauge.experiments.registry import EXPERIMENTS, load
from memgauge.model.errors import RequestError
from memgauge.model.parameters import CommonParameters, RunOptions, build

only_option = click.option(
    "--only",
    metavar="NAME,...",
    help=f"experiments to run ({', '.join(EXPERIMENTS)}) [default: all]",
)


@click.command("survey", cls=OneSpeaks)
@options_of(CommonParameters, RunOptions)
@only_option
@click.option(
    "--resume",
    "interrupted",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="complete a run that was interrupted or killed, with the options it was started with",
)
def command(interrupted: Path | None, only: str | None, **values: Any) -> int:
    """Measure this machine's memory and write a report.

    Runs every experiment inside one time budget and leaves a run directory with the records, a
    summary and one HTML page. Needs no privilege, no PMU and no network. Started by mpirun or srun
    on several nodes, it measures each of them once, as 'memgauge cluster' does.
    """
    if is_one_of_several():
        return survey_nodes({**values, "only": only}, interrupted)
    options = build(RunOptions, **given(RunOptions, values))
    common = given(CommonParameters, values)
    if interrupted is not None:
        if common or only is not None or options.output is not None:
            raise RequestError(
                "--resume: a run is completed with the options it was started with; leave out all "
                "but --budget, --precision and --json"
            )
        return resume(interrupted, options, given(RunOptions, values))
    chosen = [
        (one := load(name), _parameters(one.parameters, common)) for name in api.surveyed(only)
    ]
    return measure(chosen, options, name="survey")


def _parameters(struct: type[CommonParameters], common: dict[str, Any]) -> CommonParameters:
    """Common options reach every experiment; team sizes only those that have teams."""
    wanted = dict(common)
    if not struct.takes_threads:
        wanted.pop("threads", None)
    return build(struct, **wanted)
