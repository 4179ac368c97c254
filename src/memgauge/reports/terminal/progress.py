"""Progress of a run on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self, TextIO

from memgauge.model.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

LINE_EVERY_S = 10.0
"""Least time between two lines where no bar can be drawn."""

REDRAW_EVERY_S = 0.25
"""Least time between two drawings of the bar."""


class Progress:
    """A context manager that a command feeds from the runner's callback; safe to feed often.

    On a terminal a bar, elsewhere a line every 10 s at most, with `silent` nothing. It draws inside
    `update` and starts no thread, which would take a CPU from what is measured. It never raises
    because a reader went away: a measurement does not end for its progress bar.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        silent: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._silent = silent
        self._clock = clock
        self._shown_at_s: float | None = None
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if not self._silent and self._stream.isatty():
            self._bar = _bar(self._stream)
            self._task = self._bar.add_task("starting", total=1.0, reached="", left="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(OSError, ValueError):
                bar.stop()

    def update(
        self, phase: str, done_share: float, reached: int, points: int, remaining_s: float | None
    ) -> None:
        """Show the state; does nothing if it was shown a moment ago.

        Args:
            phase: What the run does now, such as `measuring`.
            done_share: Share of the time budget used, 0 to 1.
            reached: Points of this phase that are finished: precise enough, or given up.
            points: Points of this phase in all; 0: it has none.
            remaining_s: Seconds left of the budget; None: there is no budget.
        """
        if self._silent or not self._is_due(LINE_EVERY_S if self._bar is None else REDRAW_EVERY_S):
            return
        share = min(max(done_share, 0.0), 1.0)
        counts = f"{reached}/{points} points" if points else ""
        left = "" if remaining_s is None else f"{duration(remaining_s)} left"
        try:
            if self._bar is None or self._task is None:
                parts = [f"{share:.0%}", counts, left]
                self._line(f"{plain(phase)}: {', '.join(part for part in parts if part)}")
            else:
                said = plain(phase)
                self._bar.update(
                    self._task, description=said, completed=share, reached=counts, left=left
                )
                self._bar.refresh()
        except (OSError, ValueError):
            self._silent = True

    def _is_due(self, every_s: float) -> bool:
        now = self._clock()
        if self._shown_at_s is not None and now - self._shown_at_s < every_s:
            return False
        self._shown_at_s = now
        return True

    def _line(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "ascii"
        self._stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        self._stream.flush()


def duration(seconds: float) -> str:
    """Whole seconds, or minutes and seconds: `12 s`, `1:05 min`."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d} min"


def _bar(stream: TextIO) -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    narrow = Column(no_wrap=True)
    wide = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    return RichProgress(
        TextColumn("{task.description}", markup=False, table_column=wide),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[reached]}", markup=False, table_column=narrow),
        TextColumn("{task.fields[left]}", markup=False, table_column=narrow),
        console=Console(file=stream, emoji=False, highlight=False),
        auto_refresh=False,
        transient=True,
        expand=True,
    )
