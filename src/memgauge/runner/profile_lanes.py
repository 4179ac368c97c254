"""The lanes of a profile: opened as far as can be, reported where not, and what they came to."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from memgauge.counters.base import Target
from memgauge.counters.components import LanePlan, Missing, Plan, plan_components, plan_events
from memgauge.counters.host import Host
from memgauge.counters.lanes import RunningLane, sampled
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.records import NOT_WATCHED, AnyRecord, CounterSet, Warning
from memgauge.runner.profile_parameters import ProfileParameters
from memgauge.system.programs.program import Subject, tree_of

FEW = 0.01
"""Share of instants that may be missed without a word."""
CHEAP = 0.01
"""Share of one core that sampling may take without a word."""


class LatestReading(msgspec.Struct, frozen=True, kw_only=True):
    """The last sample of a lane, for a live view. Raw."""

    counters: CounterSet
    begin_ns: int
    end_ns: int
    values: list[int | None]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What all lanes did together."""

    lanes: int = 0
    samples: int = 0
    missed: int = 0
    dropped: int = 0
    bytes: int = 0
    cpu_ns: int = 0


class Lanes:
    """All lanes of a profile."""

    def __init__(
        self, directory: Path, parameters: ProfileParameters, host: Host, *, whole_process: bool
    ) -> None:
        self.warnings: list[Warning] = []
        """What is not watched, and why."""
        self._directory = directory
        self._parameters = parameters
        self._host = host
        self._whole_process = whole_process
        self._not_opened: list[Warning] = []
        self._stack = ExitStack()
        self._running: list[RunningLane] = []

    @property
    def records(self) -> list[AnyRecord]:
        """What declares them."""
        pairs = ((lane.counters, lane.record) for lane in self._running)
        return [record for pair in pairs for record in pair]

    def open(self, subject: Subject) -> None:
        """Open and start all that can be.

        Raises:
            UnknownEvent: an event that was named is malformed or not known here.
            RequestError: nothing at all can be watched.
        """
        if self._whole_process:
            self._stack.enter_context(raised_file_limit())
        by_name = self._parameters.counters or ()
        rate_hz = self._parameters.rate_hz
        plans = [plan_components(self._parameters.chosen_components, rate_hz, self._host)]
        if by_name:
            plans.append(plan_events(by_name, rate_hz, self._host))
        for plan in plans:
            self._open(plan, subject)
        if not self._running:
            # What could have been watched, such as on a disk with room, is the reason to tell.
            reasons = "; ".join(map(_with_remedy, self._not_opened or self.warnings))
            raise RequestError(f"nothing can be watched here: {reasons}")

    def latest(self) -> list[LatestReading]:
        """The last sample of each lane that has one."""
        pairs = ((lane, lane.native.latest()) for lane in self._running)
        return [
            LatestReading(
                counters=lane.counters,
                begin_ns=reading.begin_ns,
                end_ns=reading.end_ns,
                values=reading.values,
            )
            for lane, reading in pairs
            if reading is not None
        ]

    def totals(self) -> Totals:
        """Sums over all lanes, so far."""
        states = [lane.native.state() for lane in self._running]
        return Totals(
            lanes=len(states),
            samples=sum(state.samples for state in states),
            missed=sum(state.missed for state in states),
            dropped=sum(state.dropped for state in states),
            bytes=sum(state.bytes for state in states),
            cpu_ns=sum(state.cpu_ns for state in states),
        )

    def remarks(self) -> list[Warning]:
        """What a reader must know of lanes that have ended."""
        return [remark for lane in self._running for remark in _remarks(lane)]

    @property
    def failure(self) -> str | None:
        """Why a lane stopped sampling before its end; of several, the first."""
        failures = (_ended_early(lane) for lane in self._running)
        return next((failure for failure in failures if failure is not None), None)

    def close(self) -> None:
        """Take last samples, close files and counters; a second call does nothing."""
        self._stack.close()

    def discard(self) -> None:
        """Remove the files of lanes that were closed."""
        for lane in self._running:
            self._forget(lane.plan)

    def _open(self, plan: Plan, subject: Subject) -> None:
        self.warnings += [_missing(missing) for missing in plan.missing]
        for lane in plan.lanes:
            self._open_lane(lane, subject)

    def _open_lane(self, lane: LanePlan, subject: Subject) -> None:
        try:
            self._running.append(self._stack.enter_context(self._sampled(lane, subject)))
        except MemgaugeError as error:
            self._forget(lane)
            # What one of them refuses must not take the others along.
            for part in lane.parts:
                self._open_lane(part, subject)
            if not lane.parts:
                warning = _missing(Missing(component=lane.name, reason=str(error)))
                self.warnings.append(warning)
                self._not_opened.append(warning)

    def _sampled(self, plan: LanePlan, subject: Subject) -> AbstractContextManager[RunningLane]:
        needs_each = any(BACK_ENDS[event.back_end].per_process for event in plan.events)
        pids = tree_of(subject.pid) if subject.attached and needs_each else [subject.pid]
        target = Target(pids=pids, inherit=True)
        return sampled(plan, target=target, directory=self._directory, host=self._host)

    def _forget(self, plan: LanePlan) -> None:
        with suppress(OSError):
            (self._directory / f"{plan.name}.lane").unlink()


@contextmanager
def raised_file_limit() -> Iterator[None]:
    """As far as this process may: a process tree takes a descriptor for each thread.

    The program was forked before and keeps the limits that memgauge was started with.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _with_remedy(warning: Warning) -> str:
    return f"{warning.message} ({warning.remedy})" if warning.remedy else warning.message


def _missing(missing: Missing) -> Warning:
    return Warning(
        code=NOT_WATCHED,
        message=f"{missing.component}: {missing.reason}",
        remedy=missing.remedy,
    )


def _ended_early(lane: RunningLane) -> str | None:
    error = lane.native.state().error
    if error is None:
        return None
    name, file = lane.record.counters, lane.record.file
    return f"{name}: sampling ended early: {file} could not be written: {error}"


def _remarks(lane: RunningLane) -> Iterable[Warning]:
    state = lane.native.state()
    name = lane.record.counters
    if (failure := _ended_early(lane)) is not None:
        yield Warning(
            code="lane-ended",
            message=failure,
            remedy="free some space, or name another --output",
        )
    if state.dropped and state.error is None:
        yield Warning(
            code="samples-lost",
            message=f"{name}: {state.dropped} of {state.samples} samples were lost: the disk was "
            "too slow",
            remedy="write to a faster disk (--output), or sample less often (--rate)",
        )
    if state.missed > FEW * (state.samples + state.missed):
        longest_ms = state.longest_read_ns * 1e-6
        yield Warning(
            code="samples-missed",
            message=f"{name}: {state.missed} of {state.samples + state.missed} instants were not "
            f"sampled: the longest reading took {longest_ms:.1f} ms",
            remedy="sample less often (--rate), or watch less",
        )
    span_ns = max(1, state.samples + state.missed) * lane.record.interval_ns
    if state.cpu_ns > CHEAP * span_ns:
        yield Warning(
            code="sampling-cost",
            message=f"{name}: sampling took {state.cpu_ns / span_ns:.1%} of one core",
            remedy="sample less often (--rate), or watch less",
        )
