"""How far a run is, for people, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

from memgauge.model.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

LINE_EVERY_S = 10.0
"""Least time between two lines where no bar can be drawn."""


class Progress:
    """A context manager that a command feeds from the runner's callback; safe to feed often.

    On a terminal a bar, elsewhere a line every 10 s at most, with `silent` nothing. It never raises
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
        self._last_line_s: float | None = None
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
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def update(
        self, phase: str, done_share: float, reached: int, points: int, remaining_s: float
    ) -> None:
        """Show the state: share of the budget used (0 to 1), points that reached the precision."""
        if self._silent:
            return
        share = min(max(done_share, 0.0), 1.0)
        left = duration(remaining_s)
        if self._bar is None:
            self._line(f"{plain(phase)}: {share:.0%}, {reached}/{points} points, {left} left")
        elif self._task is not None:
            shown = f"{reached}/{points} points"
            self._bar.update(
                self._task, description=plain(phase), completed=share, reached=shown, left=left
            )

    def _line(self, text: str) -> None:
        now = self._clock()
        if self._last_line_s is not None and now - self._last_line_s < LINE_EVERY_S:
            return
        self._last_line_s = now
        encoding = getattr(self._stream, "encoding", None) or "ascii"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self._silent = True


def duration(seconds: float) -> str:
    """Whole seconds, or minutes and seconds: `12 s`, `1:05 min`."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d} min"


def _bar(stream: TextIO) -> RichProgress:
    """Redrawn four times a second by a thread that takes well under 1% of one CPU."""
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
        TextColumn("{task.fields[left]} left", markup=False, table_column=narrow),
        console=Console(file=stream, emoji=False, highlight=False),
        refresh_per_second=4,
        transient=True,
        expand=True,
    )
