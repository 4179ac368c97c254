"""One run: plan, open, measure, validate, record."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from memgauge.model.errors import RequestError
from memgauge.model.records import Warning
from memgauge.model.storage.run_file import Run, RunWriter, read_run
from memgauge.runner.batches import batches
from memgauge.runner.budget import (
    Budget,
    BudgetPlan,
    report_s,
)
from memgauge.runner.costs import cost_model
from memgauge.runner.fitting import LeftOut, Requested, fitting
from memgauge.runner.recording import Recording
from memgauge.runner.request import OnProgress, Request
from memgauge.runner.thinning import (
    LeftPoints,
    choose,
)
from memgauge.runner.trial import Trial
from memgauge.system.gpu.untested import untested_on_gpu
from memgauge.system.limits.room import room


def execute(request: Request, on_progress: OnProgress = lambda _: None) -> Run:
    """Measure and record; returns the run as it was written.

    Raises:
        RequestError: the machine cannot do what was asked; nothing was measured.
        SystemFailure: the record could not be written; what was written is kept.
        KeyboardInterrupt: after the record was closed as interrupted.
    """
    budget = Budget(request.budget_s, began=request.began)
    left_out = LeftOut(request.experiments, [*request.warnings, *_untested(request.experiments)])
    planned = fitting(request.experiments, request.system, left_out)
    prior = _prior(request)
    model = cost_model(request.system, budget.pace)
    known = frozenset(prior.points if prior else ())
    left = LeftPoints(planned, request.budget_s)
    if request.is_survey:
        times = BudgetPlan(total_s=request.budget_s, spent_s=budget.elapsed_s, pace=model.pace)
        choice = choose(planned, model, times, forced=known)
        planned, left = choice.kept, choice.left
    points = sum(len(group.points) for _, _, group in planned)
    budget.reserve(report_s(points, model.pace), request.report_share)
    packed = batches(planned, partial(room, request.system))
    trial = Trial(budget=budget, model=model, left=left, forced=known)
    with RunWriter(request.directory, resume=request.resume) as writer:
        recording = Recording(request, trial, writer, prior, left_out, on_progress)
        recording.record(packed)
    return read_run(request.directory)


def _untested(requested: Sequence[Requested]) -> list[Warning]:
    """What is measured by code that has not run on real hardware so far."""
    if not any(memory.is_gpu for _, parameters in requested for memory in parameters.memories):
        return []
    return [
        Warning(
            code="untested-on-gpu",
            message=untested_on_gpu("the GPU driver's library"),
            remedy="compare its figures of the GPU with those of another tool",
        )
    ]


def _prior(request: Request) -> Run | None:
    if not request.resume:
        return None
    run = read_run(request.directory)
    if run.start.system.machine_id != request.system.machine_id:
        raise RequestError(
            f"{request.directory}: was measured on another machine ({run.start.system.cpu_model}); "
            f"samples of two machines are never put into one run; start a new run here"
        )
    return run
