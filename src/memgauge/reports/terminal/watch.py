"""A watch in the terminal: one screen that redraws itself, or plain lines in a pipe.

It draws inside `show`, starts no thread, and never raises because a reader went away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from memgauge.analysis.profile.tables import bars_of
from memgauge.analysis.watch.moments import Figure
from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.status import Status
from memgauge.analysis.watch.words import alert_words, amount, cost_words, headroom_words
from memgauge.model.text import plain
from memgauge.reports.terminal.live import HISTORY, cut, encoded, value_of

if TYPE_CHECKING:
    from types import TracebackType

HELP = "p pause  + - period  q quit"
MOST_ALERTS = 4
_NAME_COLUMNS, _VALUE_COLUMNS, _RATIO_COLUMNS = 20, 13, 7
_NARROWEST = 40

History = Mapping[str, Sequence[float | None]]


class Heading:
    """What the first lines say beside the figures."""

    def __init__(
        self, when: Callable[[int], str], notes: Sequence[str] = (), *, has_keys: bool = False
    ) -> None:
        """Fix what does not change.

        Args:
            when: Writes times of the run's clock.
            notes: Such as the address of the page, or what is not watched; each on a line where
                there is room.
            has_keys: Whether keys are read.
        """
        self.when = when
        self.notes = [plain(note) for note in notes]
        self.has_keys = has_keys
        self.period_s = 1.0
        self.is_paused = False


class WatchScreen:
    """A context manager that is fed with the status after each sample."""

    def __init__(self, stream: TextIO, heading: Heading, *, columns: int | None = None) -> None:
        """Write to a stream; on a terminal one that is redrawn, else a line for each sample."""
        self._stream = stream
        self._heading = heading
        self._columns = columns
        self._history: dict[str, deque[float | None]] = {}
        self._latest: Status | None = None
        self._view: Any = None

    def __enter__(self) -> Self:
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(
                file=self._stream, width=self._columns, markup=False, highlight=False, emoji=False
            )
            self._view = Live(console=console, auto_refresh=False)
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

    def show(self, status: Status, changes: Sequence[Alert]) -> None:
        """Take a sample; draw it unless the view is paused."""
        for figure in status.figures:
            values = self._history.setdefault(figure.name, deque(maxlen=HISTORY))
            values.append(status.moment.values.get(figure.name))
        with suppress(OSError, ValueError):
            if self._view is None:
                lines = [line_of(status, self._heading.when)]
                lines += [f"  {_change_words(one, self._heading.when, status)}" for one in changes]
                self._stream.write(encoded("\n".join(lines), self._stream) + "\n")
                self._stream.flush()
            elif not self._heading.is_paused:
                self._latest = status
                self.redraw()

    def redraw(self) -> None:
        """Draw the latest sample again, as after a key."""
        if self._view is None or self._latest is None:
            return
        from rich.text import Text

        size = self._view.console.size
        lines = lines_of(
            self._latest, self._history, self._heading, size.width, max(4, size.height - 1)
        )
        shown = Text(no_wrap=True, overflow="crop")
        for number, (line, is_alert) in enumerate(lines):
            text = encoded(line, self._stream)
            shown.append(("\n" if number else "") + text, "bold red" if is_alert else "")
        with suppress(OSError, ValueError):
            self._view.update(shown, refresh=True)


def lines_of(
    status: Status, history: History, heading: Heading, columns: int, rows: int
) -> list[tuple[str, bool]]:
    """All lines of a screen, and which of them are alerts.

    Alerts come before figures, and figures that moved before those that stood at zero: what does
    not fit is counted in the last line.

    Args:
        status: As the watch stands.
        history: Values of each figure by its name, oldest first.
        heading: What stands beside the figures.
        columns: Width of the terminal in characters; the last column stays free.
        rows: Most lines, at least 4.
    """
    width = max(_NARROWEST, columns - 1)
    head = [_first_line(status, heading), baseline_line(status)]
    alerts = [alert_words(one, heading.when, status) for one in status.active]
    if len(alerts) > MOST_ALERTS:
        alerts = [*alerts[: MOST_ALERTS - 1], f"and {len(alerts) - MOST_ALERTS + 1} more alerts"]
    past = [f"ended: {alert_words(one, heading.when)}" for one in status.ended[-1:]]
    traffic = headroom_words(status)
    body = [
        *([] if traffic is None else [_level_line(*traffic)]),
        *(_level_line(one.name, value_of(one)) for one in status.moment.levels),
    ]
    foot = [HELP] if heading.has_keys else []
    figures = [one for one in status.figures if not one.is_own]
    moved = [one for one in figures if any(history.get(one.name, ()))]
    still = [one for one in figures if one not in moved]
    room = rows - len(head) - len(alerts) - len(past) - len(foot)
    every = [
        *(_figure_line(one, status, history, width) for one in moved if one.is_probe),
        *body,
        *(_figure_line(one, status, history, width) for one in moved if not one.is_probe),
        *(_figure_line(one, status, history, width) for one in still),
    ]
    if len(every) > room:
        left = len(every) - max(0, room - 1)
        every = [*every[: max(0, room - 1)], f"and {left} more"]
    elif len(every) + len(heading.notes) <= room:
        every += heading.notes
    plain_lines = [*head, *alerts, *past, *every, *foot]
    is_alert = range(len(head), len(head) + len(alerts))
    return [(cut(line, width), at in is_alert) for at, line in enumerate(plain_lines)][:rows]


def line_of(status: Status, when: Callable[[int], str]) -> str:
    """All that is known and not zero, on one line."""
    parts = []
    for figure in status.figures:
        value = status.moment.values.get(figure.name)
        if value is None or (not value and not figure.is_probe):
            continue
        ratio = _ratio(figure, status)
        parts.append(f"{figure.title} {amount(figure, value)}{f' ({ratio}x)' if ratio else ''}")
    parts += [f"{plain(one.name)} {value_of(one)}" for one in status.moment.levels]
    return f"{when(status.moment.at_ns)} {'; '.join(parts) or 'no readings yet'}"


def _first_line(status: Status, heading: Heading) -> str:
    parts = [
        heading.when(status.moment.at_ns),
        f"period {heading.period_s:g} s",
        *(["PAUSED"] if heading.is_paused else []),
        cost_words(status),
    ]
    return "  ".join(parts)


def baseline_line(status: Status) -> str:
    """What latency and bandwidth are held against.

    Args:
        status: As the watch stands.
    """
    if not any(figure.is_probe for figure in status.figures):
        return "baseline: none, without a probe"
    if status.is_learning:
        return "baseline: being learned"
    known = [
        f"{figure.title.partition(',')[0]} {amount(figure, one.value)} "
        f"\N{PLUS-MINUS SIGN}{100 * one.spread:.1f}%"
        for figure in status.figures
        if (one := status.baselines.get(figure.name)) is not None
    ]
    source = next((one.source for one in status.baselines.values()), "")
    return f"baseline ({source}): {', '.join(known)}" if known else "baseline: none, too few passes"


def _level_line(name: str, value: str) -> str:
    return f"{cut(plain(name), _NAME_COLUMNS):<{_NAME_COLUMNS}} {value:>{_VALUE_COLUMNS}}"


def _figure_line(figure: Figure, status: Status, history: History, width: int) -> str:
    value = amount(figure, status.moment.values.get(figure.name))
    ratio = _ratio(figure, status)
    line = (
        f"{cut(figure.title, _NAME_COLUMNS):<{_NAME_COLUMNS}} {value:>{_VALUE_COLUMNS}} "
        f"{f'{ratio}x' if ratio else '':>{_RATIO_COLUMNS}}"
    )
    spark = min(HISTORY, width - len(line) - 2)
    values = [*history.get(figure.name, ())]
    return f"{line}  {bars_of(values[-spark:])}" if spark >= 4 and any(values) else line


def _ratio(figure: Figure, status: Status) -> str:
    value, baseline = status.moment.values.get(figure.name), status.baselines.get(figure.name)
    return "" if value is None or baseline is None else f"{value / baseline.value:.2f}"


def _change_words(alert: Alert, when: Callable[[int], str], status: Status) -> str:
    kind = "ALERT" if alert.until_ns is None else "ended"
    return f"{kind}: {alert_words(alert, when, status)}"
