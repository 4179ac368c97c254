"""Whether two CPUs are threads of one core, which hypervisors may hide.

Both read what their first-level cache holds, which takes all that the core can load, and one of
them does so alone. On an AMD EPYC guest it took 2.0 times as long for two threads of one core, and
0.9 times for two cores, near or far.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from memgauge import _core

ARRAY_BYTES = 8 << 10
"""Of each of two arrays of a CPU."""
READ_BYTES = 4 << 20
"""By each CPU: 0.1 ms."""
TRIES = 3
"""Of which the fastest counts: others may have been interrupted."""
LEAST_RATIO = 1.5


class SharedCore:
    """A test of two CPUs, which do nothing else meanwhile."""

    def __init__(self, cpus: Sequence[int], stack: ExitStack) -> None:
        """Allocate what is read.

        Args:
            cpus: The two.
            stack: Frees it when it is closed.
        """
        self._spec = _core.TrafficSpec(1, 0)
        self._both = _core.Traffic(_core.Team(list(cpus)), ARRAY_BYTES)
        stack.callback(self._both.close)
        self._alone = _core.Traffic(_core.Team([cpus[0]]), ARRAY_BYTES)
        stack.callback(self._alone.close)

    def is_so_now(self) -> bool:
        """Takes a millisecond."""
        return self._fastest_ns(self._both) >= LEAST_RATIO * self._fastest_ns(self._alone)

    def _fastest_ns(self, traffic: _core.Traffic) -> int:
        taken = [traffic.run(self._spec, READ_BYTES, ARRAY_BYTES) for _ in range(TRIES)]
        return min(one.threads[0].end_ns[-1] - one.threads[0].begin_ns[0] for one in taken)
