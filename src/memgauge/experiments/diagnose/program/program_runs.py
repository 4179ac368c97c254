"""Runs of the program under diagnosis: started, timed, read."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge.counters.opening import OpenCounters
from memgauge.experiments.diagnose.by_region.timed import RegionTime, RegionTimes
from memgauge.experiments.diagnose.program.printed import number_in, prepare, tail
from memgauge.experiments.diagnose.program.run_use import UseOfRun
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.errors import SystemFailure
from memgauge.model.record_kinds.programs import ProgramMemory, RunUse
from memgauge.model.text import quoted
from memgauge.system.environment.clock import stamp_clock
from memgauge.system.memory.policy import inherited
from memgauge.system.programs.affinity import cpus_watched
from memgauge.system.programs.ending import end_tree
from memgauge.system.programs.memory_seen import Viewpoint, Watched, watched
from memgauge.system.programs.program import Ended, Program
from memgauge.system.programs.referenced import ReferencedPages, referenced_pages

PR_SET_THP_DISABLE = 41
_ENDING_S = 2.0


class OneRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the program."""

    begin_ns: int
    end_ns: int
    metric: float | None
    """What it printed under the metric, or its seconds in the region; None: its elapsed time
    counts."""
    output: bytes
    use: RunUse | None = None
    """What it used, by the kernel; None: of a process that runs on."""
    memory: ProgramMemory | None = None
    """None: it was not looked at, or could not be read."""
    referenced: ReferencedPages | None = None
    """None: this run was not looked at so."""
    regions_s: dict[str, float] = {}
    """Seconds in each region that is timed, as far as they are known."""
    resident_bytes: int = 0
    """The largest of all its processes together, what they share counted for each, as far as it
    was looked at, and of one of them in any case."""
    cpus: frozenset[int] = frozenset()
    """That its processes could use, where they were asked for and seen."""


class ProgramRuns:
    """Starts a command again and again, on the same CPUs."""

    def __init__(  # noqa: PLR0913 - all but the first two by name
        self,
        words: list[str],
        cpus: list[int],
        *,
        metric: str | RegionTime | None = None,
        prepared_by: str | None = None,
        same_output: bool = False,
        viewpoint: Viewpoint | None = None,
        counters: OpenCounters | None = None,
        regions: RegionTimes | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            words: The command.
            cpus: The program's, where a treatment names no others.
            metric: Regular expression with one group, a number that the program prints; or the
                region whose time counts.
            prepared_by: Shell command before each run.
            same_output: Whether each run must print what the first one did.
            viewpoint: From where its memory is looked at while it runs; None: from any CPU.
            counters: Read around runs of treatments that are baselines; None: none are.
            regions: Of which the time is taken too; None: of none.
        """
        self._words = words
        self.cpus = cpus
        self._metric = re.compile(metric.encode()) if isinstance(metric, str) else metric
        self._prepared_by = prepared_by
        self._same_output = same_output
        self._counters = counters
        self._regions = regions
        self._clock_ns = stamp_clock()
        self._first_output: bytes | None = None
        self._viewpoint = viewpoint or Viewpoint()
        self._run_s: float | None = None

    def run(
        self,
        treatment: Treatment,
        *,
        look: bool = False,
        find_cpus: bool = False,
        references_every_s: float | None = None,
        is_counted: bool = True,
    ) -> OneRun:
        """One run, to its end.

        Args:
            treatment: How it is started.
            look: Whether to look at its memory while it runs, which takes some time from it.
            find_cpus: Whether to find out on which CPUs its processes run, which does too.
            references_every_s: Seconds between two looks at the pages that it refers to, which slow
                it down; None: there are none.
            is_counted: Whether counters are read around it, where the treatment is a baseline.

        Raises:
            CommandNotFound, CommandNotExecutable: there is no such program.
            SystemFailure: the program failed, printed no metric, or something else than before, or
                was not in the region.
            KeyboardInterrupt: the program was ended.
        """
        prepare(self._prepared_by)
        words = treatment.words or self._words
        environment = {**os.environ, **treatment.environment}
        if isinstance(self._metric, RegionTime):
            environment |= self._metric.environment()
        if self._regions is not None:
            environment |= self._regions.environment()
        with tempfile.TemporaryFile(prefix="memgauge-diagnose-") as output:
            with (
                _streams(output.fileno()),
                _huge_pages(on=treatment.transparent_huge_pages),
                inherited(treatment.memory_policy),
            ):
                program = Program(words, environment)
            seen: Watched | None = None
            cpus: set[int] = set()
            referenced: ReferencedPages | None = None
            try:
                os.sched_setaffinity(program.pid, treatment.cpus or self.cpus)
                counters = self._counters if is_counted and not treatment.baseline else None
                used = UseOfRun(program, counters)
                begin_ns = self._clock_ns()
                program.start()
                with ExitStack() as watching:
                    if find_cpus:
                        cpus = watching.enter_context(cpus_watched(program.pid))
                    if look:
                        seen = watching.enter_context(
                            watched(program.pid, self._viewpoint, self._run_s)
                        )
                    if references_every_s is not None:
                        referenced = watching.enter_context(
                            referenced_pages(program.pid, self._viewpoint, references_every_s)
                        )
                    ended = _end_of(program)
                    end_ns, end_s = self._clock_ns(), time.monotonic()
                use = used.at_end()
            except BaseException:
                end_tree(program.pid, _ENDING_S)
                program.wait(_ENDING_S)
                raise
            finally:
                program.close()
            output.seek(0)
            printed = output.read()
        self._refuse_failure(treatment, words, ended, printed)
        if referenced is None:
            self._run_s = (end_ns - begin_ns) * 1e-9
        peak = use.usage.peak_resident_bytes if use.usage else 0
        return OneRun(
            begin_ns=begin_ns,
            end_ns=max(end_ns, begin_ns + 1),
            metric=self._metric_of(printed, words),
            output=printed,
            use=use,
            memory=seen.memory(end_s) if seen else None,
            referenced=referenced,
            regions_s=self._regions.of_run(end_ns - begin_ns) if self._regions else {},
            resident_bytes=max(seen.resident_bytes if seen else 0, peak),
            cpus=frozenset(cpus),
        )

    def _refuse_failure(
        self, treatment: Treatment, words: list[str], ended: Ended, output: bytes
    ) -> None:
        under = f" under {quoted(treatment.name)} ({treatment.change})" if treatment.change else ""
        if ended.signal is not None:
            name = signal.Signals(ended.signal).name
            raise SystemFailure(f"{quoted(words[0])}: was ended by {name}{under}{tail(output)}")
        if ended.exit_code:
            raise SystemFailure(
                f"{quoted(words[0])}: failed with exit code {ended.exit_code}{under}{tail(output)}"
            )
        if not self._same_output:
            return
        same = self._without_metric(output)
        if self._first_output is None:
            self._first_output = same
        elif same != self._first_output:
            raise SystemFailure(
                f"{quoted(words[0])}: printed something else than its first run{under} "
                f"(--same-output){tail(output)}"
            )

    def _without_metric(self, output: bytes) -> bytes:
        """What must be the same in all runs: the number that `--metric` finds differs."""
        found = self._metric.search(output) if isinstance(self._metric, re.Pattern) else None
        return output if found is None else output[: found.start(1)] + output[found.end(1) :]

    def _metric_of(self, output: bytes, words: list[str]) -> float | None:
        if isinstance(self._metric, RegionTime):
            return self._metric.seconds(words[0])
        if self._metric is None:
            return None
        value = number_in(output, self._metric)
        if value is None:
            raise SystemFailure(
                f"{quoted(words[0])}: printed no number above 0 where --metric expects one"
                f"{tail(output)}"
            )
        return value


def _end_of(program: Program) -> Ended:
    while (ended := program.wait(1.0)) is None:
        pass
    return ended


@contextmanager
def _streams(output: int) -> Iterator[None]:
    """Standard streams of a process that is made meanwhile: no input, and output into a file."""
    kept = [os.dup(descriptor) for descriptor in range(3)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        yield
    finally:
        for descriptor, saved in enumerate(kept):
            os.dup2(saved, descriptor)
            os.close(saved)
        os.close(nothing)


@contextmanager
def _huge_pages(*, on: bool) -> Iterator[None]:
    """Whether a process that is made meanwhile may have transparent huge pages (prctl(2))."""
    if on:
        yield
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0):
        raise SystemFailure("the kernel cannot switch off huge pages of a process")
    try:
        yield
    finally:
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0)
