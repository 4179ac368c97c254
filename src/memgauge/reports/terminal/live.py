"""Live view, on stderr, of what a profiled program does to the machine.

On a terminal a few lines that redraw themselves, one for each track with its last minute; elsewhere
a line now and then. It draws inside `show` and starts no thread, and never raises because a reader
went away: a profile does not end for its view. A program that writes to the same terminal writes
between the drawings.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from memgauge.analysis.profile.latest import Level
from memgauge.analysis.profile.tables import bars_of
from memgauge.analysis.profile.units import shown_unit
from memgauge.model.text import plain
from memgauge.reports import cells
from memgauge.reports.terminal.progress import duration

if TYPE_CHECKING:
    from types import TracebackType

HISTORY = 40
"""Values of a track that are drawn."""
LINE_EVERY_S = 10.0
"""Least time between two lines where nothing can be redrawn."""
_NARROWEST = 20
_VALUE_COLUMNS = 16
_BLOCKS = "▁▂▃▄▅▆▇█·…\N{EN DASH}"
_ASCII = str.maketrans(
    dict(zip(_BLOCKS, "..::--=# .-", strict=True)) | {"³": "^3", "⁶": "^6", "⁹": "^9"}
)


class Live:
    """A context manager that a command feeds with the latest levels."""

    def __init__(self, stream: TextIO | None = None, *, columns: int | None = None) -> None:
        self._stream = stream or sys.stderr
        self._columns = columns
        self._history: dict[str, deque[float | None]] = {}
        self._said_at_s: float | None = None
        self._view: Any = None

    def __enter__(self) -> Self:
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live as RichLive

            console = Console(
                file=self._stream, width=self._columns, markup=False, highlight=False, emoji=False
            )
            self._view = RichLive(console=console, auto_refresh=False, transient=True)
            with suppress(OSError, ValueError):
                self._view.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._view is not None:
            with suppress(OSError, ValueError):
                self._view.stop()

    def show(self, elapsed_s: float, levels: Sequence[Level]) -> None:
        """Draw the levels of now; safe to call often."""
        for level in levels:
            self._history.setdefault(level.name, deque(maxlen=HISTORY)).append(level.value)
        with suppress(OSError, ValueError):
            if self._view is not None:
                self._redraw(elapsed_s, levels)
            elif self._said_at_s is None or elapsed_s - self._said_at_s >= LINE_EVERY_S:
                self._said_at_s = elapsed_s
                self._stream.write(encoded(line_of(elapsed_s, levels), self._stream) + "\n")
                self._stream.flush()

    def _redraw(self, elapsed_s: float, levels: Sequence[Level]) -> None:
        from rich.text import Text

        size = self._view.console.size
        lines = lines_of(elapsed_s, levels, self._history, size.width, max(2, size.height - 1))
        shown = "\n".join(encoded(line, self._stream) for line in lines)
        self._view.update(Text(shown, no_wrap=True, overflow="crop"), refresh=True)


def encoded(text: str, stream: TextIO) -> str:
    """The text as a stream can show it: in ASCII where that has no Unicode.

    Args:
        text: May hold the blocks of small pictures.
        stream: Where it will be written.
    """
    encoding = getattr(stream, "encoding", None) or "ascii"
    if "utf" in encoding.lower():
        return text
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def lines_of(
    elapsed_s: float,
    levels: Sequence[Level],
    history: dict[str, deque[float | None]],
    columns: int,
    rows: int,
) -> list[str]:
    """A line with the elapsed time, then one for each track that fits; the last counts the others.

    Args:
        elapsed_s: Seconds since the profile began.
        levels: Current value of each track, in the order shown.
        history: Values of each track by its name, oldest first; None where it was not known.
        columns: Width of the terminal in characters; the last column stays free.
        rows: Most lines, at least 2.
    """
    width = max(_NARROWEST, columns - 1)
    longest = max((len(plain(level.name)) for level in levels), default=0)
    names = max(4, min(longest, width - _VALUE_COLUMNS - 1))
    spark = width - names - _VALUE_COLUMNS - 2
    shown = levels if len(levels) < rows else levels[: rows - 2]
    lines = [f"{duration(elapsed_s)}"]
    for level in shown:
        line = f"{cut(plain(level.name), names):<{names}} {value_of(level):>{_VALUE_COLUMNS}}"
        if spark >= 4:
            line += " " + bars_of([*history.get(level.name, ())][-min(spark, HISTORY) :])
        lines.append(line[:width])
    if len(shown) < len(levels):
        lines.append(f"and {len(levels) - len(shown)} more tracks"[:width])
    return lines


def line_of(elapsed_s: float, levels: Sequence[Level]) -> str:
    """All known levels on one line."""
    known = [f"{plain(one.name)} {value_of(one)}" for one in levels if one.value is not None]
    return f"{duration(elapsed_s)}: {'; '.join(known) or 'no readings yet'}"


def value_of(level: Level) -> str:
    """The value with its unit; `~` before an estimate, a dash where it is not known."""
    if level.value is None:
        return cells.MISSING
    factor, unit = shown_unit(level.unit, abs(level.value))
    sign = "~" if level.is_estimate else ""
    return f"{sign}{cells.number(level.value * factor, 2)} {unit}".rstrip()


def cut(text: str, columns: int) -> str:
    """The text in so many columns; an ellipsis where some of it is left out."""
    return text if len(text) <= columns else text[: columns - 1] + "…"
