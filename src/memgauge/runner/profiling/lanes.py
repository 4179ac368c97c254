"""The lanes of a profile: opened as far as can be, reported where not, and what they came to."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from memgauge.counters.base import Target, ThreadEvent
from memgauge.counters.components import (
    OF_PROGRAM,
    LanePlan,
    Missing,
    Plan,
    of_program,
    plan_components,
    plan_events,
)
from memgauge.counters.host import Host
from memgauge.counters.lanes import RunningLane, TreeUse, sampled, trees_of
from memgauge.counters.opening import by_thread
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.counting.events import Domain, Quantity
from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.record_kinds.programs import CountedByThread, Process
from memgauge.model.records import NOT_WATCHED, AnyRecord, Warning
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.system.programs.program import Program, Subject, tree_of

MOST_THREADS = 200
"""Those with most CPU time are kept in the record of a program."""
FEW = 0.01
"""Share of instants that may be missed without a word."""
OF_THREADS: frozenset[Domain] = frozenset({"core", "software"})
"""Domains of events that are bound to threads,"""
KNOWN_OF_THREADS: frozenset[Quantity] = frozenset({"time", "context_switches"})
"""and what the kernel accounts to each thread whether it is counted or not."""
_CPU_TIMES = ("proc:cpu_time", "perf:task-clock")
"""By the kernel's accounts first: those of the whole machine leave out steal likewise."""
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
        self,
        directory: Path,
        parameters: ProfileParameters,
        host: Host,
        *,
        whole_process: bool,
        whole_node: bool = True,
    ) -> None:
        self.warnings: list[Warning] = []
        """What is not watched, and why."""
        self._directory = directory
        self._parameters = parameters
        self._host = host
        self._whole_process = whole_process
        self._whole_node = whole_node
        self._not_opened: list[Warning] = []
        self._stack = ExitStack()
        self._by_thread: list[ThreadEvent] = []
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
            RequestError: nothing at all can be watched, where that is not left to another rank.
        """
        if self._whole_process:
            self._stack.enter_context(raised_file_limit())
        by_name = self._parameters.counters or ()
        rate_hz = self._parameters.rate_hz
        names = self._parameters.chosen_components
        if not self._whole_node:
            names = tuple(name for name in names if name in OF_PROGRAM)
        plans = [plan_components(names, rate_hz, self._host)]
        if by_name:
            named = plan_events(by_name, rate_hz, self._host)
            plans.append(named if self._whole_node else of_program(named))
        if self._parameters.by_thread:
            self._by_thread = self._for_threads(plans)
        for plan in plans:
            self._open(plan, subject)
        if not self._running and self._whole_node:
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

    def program_cpu_s(self) -> float | None:
        """CPU time of the program up to the last sample, exact where perf counts it."""
        for wanted in _CPU_TIMES:
            for reading in self.latest():
                parts = [
                    None if (raw := reading.values[one.slot]) is None else raw * one.scale
                    for one in reading.counters.of
                    if one.event == wanted
                ]
                known = [part for part in parts if part is not None]
                if parts and len(known) == len(parts):
                    return sum(known)
        return None

    def trees(self) -> list[TreeUse]:
        """What each process tree that is followed used, up to the last sample."""
        return [tree for lane in self._running for tree in trees_of(lane)]

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

    def _for_threads(self, plans: Iterable[Plan]) -> list[ThreadEvent]:
        """What is counted of the program and not known of each thread anyway.

        Raises:
            RequestError: there is nothing of that kind, or nobody follows the threads.
        """
        planned = [event for plan in plans for lane in plan.lanes for event in lane.events]
        wanted = {
            event.name: event
            for event in planned
            if event.domain in OF_THREADS and event.quantity not in KNOWN_OF_THREADS
        }
        found = by_thread(list(wanted.values()), self._host)
        if not found:
            raise RequestError(
                "--by-thread: no event that is watched can be counted for a thread here; watch the "
                "components software or core, or name events of perf with --counters"
            )
        if not any(event.back_end == "proc" for event in planned):
            raise RequestError(
                "--by-thread: finds threads by the component process; name it with --components too"
            )
        return found

    @property
    def thread_events(self) -> list[CountedByThread]:
        """What is counted for each thread."""
        return [
            CountedByThread(
                event=one.event.name,
                quantity=one.event.quantity,
                unit=one.event.unit,
                scale=one.event.scale,
            )
            for one in self._by_thread
        ]

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
        target = Target(pids=pids, inherit=True, by_thread=self._by_thread)
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


def with_use(process: Process, subject: Subject, lanes: Lanes) -> Process:
    """The process with what it used; it is waited for, where it has ended.

    Args:
        process: The record of the program.
        subject: The program, no longer sampled.
        lanes: All that was sampled.
    """
    trees = lanes.trees()
    every = sorted(
        (one for tree in trees for one in tree.threads), key=lambda one: (-one.cpu_ns, one.tid)
    )
    own = subject if isinstance(subject, Program) else None
    return msgspec.structs.replace(
        process,
        usage=own.usage() if own else None,
        peak_floor_bytes=own.peak_floor_bytes if own else None,
        seen_peak_bytes=max((_peak(tree, held=own is not None) for tree in trees), default=0)
        or None,
        threads=every[:MOST_THREADS],
        thread_events=lanes.thread_events,
        threads_left_out=len(every[MOST_THREADS:]) + sum(tree.left_out for tree in trees),
    )


def _peak(tree: TreeUse, *, held: bool) -> int:
    """Without that of a process that was held before its first instruction."""
    return max(0 if held else tree.first_peak_bytes, tree.later_peak_bytes)
