"""A profile: a program runs, native threads sample what the machine and the program do beside it.

Everything is recorded while it happens, so that a profile that is killed can be read. Nothing that
goes wrong with memgauge once the program runs ends or delays the program: it is reported
afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from memgauge.counters.host import Host, this_host
from memgauge.counters.marks import VARIABLE
from memgauge.model.errors import MemgaugeError, SystemFailure, reason_of
from memgauge.model.parameters import texts
from memgauge.model.record_kinds.programs import Process
from memgauge.model.records import AnyRecord, Environment, RankPlace, RunEnd, RunStart, Warning
from memgauge.model.storage.marks import MARKS_NAME
from memgauge.model.storage.run_file import Run, RunWriter, read_run
from memgauge.model.system import System
from memgauge.model.termination import Terminated, deferred
from memgauge.runner.partial import partial_warnings
from memgauge.runner.profiling.lanes import Lanes, Totals, with_use
from memgauge.runner.profiling.marks import read_marks
from memgauge.runner.profiling.parameters import ProfileParameters
from memgauge.runner.profiling.signals import passing_on
from memgauge.runner.start import run_start
from memgauge.system.environment.clock import ClockPair, on_run_clock, stamp_clock
from memgauge.system.environment.conditions import EnvironmentMonitor
from memgauge.system.programs.program import Attached, Ended, Program, Subject, adopt_orphans

ENVIRONMENT_EVERY_S = 1.0


class ProfileRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to profile, and where to record it."""

    command: Sequence[str]
    """Empty where a process is attached to."""
    parameters: ProfileParameters
    directory: Path
    system: System
    host: Host = msgspec.field(default_factory=this_host)
    whole_process: bool = False
    """Whether this process does nothing else: it then adopts and waits for orphans of the program,
    and may open as many files as the kernel lets it."""
    rank: RankPlace | None = None
    """Which rank of a job this process is. Of a node's ranks one leads: the others leave out what
    is counted of the whole node, so that it is counted once."""
    own_work: Subject | None = None
    """Work that this process does itself, instead of a command or a process attached to. It marks
    its regions in the file of marks of the directory."""


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """How a profile ended."""

    run: Run | None
    """None: nothing was written that can be read; `failure` says why."""
    directory: Path
    ended: Ended | None
    """None: the program still runs, as far as is known."""
    totals: Totals
    failure: str | None = None
    """What went wrong with recording after the program was started."""
    lane_failure: str | None = None
    """Why a lane stopped sampling before the program ended; the run has a warning of it."""


class Watcher:
    """Whoever follows its progress. Does nothing unless overridden."""

    every_s = ENVIRONMENT_EVERY_S
    """How often `tick` is called."""

    def begins(self, warnings: Sequence[Warning]) -> None:
        """Before the program's first instruction: what is not watched."""

    def tick(self, elapsed_s: float, lanes: Lanes) -> None:
        """While it runs."""

    def ends(self) -> None:
        """The program has ended, or is no longer watched."""


def profile(request: ProfileRequest, watcher: Watcher | None = None) -> Watched:
    """Run or attach to a program and watch it until it ends.

    Raises: as `opened`, and as `Recording.run`.
    """
    with opened(request, watcher) as recording:
        recording.run()
    return recording.watched()


@contextmanager
def opened(request: ProfileRequest, watcher: Watcher | None = None) -> Iterator[Recording]:
    """All that watching takes, ready; the program waits before its first instruction.

    Whatever is raised on entering: the program was not started. Leaving raises nothing of its own.

    Raises:
        CommandNotFound, CommandNotExecutable: there is no such program.
        UnknownEvent: an event that was named is malformed or not known here.
        RequestError: nothing can be watched, or the process cannot be attached to.
        SystemFailure: the run cannot be written.
        KeyboardInterrupt: before the program was started.
    """
    directory = request.directory.absolute()
    with ExitStack() as stack:
        subject = _subject(request, directory)
        stack.callback(_let_go, subject.close)
        writer = RunWriter(directory)
        stack.callback(_let_go, writer.close)
        recording = Recording(request, subject, writer, watcher or Watcher())
        stack.callback(_let_go, recording.close)
        try:
            recording.open()
        except BaseException as error:
            recording.discard()
            recording.abandon(error)
            raise
        try:
            yield recording
        except BaseException as error:
            recording.abandon(error)
            raise


def _let_go(close: Callable[[], None]) -> None:
    """Close what the recording closed before, and reported, unless it never came to run."""
    with suppress(Exception):
        close()


def _subject(request: ProfileRequest, directory: Path) -> Subject:
    if request.own_work is not None:
        return request.own_work
    if request.parameters.pid is not None:
        return Attached(request.parameters.pid)
    return Program(request.command, {**os.environ, VARIABLE: str(directory / MARKS_NAME)})


class Recording:
    """The body of one profile, between its first and its last record."""

    def __init__(
        self, request: ProfileRequest, subject: Subject, writer: RunWriter, watcher: Watcher
    ) -> None:
        self.ended: Ended | None = None
        self.totals = Totals()
        self.failure: str | None = None
        self._request = request
        self._subject = subject
        self._owns = request.own_work is not None
        self._writer = writer
        self._watcher = watcher
        self._clock_ns = stamp_clock()
        self._monitor = EnvironmentMonitor(request.system.allowed_cpus)
        self._lanes = Lanes(
            writer.directory,
            request.parameters,
            request.host,
            whole_process=request.whole_process,
            whole_node=request.rank is None or request.rank.leads,
        )
        self._marks = writer.directory / MARKS_NAME
        self._first_pair = ClockPair.now()
        self._process: Process | None = None
        self._program_s: float | None = None
        """CPU time of the program at the last look around."""
        self._is_open = False
        """Whether the record has its first line, but not its last."""

    def open(self) -> None:
        """Open everything and write what is known before the start."""
        if self._owns or not self._subject.attached:
            self._make_marks()
        self._lanes.open(self._subject)
        lanes = self._lanes.records
        records = [self._start(), *lanes, *self._lanes.warnings, *partial_warnings(lanes)]
        self._is_open = True
        self._writer.write(records)
        self._watcher.begins(self._lanes.warnings)

    def run(self) -> None:
        """Start the program, watch it, and record how all ended.

        Raises:
            CommandNotExecutable: the kernel would not run it.
            KeyboardInterrupt: profiling was ended by a signal.
        """
        status: Literal["complete", "interrupted", "failed"] = "complete"
        reason = None
        if self._request.whole_process:
            adopt_orphans(on=True)
        try:
            with nullcontext() if self._subject.attached else passing_on(self._subject.pid):
                self._begin()
                self._watch()
        except Terminated as signal:
            left = "" if self._owns else ": profiling ended, the program may still run"
            status, reason = "interrupted", f"{signal}{left}"
            raise
        except KeyboardInterrupt:
            if self._owns or not self._subject.attached:
                status, reason = "interrupted", "Ctrl-C"
                raise
            # The usual way to end the profile of a process that runs on.
        except BaseException as error:
            status, reason = "failed", str(error)
            raise
        finally:
            with deferred():
                self._guarded(self._watcher.ends)
                self._finish(status, reason)
                self._guarded(self.close)
                self._guarded(self._writer.close)

    def watched(self) -> Watched:
        """How it ended, with the run as it was written."""
        run = None
        try:
            run = read_run(self._writer.directory)
        except MemgaugeError as error:
            self.failure = self.failure or str(error)
        return Watched(
            run=run,
            directory=self._request.directory,
            ended=self.ended,
            totals=self.totals,
            failure=self.failure,
            lane_failure=self._lanes.failure,
        )

    def close(self) -> None:
        """Close what is open; after a failure before the start too."""
        self._lanes.close()
        self._monitor.close()

    def discard(self) -> None:
        """Close all and leave no file behind, where nothing was begun."""
        self._guarded(self.close)
        self._guarded(self._lanes.discard)
        self._guarded(lambda: self._marks.unlink(missing_ok=True))

    def abandon(self, error: BaseException) -> None:
        """Close the record, where an error or a signal came before or after `run` could."""
        if self._is_open:
            was_interrupted = isinstance(error, KeyboardInterrupt)
            reason = str(error) or "Ctrl-C" if was_interrupted else reason_of(error)
            self._finish("interrupted" if was_interrupted else "failed", reason)

    def _begin(self) -> None:
        begin_ns = self._clock_ns()
        self._subject.start()
        self._process = Process(
            command=self._subject.command,
            pid=self._subject.pid,
            attached=self._subject.attached,
            begin_ns=begin_ns,
            started_ns=None if self._subject.attached else self._clock_ns(),
        )
        self._write([self._process])

    def _watch(self) -> None:
        began_ns = self._clock_ns()
        self._guarded(self._start_looking)
        environment_due_s = ENVIRONMENT_EVERY_S
        while self.ended is None:
            self.ended = self._subject.wait(min(self._watcher.every_s, ENVIRONMENT_EVERY_S))
            elapsed_s = (self._clock_ns() - began_ns) * 1e-9
            if self.ended is not None:
                self._process = self._with_end()
            elif elapsed_s >= environment_due_s:
                environment_due_s += ENVIRONMENT_EVERY_S
                self._guarded(self._look_around)
            self._guarded(partial(self._watcher.tick, elapsed_s, self._lanes))

    def _with_end(self) -> Process | None:
        if self._process is None or self.ended is None:
            return self._process
        return msgspec.structs.replace(
            self._process,
            end_ns=max(self._clock_ns(), self._process.begin_ns),
            exit_code=self.ended.exit_code,
            signal=self.ended.signal,
        )

    def _start_looking(self) -> None:
        self._program_s = self._lanes.program_cpu_s()
        self._monitor.start()

    def _look_around(self) -> None:
        self._write([self._environment()])
        self._reap()

    def _environment(self) -> Environment:
        if self._owns:
            # Its CPU time is this process's own.
            return self._monitor.sample()
        before_s, now_s = self._program_s, self._lanes.program_cpu_s()
        self._program_s = now_s
        if before_s is None or now_s is None:
            return self._monitor.sample(None)
        return self._monitor.sample(now_s - before_s)

    def _reap(self) -> int:
        if self._request.whole_process and isinstance(self._subject, Program):
            return self._subject.reap_orphans()
        return 0

    def _finish(
        self, status: Literal["complete", "interrupted", "failed"], reason: str | None
    ) -> None:
        """Stop sampling and write the last records."""
        self._guarded(self._lanes.close)
        self.totals = self._lanes.totals()
        if self._process is not None:
            self._guarded(lambda: self._write([self._environment()]))
        self._guarded(self._write_last)
        if self.failure is not None and status == "complete":
            status, reason = "failed", self.failure
        elapsed_s = (self._clock_ns() - self._first_pair.run_ns) * 1e-9
        end = RunEnd(status=status, reason=reason, elapsed_s=max(0.0, elapsed_s), rounds=0)
        self._guarded(lambda: self._writer.write([end]))
        self._is_open = False
        self._guarded(lambda: self._marks.unlink(missing_ok=True))

    def _write_last(self) -> None:
        """What is known only now: how the program ended, its regions, and how sampling went."""
        records: list[AnyRecord] = [*self._lanes.remarks()]
        if self.ended is not None and (left := self._reap()):
            records.append(_left_behind(left))
        if self._process is not None:
            records.insert(0, with_use(self._process, self._subject, self._lanes))
        marks = read_marks(self._marks, on_run_clock(self._first_pair, ClockPair.now()))
        self._write([*records, *marks.regions, *marks.warnings])

    def _guarded(self, step: Callable[[], object]) -> None:
        """Do what memgauge does beside the program: where it fails, the program goes on.

        The first failure is kept, to be reported at the end.
        """
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not cost the program
            self.failure = self.failure or reason_of(error)

    def _write(self, records: Sequence[AnyRecord]) -> None:
        if self.failure is None:
            self._guarded(partial(self._writer.write, records))

    def _make_marks(self) -> None:
        try:
            self._marks.touch(exist_ok=False)
        except OSError as error:
            raise SystemFailure(
                f"{self._marks}: cannot be made: {error.strerror}; name another --output"
            ) from error

    def _start(self) -> RunStart:
        parameters = {"profile": texts(self._request.parameters)}
        return run_start(parameters, self._request.system, rank=self._request.rank)


def _left_behind(count: int) -> Warning:
    what = "one process was" if count == 1 else f"{count} processes were"
    return Warning(
        code="left-behind",
        message=f"{what} still running when the program ended; what came after is not in here",
    )
