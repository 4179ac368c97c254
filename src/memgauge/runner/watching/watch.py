"""The loop of a watch: sample, judge, record, show, wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import msgspec

from memgauge.analysis.watch.baseline import KEYS
from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.status import Status, Watcher
from memgauge.counters.host import Host, this_host
from memgauge.experiments.watch.probe import Probe
from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.parameters import texts
from memgauge.model.records import EarlierRun, MeasuredCurve, RunStart, Warning
from memgauge.model.system import System
from memgauge.model.termination import Terminated, deferred
from memgauge.runner.start import run_start
from memgauge.runner.watching.parameters import WatchParameters
from memgauge.runner.watching.recording import Recording
from memgauge.runner.watching.sampler import AnyProbe, Sampler
from memgauge.system.earlier_runs import KeptRun, alike, keep, known_before
from memgauge.system.environment.clock import stamp_clock

NAME = "watch"
_SURVEY_KEY = "memory latency, random"
"""Begin of the headline of a survey that is shown beside the baseline."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the first sample."""

    start: RunStart
    cpu: int | None
    """Of the probe; None: there is none."""
    warnings: list[Warning]
    directory: Path | None
    """Of the record; None: nothing is recorded."""
    when: Callable[[int], str]
    """Writes a time of the run's clock in local time."""


class View:
    """Whoever shows a watch. Shows nothing and sleeps unless overridden."""

    def begins(self, facts: Facts) -> None:
        """Before the first sample."""

    def show(self, status: Status, changes: Sequence[Alert]) -> None:
        """After each sample, with the alerts that began or ended with it."""

    def wait(self, seconds: float, period_s: float) -> float | None:
        """Wait, at most so long; return the period from now on, or None to end the watch."""
        time.sleep(seconds)
        return period_s

    def ends(self) -> None:
        """After the last sample, however it ended."""


class WatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to watch, and where to record it."""

    parameters: WatchParameters
    system: System
    cpu: int | None
    """Of the probe, as `probe_cpu` gives it; None: there is none."""
    directory: Path | None = None
    curves: Sequence[MeasuredCurve] = ()
    host: Host = msgspec.field(default_factory=this_host)
    probe: Callable[[int, System], AnyProbe] = Probe
    """Makes the probe on a CPU."""
    children: Sequence[int] = ()
    """Processes that serve what is watched: their processor time is part of the cost."""


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """How a watch ended."""

    samples: int
    status: Status | None
    """None: it ended before the first sample."""
    failure: str | None = None
    """Why recording, or keeping the baseline, did not work."""


def watch(request: WatchRequest, view: View) -> Watched:
    """Watch until the time is over, the view ends it, or Ctrl-C.

    Args:
        request: What to watch.
        view: Who shows it and waits between samples.

    Raises:
        RequestError: the probe, a process or the record cannot be had.
        Terminated: a signal other than Ctrl-C ended it; what was recorded is whole.
    """
    with ExitStack() as stack:
        cpu = request.cpu
        probe = None if cpu is None else (lambda: request.probe(cpu, request.system))
        sampler = stack.enter_context(Sampler(request.parameters, request.host, probe))
        sampler.children += request.children
        session = _Session(request, sampler, view)
        session.run()
        return session.watched()


def probe_cpu(parameters: WatchParameters, system: System) -> int | None:
    """The CPU of the probe: the last that may be used, far from the first, which interrupts prefer.

    Args:
        parameters: What was asked for.
        system: The machine.

    Raises:
        RequestError: the CPU that was asked for may not be used.
    """
    if parameters.no_probe:
        return None
    if parameters.cpu is None:
        return max(system.allowed_cpus)
    if parameters.cpu not in system.allowed_cpus:
        raise RequestError(
            f"--cpu {parameters.cpu}: this process may not run there; choose one of those that "
            "'memgauge system' lists"
        )
    return parameters.cpu


class _Session:
    def __init__(self, request: WatchRequest, sampler: Sampler, view: View) -> None:
        self._request = request
        self._parameters = request.parameters
        self._sampler = sampler
        self._view = view
        self._cpu = request.cpu
        self._start = self._first_record()
        self._watcher = Watcher(
            sampler.counters,
            cpus=len(request.system.cpus),
            learn_s=self._parameters.learn_s,
            earlier=self._start.earlier,
            curves=request.curves,
        )
        self._recording: Recording | None = None
        self._samples = 0
        self._status: Status | None = None
        self._failure: str | None = None

    def run(self) -> None:
        status: Literal["complete", "interrupted", "failed"] = "complete"
        reason = None
        if self._request.directory is not None:
            self._recording = Recording(
                self._request.directory,
                self._start,
                self._sampler.counters,
                period_s=self._parameters.period_s,
                warnings=self._sampler.warnings,
                curves=self._request.curves,
            )
        try:
            self._view.begins(self._facts())
            self._loop()
        except Terminated as signal:
            status, reason = "interrupted", str(signal)
            raise
        except KeyboardInterrupt:
            pass  # the usual way to end it
        except BaseException as error:
            status, reason = "failed", str(error)
            raise
        finally:
            with deferred():
                self._view.ends()
                if self._recording is not None:
                    self._recording.close(status, reason)
                    self._failure = self._recording.failure
                self._keep()

    def watched(self) -> Watched:
        return Watched(samples=self._samples, status=self._status, failure=self._failure)

    def _loop(self) -> None:
        period_s = self._parameters.period_s
        began_s = due_s = time.monotonic()
        lasts_s = self._parameters.duration_s
        while True:
            self._sample()
            now_s = time.monotonic()
            if lasts_s is not None and now_s - began_s >= lasts_s:
                return
            # After a stop, as of a machine that slept, no sample is made up for.
            due_s = max(due_s + period_s, now_s)
            is_due = False
            while not is_due:
                asked_s = self._view.wait(max(0.0, due_s - time.monotonic()), period_s)
                if asked_s is None:
                    return
                if asked_s != period_s:
                    due_s, period_s = time.monotonic() + asked_s, asked_s
                is_due = time.monotonic() >= due_s

    def _sample(self) -> None:
        row = self._sampler.sample()
        moment, changes = self._watcher.take(row.begin_ns, row.end_ns, row.values)
        if self._recording is not None:
            self._recording.append(row)
        self._samples += 1
        self._status = self._watcher.status(moment)
        self._view.show(self._status, changes)

    def _facts(self) -> Facts:
        offset_ns = time.time_ns() - stamp_clock()()
        return Facts(
            start=self._start,
            cpu=self._cpu,
            warnings=self._sampler.warnings,
            directory=self._request.directory,
            when=lambda at_ns: _local_time(at_ns + offset_ns),
        )

    def _first_record(self) -> RunStart:
        start = run_start({NAME: texts(self._parameters)}, self._request.system)
        known = known_before(
            self._request.directory or Path(),
            self._request.system.machine_id,
            remembered=self._parameters.remember,
        ).runs
        found = [*alike(self._kept_as(start), known), *_survey(known)]
        return msgspec.structs.replace(start, earlier=found)

    def _kept_as(self, start: RunStart) -> RunStart:
        """What a baseline depends on: the CPU of the probe, and none of the other options."""
        return msgspec.structs.replace(start, parameters={NAME: {"cpu": self._cpu}})

    def _keep(self) -> None:
        """Keep the baseline for later watches, unless it is that of earlier ones."""
        kept = any(key in run.figures for run in self._start.earlier for key in KEYS.values())
        figures = {KEYS[name]: one.value for name, one in self._watcher.baselines.items()}
        if not self._parameters.remember or kept or not figures:
            return
        try:
            keep(self._kept_as(self._start), figures, Path(), remember=True)
        except MemgaugeError as error:
            self._failure = self._failure or str(error)


def _local_time(wall_ns: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(wall_ns * 1e-9))


def _survey(known: Sequence[KeptRun]) -> list[EarlierRun]:
    """The latest survey that knows the latency of memory."""
    found = [
        one.run for one in known if any(key.startswith(_SURVEY_KEY) for key in one.run.figures)
    ]
    return sorted(found, key=lambda run: run.started_at)[-1:]
