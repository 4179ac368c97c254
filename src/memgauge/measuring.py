"""Run experiments and record them, with what they need of earlier runs, which they do not read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import SystemFailure
from memgauge.model.parameters import CommonParameters, RunOptions
from memgauge.model.records import Warning
from memgauge.model.storage.run_file import run_directory
from memgauge.results import Result, load_run

if TYPE_CHECKING:
    from memgauge.experiments.loaded.parameters import LoadedParameters
    from memgauge.experiments.shared.base import Experiment
    from memgauge.model.record_kinds.replayed import Replayed
    from memgauge.model.records import MeasuredCurve, MeasuredReach, MeasuredWeights
    from memgauge.model.system import System
    from memgauge.runner.budget import Beginning
    from memgauge.runner.request import Progress


def measure(  # noqa: PLR0913 - all but two by name
    chosen: Sequence[tuple[Experiment, CommonParameters]],
    options: RunOptions,
    *,
    name: str,
    resume: Path | None = None,
    began: Beginning | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_warning: Callable[[Warning], None] = lambda _: None,
) -> Result:
    """Run experiments and record them; the command line and the Python API share this.

    Args:
        chosen: Experiments to run, each with its requested parameters.
        options: What applies to the whole run: time budget, precision, output directory.
        name: Last part of the name of a new run directory, unless `options` names the directory.
        resume: Directory of the run to complete; None starts a new run.
        began: From when on the budget counts; None: from the call.
        on_progress: Called often during the run with how far it is.
        on_warning: Called before the run with each warning about its explicit huge pages and the
            earlier runs that are kept, and after it if its own figures cannot be kept.

    Raises:
        RequestError: the machine cannot do what was asked.
        KeyboardInterrupt: interrupted; what was measured is in the run directory.
    """
    from memgauge.runner.budget import Beginning
    from memgauge.runner.machine import prepared
    from memgauge.runner.request import Request
    from memgauge.runner.run import execute
    from memgauge.system.detect import detect
    from memgauge.system.earlier_runs import Known, known_before

    began = began or Beginning.now()
    chosen, replayed = _replaying(chosen, options.budget_s, resume)
    where = nullcontext(resume) if resume else run_directory(options.output, name)
    with prepared(chosen, detect) as prepared_with, where as directory:
        machine = detect()
        if options.peak_bytes_per_s is not None:
            machine = msgspec.structs.replace(
                machine,
                theoretical_bandwidth_bytes_per_s=options.peak_bytes_per_s,
                peak_is_given=True,
                peak_source=None,
            )
        known = (
            Known()
            if resume
            else known_before(directory, machine.machine_id, remembered=options.remember)
        )
        chosen, weights = _by_weights(chosen, machine, resume)
        noticed = [*prepared_with, *known.warnings]
        for warning in noticed:
            on_warning(warning)
        request = Request(
            experiments=[
                (one, requested.for_budget(options.budget_s)) for one, requested in chosen
            ],
            budget_s=options.budget_s,
            precision=options.precision,
            directory=directory,
            system=machine,
            resume=resume is not None,
            warnings=noticed,
            earlier=known.runs,
            began=began,
            known=() if resume else [*_known_curves(chosen, machine), *weights, *replayed],
        )
        result = Result(execute(request, on_progress), request.directory)
        _keep_headlines(result, on_warning, remember=options.remember)
        return result


def _replaying(
    chosen: Sequence[tuple[Experiment, CommonParameters]],
    budget_s: float,
    resume: Path | None = None,
) -> tuple[list[tuple[Experiment, CommonParameters]], list[Replayed]]:
    """The experiments, with `loaded --like` in the place of `loaded`, and the profiles replayed.

    Args:
        chosen: Experiments to run, each with its requested parameters.
        budget_s: Time that the run may take, in seconds.
        resume: Run to complete, whose record holds the steps; None: they are made of the profile.

    Raises:
        RunFileError: the profile is no run.
        RequestError: it has no counted memory traffic to replay, or options contradict each other.
    """
    if all(one.name != "loaded" for one, _ in chosen):
        return [*chosen], []
    from memgauge.experiments.loaded.parameters import LoadedParameters
    from memgauge.experiments.loaded.replay import Replay

    found: list[Replayed] = []
    made: list[tuple[Experiment, CommonParameters]] = []
    for experiment, parameters in chosen:
        if isinstance(parameters, LoadedParameters) and parameters.like is not None:
            found.append(_replayed(parameters, budget_s, resume))
            made.append((Replay(found[-1]), parameters))
        else:
            made.append((experiment, parameters))
    return made, found


def _replayed(parameters: LoadedParameters, budget_s: float, resume: Path | None) -> Replayed:
    from memgauge.experiments.loaded.replay_plan import BUDGET_SHARE

    if resume is not None:
        return load_run(resume).replayed_before()
    return load_run(parameters.like or "").replayed(
        parameters.most_steps, BUDGET_SHARE * budget_s, parameters.assumed_read_share
    )


def _known_curves(
    chosen: Sequence[tuple[Experiment, CommonParameters]], machine: System
) -> list[MeasuredCurve | MeasuredReach]:
    """Curves and the reach of the TLB, of the run that a diagnosis names.

    Raises:
        RunFileError: it is no run.
        RequestError: it is of another machine, or has neither.
    """
    if all(one.name != "diagnose" for one, _ in chosen):
        return []
    from memgauge.experiments.diagnose.parameters import DiagnoseOptions

    named = [one.curves for _, one in chosen if isinstance(one, DiagnoseOptions) and one.curves]
    return [one for path in named for one in load_run(path).known_of(machine.machine_id)]


def _by_weights(
    chosen: Sequence[tuple[Experiment, CommonParameters]], machine: System, resume: Path | None
) -> tuple[list[tuple[Experiment, CommonParameters]], list[MeasuredWeights]]:
    """The experiments, a diagnosis with the weights of nodes of the run that it names, and these.

    Args:
        chosen: Experiments to run, each with its requested parameters.
        machine: This one.
        resume: Run to complete, whose record holds the weights; None: the named run does.

    Raises:
        RunFileError: it is no run.
        RequestError: it is of another machine, or does not tell which weights are best.
    """
    if all(one.name != "diagnose" for one, _ in chosen):
        return [*chosen], []
    from memgauge.experiments.diagnose.host import Diagnose
    from memgauge.experiments.diagnose.parameters import DiagnoseOptions

    found: list[MeasuredWeights] = []
    made: list[tuple[Experiment, CommonParameters]] = []
    for experiment, parameters in chosen:
        if isinstance(parameters, DiagnoseOptions) and parameters.weights:
            found = (
                load_run(resume).run.weights
                if resume
                else load_run(parameters.weights).weights_of(machine.machine_id)
            )
            made.append((Diagnose(found), parameters))
        else:
            made.append((experiment, parameters))
    return made, found


def _keep_headlines(
    result: Result, on_warning: Callable[[Warning], None], *, remember: bool
) -> None:
    """Keep the headline figures of a whole run for later ones; a failure loses nothing else."""
    from memgauge.system.earlier_runs import keep

    if len(result.run.starts) > 1 or result.failed_validations or not result.headline_figures:
        if remember:
            message = "--remember: the run has no headline figures that could be kept"
            on_warning(Warning(code="not-remembered", message=message))
        return
    try:
        keep(result.run.start, result.headline_figures, result.directory, remember=remember)
    except SystemFailure as error:
        on_warning(Warning(code="not-remembered", message=str(error)))
