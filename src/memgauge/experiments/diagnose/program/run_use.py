"""What one run of the program used, by the kernel's own accounts and by counters around it."""

from __future__ import annotations

from memgauge.counters.opening import OpenCounters
from memgauge.experiments.shared.counted import to_reading
from memgauge.model.record_kinds.programs import RunUse
from memgauge.system.programs.program import Program
from memgauge.system.tree import Tree, whole_number


class UseOfRun:
    """Read just before the program's first instruction, and when it has ended."""

    def __init__(self, program: Program, counters: OpenCounters | None = None) -> None:
        self._program = program
        self._counters = counters
        self._delay_ns = run_delay_ns(program.pid)
        self._before = counters.reader.read() if counters else None

    def at_end(self) -> RunUse:
        """The accounts of a program that has ended; its process is gone afterwards."""
        reading = None
        if self._counters is not None and self._before is not None:
            after = self._counters.reader.read()
            reading = to_reading(self._counters.set.counters, self._before, after)
        late_ns, early_ns = run_delay_ns(self._program.pid), self._delay_ns
        return RunUse(
            usage=self._program.usage(),
            peak_floor_bytes=self._program.peak_floor_bytes,
            run_delay_ns=None
            if late_ns is None or early_ns is None or late_ns < early_ns
            else late_ns - early_ns,
            reading=reading,
        )


def run_delay_ns(pid: int, tree: Tree | None = None) -> int | None:
    """Time for which the first thread of a process could have run and waited for a processor.

    Source: Linux, Documentation/scheduler/sched-stats.rst. A kernel that keeps no such account
    reports zeros only, also of the processor time. The file of a process that has ended is there
    until its parent has waited for it.

    Args:
        pid: The process.
        tree: Where procfs is; None: here.
    """
    words = ((tree or Tree()).text(f"/proc/{pid}/schedstat") or "").split()
    found = [whole_number(word) for word in words]
    if len(found) < 3 or found[1] is None or not any(found):
        return None
    return found[1]
