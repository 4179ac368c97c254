"""A process that runs already: read by a command, and neither started, stopped nor moved."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge.experiments.diagnose.program.printed import number_in, prepare, tail
from memgauge.experiments.diagnose.program.program_runs import OneRun
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.termination import deferred
from memgauge.model.text import plain, quoted
from memgauge.system.environment.clock import stamp_clock
from memgauge.system.programs.affinity import cpus_of
from memgauge.system.programs.ending import end_tree
from memgauge.system.programs.exit_with_parent import group_with_parent
from memgauge.system.programs.program import Attached

_LOOK_S = 0.1
"""Between two looks at whether the process still runs."""
_ENDING_S = 2.0


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How the metric of a process is read."""

    command: str
    """Of the shell."""
    metric: str | None = None
    """Finds the number in what the command prints; None: it prints nothing else."""
    prepared_by: str | None = None
    """Shell command before each."""


class ProcessRuns:
    """Runs a command again and again that prints what the process achieves meanwhile."""

    def __init__(self, pid: int, reading: Reading, cpus: list[int], stack: ExitStack) -> None:
        """Begin to watch the process.

        Args:
            pid: The process.
            reading: The command.
            cpus: That the command runs on.
            stack: Lets go of the process, and ends what the commands left, when it is closed.

        Raises:
            RequestError: there is no such process.
        """
        self.cpus = cpus
        self._reading = reading
        self._metric = None if reading.metric is None else re.compile(reading.metric.encode())
        self._clock_ns = stamp_clock()
        self._process = Attached(pid, any_user=True)
        stack.callback(self._process.close)
        self._group = stack.enter_context(group_with_parent())

    def run(self, treatment: Treatment, *, look: bool = False, find_cpus: bool = False) -> OneRun:
        """The command once, to its end; a treatment changes nothing of it, and nothing is seen.

        Args:
            treatment: Not used.
            look: Not used.
            find_cpus: Not used.

        Raises:
            SystemFailure: the process ended, or the command failed or printed no number above 0.
            KeyboardInterrupt: the command was ended.
        """
        del treatment, look, find_cpus
        self._refuse_ended()
        prepare(self._reading.prepared_by, self._group)
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            begin_ns = self._clock_ns()
            running = None
            try:
                with deferred(), _on(self.cpus):
                    running = subprocess.Popen(
                        ["/bin/sh", "-c", self._reading.command],
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=errors,
                        process_group=self._group,
                    )
                self._await(running)
            except BaseException:
                if running is not None:
                    end_tree(running.pid, _ENDING_S)
                    running.wait()
                raise
            end_ns = self._clock_ns()
            output.seek(0)
            errors.seek(0)
            printed, complaints = output.read(), errors.read()
        self._refuse_ended()
        return OneRun(
            begin_ns=begin_ns,
            end_ns=max(end_ns, begin_ns + 1),
            metric=self._number(running.returncode, printed, complaints),
            output=printed,
        )

    def _await(self, running: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                running.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                self._refuse_ended()
            else:
                return

    def _refuse_ended(self) -> None:
        if self._process.wait(0.0) is not None:
            name = plain(self._process.command[0])
            raise SystemFailure(
                f"--pid {self._process.pid}: process {quoted(name)} ended during the diagnosis, "
                "which needs it to run on; start it again, and diagnose its new process"
            )

    def _number(self, code: int, printed: bytes, complaints: bytes) -> float:
        name = f"--metric-command {quoted(self._reading.command)}"
        if code < 0:
            ended_by = signal.Signals(-code).name
            raise SystemFailure(f"{name}: was ended by {ended_by}{tail(printed + complaints)}")
        if code:
            raise SystemFailure(f"{name}: exit code {code}{tail(printed + complaints)}")
        number = number_in(printed, self._metric)
        if number is None:
            what = "one number above 0 and nothing else; --metric finds one in further text"
            if self._metric is not None:
                what = "a number above 0 where --metric expects one"
            raise SystemFailure(f"{name}: must print {what}{tail(printed + complaints)}")
        return number


def described(pid: int) -> tuple[str, list[int]]:
    """Name of a process, and the CPUs that it may use.

    Raises:
        RequestError: there is no such process, or its CPUs are hidden.
    """
    process = Attached(pid, any_user=True)
    process.close()
    cpus = cpus_of(pid)
    if not cpus:
        raise RequestError(
            f"--pid {pid}: the CPUs that it may use cannot be read; run memgauge as its user or "
            "as root"
        )
    return os.path.basename(process.command[0]) or process.command[0], cpus  # noqa: PTH119


@contextmanager
def _on(cpus: Sequence[int]) -> Iterator[None]:
    """What is started meanwhile runs on these CPUs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
