"""The live view of a profile: fed from the lanes' last samples, drawn on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from memgauge.analysis.profile.latest import Latest
from memgauge.model.records import Warning
from memgauge.reports.terminal.live import Live
from memgauge.runner.profiling.lanes import Lanes
from memgauge.runner.profiling.profile import Watcher

DRAWN_EVERY_S = 0.25


class LiveWatcher(Watcher):
    """Draws while the program runs; what is not watched is left to the report."""

    every_s = DRAWN_EVERY_S

    def __init__(self, stream: TextIO) -> None:
        self._latest = Latest()
        self._view = Live(stream)

    def begins(self, warnings: Sequence[Warning]) -> None:
        """Before the program's first instruction."""
        del warnings
        self._view.__enter__()

    def tick(self, elapsed_s: float, lanes: Lanes) -> None:
        """Draw what the lanes read last."""
        for reading in lanes.latest():
            self._latest.take(reading.counters, reading.begin_ns, reading.end_ns, reading.values)
        self._view.show(elapsed_s, self._latest.levels())

    def ends(self) -> None:
        """The program has ended, or is no longer watched."""
        self._view.__exit__(None, None, None)
