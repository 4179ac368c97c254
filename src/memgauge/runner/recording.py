"""The body of one run: open, measure, validate, and write each record as it is known."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Literal

from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.model.errors import DoesNotFit, MemgaugeError, OutOfTime, RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import texts
from memgauge.model.points.shared import AnyActual
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import AnyRecord, Point, RunEnd, RunStart
from memgauge.model.rules import work_of
from memgauge.model.storage.run_file import Run, RunWriter
from memgauge.runner.actual_memory import with_memory
from memgauge.runner.batches import Planned, needs
from memgauge.runner.budget import (
    least_stretch_s,
    report_s,
)
from memgauge.runner.fitting import LeftOut, memory_needed
from memgauge.runner.partial import partial_warnings
from memgauge.runner.point_progress import PointProgress
from memgauge.runner.preparing import Preparing, by_importance
from memgauge.runner.request import OnProgress, Progress, Request
from memgauge.runner.rounds import Rounds
from memgauge.runner.start import run_start
from memgauge.runner.thinning import (
    essential_points,
    round_s_of,
    steps_of,
)
from memgauge.runner.trial import Trial
from memgauge.system.environment.conditions import EnvironmentMonitor
from memgauge.system.limits.memory import require_memory
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.memory.sources import Memories, opened
from memgauge.system.topology.placement import within


def _refuse_other_gpu(directory: Path, point: Point, known: Point | None) -> None:
    """A number means another GPU where CUDA_VISIBLE_DEVICES or the slots have changed."""
    if known is None:
        return
    then = AnyActual.of(known.actual)
    if then.gpu_uuid == AnyActual.of(point.actual).gpu_uuid:
        return
    raise RequestError(
        f"{directory}: {point.point} was measured on another GPU "
        f"({then.gpu}, {then.gpu_uuid}); samples of two GPUs "
        "are never put into one run; start a new run"
    )


def _start(request: Request) -> RunStart:
    return run_start(
        {experiment.name: texts(parameters) for experiment, parameters in request.experiments},
        request.system,
        budget_s=request.budget_s,
        precision=request.precision,
        resumed=request.resume,
        earlier=request.earlier,
    )


def _opened(batch: Sequence[Planned]) -> AbstractContextManager[Memories]:
    """The files, devices and pools that the groups of a batch put their arrays in."""
    wanted: Counter[MemoryPlacement] = Counter()
    for planned in batch:
        wanted.update(needs(planned))
    requested = [parameters for _, parameters, _ in batch]
    return opened(
        wanted,
        keep=any(one.keep for one in requested),
        overwrite=any(one.overwrite for one in requested),
    )


class Recording:
    """The body of one run, between its first and its last record."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a run keeps to, goes on from and goes without
        self,
        request: Request,
        trial: Trial,
        writer: RunWriter,
        prior: Run | None,
        left_out: LeftOut,
        on_progress: OnProgress,
    ) -> None:
        self._request = request
        self._trial = trial
        self._budget = trial.budget
        self._writer = writer
        self._prior = prior
        self._on_progress = on_progress
        self._left_out = left_out
        self._monitor = EnvironmentMonitor(request.system.allowed_cpus, own_children=True)
        self._rounds = Rounds(writer, self._monitor, trial.budget, request.precision, left_out)
        if prior is not None:
            self._rounds.completed = prior.rounds
        self._points: list[Point] = []
        self._samples_before = 0
        """Of batches that are closed."""
        self._started = False
        self._all_reached = True
        self._others_stride = 1
        """Rounds that a sample of a point stands for at least, unless it is essential."""

    def record(self, packed: Sequence[Sequence[Planned]]) -> None:
        """Measure every batch; the last record says how it ended.

        Raises:
            DoesNotFit: no memory was left for any of it.
        """
        self._monitor.start()
        try:
            waiting = deque(packed)
            while waiting:
                batch = waiting.popleft()
                late = self._batch(batch, waiting)
                waiting.extend([late] if late else [])
            if not self._started:
                raise self._left_out.nothing_left()
            self._simulate(packed)
        except KeyboardInterrupt as interruption:
            self._end("interrupted", str(interruption) or "Ctrl-C")
            raise
        except MemgaugeError as error:
            self._end("failed", str(error))
            raise
        self._end("complete" if self._all_reached else "budget", None)

    def _simulate(self, packed: Sequence[Sequence[Planned]]) -> None:
        """What models predict for the points of the run, written as each is there."""
        experiments = {
            planned[0].name: (planned[0], planned[1]) for batch in packed for planned in batch
        }
        for name, (experiment, parameters) in experiments.items():
            points = [point for point in self._points if point.experiment == name]
            system = within(self._request.system, parameters.nodes)
            done: set[str] = set()
            try:
                with memory_needed(f"{name}: simulating"):
                    for record in experiment.simulate(points, parameters, system):
                        self._writer.write([record])
                        done.update([record.point] if isinstance(record, Simulated) else ())
                        self._show(f"simulating {name}", len(done), len(points))
            except DoesNotFit as error:
                self._left_out.add(name, error)

    def _end(
        self, status: Literal["complete", "budget", "interrupted", "failed"], reason: str | None
    ) -> None:
        if not self._started:
            return
        self._writer.write(
            [
                RunEnd(
                    status=status,
                    reason=reason,
                    elapsed_s=self._budget.elapsed_s,
                    rounds=self._rounds.completed,
                )
            ]
        )

    def _batch(
        self, batch: Sequence[Planned], waiting: Iterable[Sequence[Planned]]
    ) -> list[Planned]:
        """Measure groups together; returns those that found no memory beside the others.

        Of the time that is left they get the share that they have of a round of all points.
        """
        with ExitStack() as stack:
            memories = stack.enter_context(_opened(batch))
            benches, late = self._open_all(stack, batch, memories)
            if not benches:
                return late
            self._start()
            sets = [made for bench in benches for made in bench.counters]
            found = [record for bench in benches for record in bench.found]
            self._writer.write([*sets, *partial_warnings(sets), *found])
            share_s = self._share_s(benches.values(), [late, *waiting])
            if self._request.is_survey:
                share_s = self._try(benches, share_s, [late, *waiting])
            requested = {bench: parameters for bench, (_, parameters, _) in benches.items()}
            essential = {bench: essential_points(group) for bench, (_, _, group) in benches.items()}

            def declare(bench: Bench, points: Sequence[Point]) -> list[PointProgress]:
                found = [with_memory(point, requested[bench], memories) for point in points]
                return self._declare(bench, found, essential[bench])

            tracked = [progress for bench in benches for progress in declare(bench, bench.points)]
            experiments = {experiment.name: experiment for experiment, _, _ in benches.values()}
            least_s = least_stretch_s(self._request.precision)
            self._rounds.run(tracked, share_s, least_s, self._tick, declare)
            self._samples_before += sum(one.history.taken for one in tracked)
            self._close(benches, tracked, experiments)
        self._all_reached &= not any(one.wanted for one in tracked if one.bench.is_needed)
        return late

    def _share_s(self, here: Iterable[Planned], others: Iterable[Iterable[Planned]]) -> float:
        """Seconds for the groups of a batch, of those that are left."""
        mine_s = self._round_s(here)
        return self._budget.remaining_s * mine_s / (mine_s + sum(map(self._round_s, others)))

    def _round_s(self, groups: Iterable[Planned]) -> float:
        found = [group for _, _, group in groups]
        return sum(
            round_s_of(step, found[step.place], self._trial.model) for step in steps_of(found)
        )

    def _try(
        self,
        benches: Mapping[Bench, Planned],
        share_s: float,
        others: Iterable[Iterable[Planned]],
    ) -> float:
        """Leave out what does not fit, and say so; returns the seconds left for the rounds."""
        self._show("trying", 0, sum(len(bench.points) for bench in benches))
        began_s = self._budget.elapsed_s
        self._others_stride = self._trial.run(benches, share_s)
        for experiment, message in self._trial.left.taken_messages():
            self._left_out.add(experiment, DoesNotFit(message))
        points = len(self._points) + sum(len(bench.points) for bench in benches)
        points += sum(len(group.points) for batch in others for _, _, group in batch)
        self._budget.reserve(report_s(points, self._trial.model.pace), self._request.report_share)
        return max(0.0, share_s - (self._budget.elapsed_s - began_s))

    def _start(self) -> None:
        """The first record, once something could be opened: a refused request leaves no run."""
        if not self._started:
            self._writer.write([_start(self._request), *self._request.known])
            self._started = True
            self._left_out.recorded_by(self._writer.write)

    def _open_all(
        self, stack: ExitStack, batch: Sequence[Planned], memories: Memories
    ) -> tuple[dict[Bench, Planned], list[Planned]]:
        """What could be opened, and what found no memory beside it: alone it may."""
        benches: dict[Bench, Planned] = {}
        late: list[Planned] = []
        preparing = Preparing(self._budget, self._trial.model)
        for planned in by_importance(batch) if self._request.is_survey else batch:
            if self._is_too_long(preparing, planned):
                continue
            limit = preparing.within_time(planned) if self._request.is_survey else nullcontext()
            try:
                with limit:
                    benches[self._open(stack, planned, memories)] = planned
            except OutOfTime as error:
                self._left_out.add(planned[0].name, error)
            except DoesNotFit as error:
                if benches:
                    late.append(planned)
                else:
                    self._left_out.add(planned[0].name, error)
        places = {id(planned[2]): place for place, planned in enumerate(batch)}
        as_planned = sorted(benches.items(), key=lambda opened: places[id(opened[1][2])])
        return dict(as_planned), late

    def _is_too_long(self, preparing: Preparing, planned: Planned) -> bool:
        """Whether a survey leaves a group out, because it would take too long to prepare."""
        if not self._request.is_survey:
            return False
        try:
            preparing.require_time(planned)
        except DoesNotFit as error:
            self._left_out.add(planned[0].name, error)
            return True
        return False

    def _open(self, stack: ExitStack, planned: Planned, memories: Memories) -> Bench:
        experiment, parameters, group = planned
        what = f"{experiment.name}: {group.name}"
        self._show(f"preparing {what}", 0, len(group.points))
        if parameters.pages not in EXPLICIT_PAGE_BYTES:
            for placement, size in needs(planned).items():
                if not (placement.is_area or placement.is_gpu):
                    require_memory(size, what, node=placement.node)
        with memory_needed(what):
            return stack.enter_context(experiment.open(group, parameters, memories))

    def _declare(
        self, bench: Bench, points: Sequence[Point], essential: Collection[str]
    ) -> list[PointProgress]:
        known = self._prior.points if self._prior else {}
        for point in points:
            if point.point in known and work_of(point) != work_of(known[point.point]):
                raise RequestError(
                    f"{self._request.directory}: {point.point} was measured with different work "
                    "before, such as arrays of another size; start a new run"
                )
            _refuse_other_gpu(self._request.directory, point, known.get(point.point))
        self._writer.write([point for point in points if point.point not in known])
        self._points += points
        tracked = {
            point.point: PointProgress(
                bench,
                point,
                self._prior.samples.pop(point.point, ()) if self._prior else (),
                least_stride=1 if point.point in essential else self._others_stride,
            )
            for point in points
        }
        for progress in tracked.values():
            if progress.point.measured_with is not None:
                tracked[progress.point.measured_with].followers.append(progress)
        return list(tracked.values())

    def _close(
        self,
        benches: Iterable[Bench],
        tracked: Sequence[PointProgress],
        experiments: dict[str, Experiment],
    ) -> None:
        self._show("validating", sum(not progress.wanted for progress in tracked), len(tracked))
        records: list[AnyRecord] = []
        for bench in benches:
            records += bench.validate()
        for progress in tracked:
            experiment = experiments[progress.point.experiment]
            elapsed_ns = progress.history.elapsed_ns
            records += experiment.check(progress.point, elapsed_ns, self._request.system)
        self._writer.write(records)

    def _tick(self, tracked: Sequence[PointProgress]) -> None:
        samples = self._samples_before + sum(one.history.taken for one in tracked)
        points = len(self._points)
        needed_s = report_s(points, self._trial.model.pace, samples)
        if needed_s > self._budget.reserve_s:
            self._budget.reserve(needed_s, self._request.report_share)
        self._show("measuring", sum(not progress.wanted for progress in tracked), len(tracked))

    def _show(self, phase: str, reached: int, points: int) -> None:
        elapsed = self._budget.elapsed_s
        self._on_progress(
            Progress(
                phase=phase,
                done_share=min(1.0, elapsed / self._budget.total_s),
                reached=reached,
                points=points,
                remaining_s=max(0.0, self._budget.total_s - elapsed),
            )
        )
