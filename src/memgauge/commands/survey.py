"""`memgauge survey`: every experiment, inside one time budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.commands.cluster_ranks import is_one_of_several, survey_nodes
from memgauge.commands.shared.completing import listed_values
from memgauge.commands.shared.help import GroupedOption
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import full_option, given, options_of, requested
from memgauge.commands.shared.rank_errors import OneRankReports
from memgauge.commands.shared.repeat import refuse_with_repeat, repeat, repeat_option
from memgauge.commands.shared.resume import Confirmed, resume
from memgauge.experiments.registry import load
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.experiments import SURVEYED_COMMANDS
from memgauge.model.parameters import CommonParameters, RunOptions, build, words_for

only_option = click.option(
    "--only",
    cls=GroupedOption,
    group="what",
    metavar="NAME,...",
    shell_complete=listed_values([*SURVEYED_COMMANDS]),
    help=f"experiments to run ({', '.join(SURVEYED_COMMANDS)}) [default: all]",
)


plan_option = click.option(
    "--plan",
    "only_plan",
    cls=GroupedOption,
    group="effort",
    is_flag=True,
    help="measure nothing: print how long the survey is expected to prepare and to measure, what "
    "it would leave out, and the budget that would fit it",
)

tree_option = click.option(
    "--machine-tree",
    cls=GroupedOption,
    group="where",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="with --plan: plan for the machine whose /sys and /proc were copied to this directory",
)


@click.command("survey", cls=OneRankReports)
@options_of(CommonParameters, RunOptions, several=["memory"])
@full_option
@only_option
@repeat_option
@plan_option
@tree_option
@click.option(
    "--resume",
    "interrupted",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="complete a run that was interrupted or killed, with the options it was started with; "
    "memory other than dram is used again only if it is named again, by --memory",
)
def command(  # noqa: PLR0913, PLR0917 - one for each option that is no parameter
    interrupted: Path | None,
    only: str | None,
    times: int | None,
    memory: tuple[str, ...],
    only_plan: bool,
    machine_tree: Path | None,
    full: bool,
    **values: Any,
) -> int:
    """Measure this machine's memory and write a report.

    Runs every experiment inside one time budget, prints the answer in a few lines, and leaves a run
    directory with the records, the whole summary and one HTML page. Needs no privilege, no PMU and
    no network. Started by mpirun or srun on several nodes, it measures each of them once, as
    'memgauge cluster' does.

    \N{FORM FEED}

    Args:
        interrupted: Directory of the run to complete; None starts a new run.
        only: Experiments to run, separated by commas; None runs all.
        times: How many runs to make, each in a process of its own; None makes one in this process.
        memory: Text of each `--memory`. A new run takes one at most; a resumed run takes all
            placements that it may use beside `dram`.
        only_plan: Whether to print what the survey would do, and do nothing.
        machine_tree: Root of a copy of another machine's /sys and /proc, to plan for; None: this
            machine.
        full: Whether to print every section, and the answer last.
        **values: Text of each other option by keyword; None for an option not given.

    Raises:
        RequestError: an option is given that a resumed run cannot change.
    """
    if times is not None:
        beside = {"--resume": interrupted, "--json": values["json"], "mpirun": is_one_of_several()}
        refuse_with_repeat(beside)
    if machine_tree is not None and not only_plan:
        raise RequestError("--machine-tree: only --plan uses another machine's tree; add --plan")
    if only_plan and (times is not None or interrupted is not None or values["json"]):
        raise RequestError(
            "--plan: prints a plan of one new survey; leave out --repeat, --resume and --json"
        )
    if interrupted is None or is_one_of_several():
        values["memory"] = one_memory(memory)
    if is_one_of_several() and not only_plan:
        return survey_nodes({**values, "only": only}, interrupted)
    options = requested(RunOptions, values)
    common = given(CommonParameters, values)
    if interrupted is not None:
        changes = (only, options.output, options.remember or None)
        if common.keys() - {"overwrite"} or any(one is not None for one in changes):
            raise RequestError(
                "--resume: a run is completed with the options it was started with; leave out all "
                "but --budget, --precision and --json, and what confirms its memory: --memory and "
                "--overwrite"
            )
        confirmed = Confirmed(memory, overwrite="overwrite" in common)
        return resume(interrupted, options, given(RunOptions, values), confirmed, full=full)
    chosen = [
        (one := load(name), build(one.parameters, **api.taken_by(one.parameters, common)))
        for name in api.surveyed(only)
    ]
    if only_plan:
        click.echo(api.predicted(chosen, options.budget_s, machine_tree), nl=False)
        return ExitCode.DONE
    if times is not None:
        words = words_for([CommonParameters, RunOptions], values, leave_out={"output"})
        words += [] if only is None else [f"--only={only}"]
        words += ["--full"] if full else []
        return repeat(times, ["survey", *words], options.output, "survey")
    return measure(chosen, options, name="survey", full=full)


def one_memory(memory: tuple[str, ...]) -> str | None:
    """The memory that a survey measures; None where it was not given.

    Raises:
        RequestError: it was given more than once, which only `--resume` has a use for.
    """
    if len(memory) > 1:
        raise RequestError(
            f"--memory: a survey measures one memory, and {len(memory)} are given; give one"
        )
    return memory[0] if memory else None
