"""Least and most of a track, over windows long enough to tell them from the steps of its counter.

A counter moves in steps: one event, or a tick of the clock by which the kernel accounts. Between
two readings that lie close together a rate is then such a step over that time, or zero, and says
nothing of the program. So readings are taken together until ten steps were counted, or a second has
passed; processor time also until there is no more of it than the CPUs can give in that time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.profile.tracks import Track
from memgauge.model.counting.back_ends import entry_of

LEAST_STEPS = 10
"""In a window, so that one step more or less is at most a tenth of it."""
LONGEST_S = 1.0
"""After which a window ends, however little was counted: what is rare is reported by the second."""
TICK_S = 0.01
"""Of the kernel's accounts of processor time (proc_pid_stat(5), USER_HZ)."""
ENERGY_REFRESH_S = 0.001
"""Of RAPL's counters of energy (Intel SDM, volume 3, section Power and Thermal Management)."""


class Window(msgspec.Struct):
    """Readings taken together."""

    begin_ns: int
    end_ns: int
    amount: float
    seconds: float

    @property
    def rate(self) -> float:
        """Over the window."""
        return self.amount / self.seconds


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What a window of a track must hold."""

    step: float
    """What its counter moves by at least, in the unit of its amounts."""
    least_s: float = 0.0
    most_per_s: float | None = None
    """What cannot be: a window of more goes on."""

    def holds(self, window: Window) -> bool:
        """Whether the rate over a window is meaningful."""
        if not self.can_be(window):
            return False
        enough = window.amount >= LEAST_STEPS * self.step and window.seconds >= self.least_s
        return enough or window.seconds >= LONGEST_S

    def lasts_s(self, amount: float) -> float:
        """How long a window of this amount is at least."""
        is_enough = amount >= LEAST_STEPS * self.step
        impossible_s = amount / self.most_per_s if self.most_per_s else 0.0
        return max(impossible_s, min(self.least_s, LONGEST_S) if is_enough else LONGEST_S)

    def can_be(self, window: Window) -> bool:
        """Whether it holds no more than there can be."""
        return self.most_per_s is None or window.amount <= self.most_per_s * window.seconds


def rule_of(track: Track, cpus: int) -> Rule | None:
    """The window for a track; None for a gauge, whose levels need none."""
    if track.gauge:
        return None
    step = max(counter.scale for counter in track.counters)
    if track.unit == "cores":
        ticks = any(entry_of(counter.back_end).counts_ticks for counter in track.counters)
        own = all(counter.scope in {"process", "thread"} for counter in track.counters)
        return Rule(step=TICK_S if ticks else step, most_per_s=float(cpus) if own else None)
    if track.quantity == "energy":
        return Rule(step=step, least_s=LEAST_STEPS * ENERGY_REFRESH_S)
    return Rule(step=step)


def _joined(one: Window, other: Window) -> Window:
    amount, seconds = one.amount + other.amount, one.seconds + other.seconds
    return Window(one.begin_ns, other.end_ns, amount, seconds)


class Windows:
    """Those of one track, while its lane is read."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._open: Window | None = None
        self._kept: Window | None = None
        self._short: list[Window] = []
        self._any = False

    def are_intervals(self, amounts: Sequence[float | None], seconds: Sequence[float]) -> bool:
        """Whether each interval is a window by itself, as those of busy counters are."""
        if self._open is not None or self._kept is not None:
            return False
        known = [amount for amount in amounts if amount is not None]
        if not known or min(known) < LEAST_STEPS * self._rule.step:
            return False
        most = self._rule.most_per_s
        if most is not None and any(a / s > most for a, s in zip(known, seconds, strict=False)):
            return False
        return len(known) == len(amounts) and min(seconds) >= self._rule.least_s

    def take(
        self, times_ns: Sequence[int], amounts: Sequence[float | None], seconds: Sequence[float]
    ) -> Iterator[Window]:
        """Take readings that follow those taken before, and yield the windows that are whole now.

        Args:
            times_ns: Time of each reading, rising; the first is the last one taken before.
            amounts: Counted between each two readings, one fewer than `times_ns`; None: not known.
            seconds: Time between each two readings, beside `amounts`.
        """
        for at, amount in enumerate(amounts):
            if amount is None:
                yield from self._at_gap()
                continue
            if self._open is None:
                self._open = Window(times_ns[at], times_ns[at + 1], amount, seconds[at])
            else:
                self._open.end_ns = times_ns[at + 1]
                self._open.amount += amount
                self._open.seconds += seconds[at]
            if self._rule.holds(self._open):
                yield from self._close(self._open)

    def take_steady(
        self, rate: float | None, times_ns: Sequence[int], elapsed_s: Sequence[float]
    ) -> Iterator[Window]:
        """Take readings over which nothing was counted, or nothing is known; yield as `take` does.

        What lies behind the window that was open is one window, however many seconds it takes.

        Args:
            rate: 0 where nothing was counted; None: not known.
            times_ns: Time of each reading, rising; the first is the last one taken before.
            elapsed_s: Seconds from the first reading to each, beside `times_ns`.
        """
        if rate is None:
            yield from self._at_gap()
            return
        at = 0
        while at < len(times_ns) - 1:
            window = self._open or Window(times_ns[at], times_ns[at], 0.0, 0.0)
            missing_s = self._rule.lasts_s(window.amount) - window.seconds
            is_last = self._open is None and elapsed_s[-1] - elapsed_s[at] >= missing_s
            end = len(times_ns) - 1
            if not is_last:
                first = bisect_left(elapsed_s, elapsed_s[at] + missing_s, at + 1)
                end = min(first, end)
            window.end_ns = times_ns[end]
            window.seconds += elapsed_s[end] - elapsed_s[at]
            self._open, at = window, end
            if self._rule.holds(window):
                yield from self._close(window)

    def rest(self) -> Iterator[Window]:
        """At the end; where nothing was ever a window, what there is."""
        yield from self._at_gap()
        if not self._any:
            yield from filter(self._rule.can_be, self._short)

    def _close(self, window: Window) -> Iterator[Window]:
        """The window is whole; it is passed on when the next one is."""
        if self._kept is not None:
            yield self._told(self._kept)
        self._kept, self._open = window, None

    def _at_gap(self) -> Iterator[Window]:
        """What is no window goes to the one before it."""
        kept, short = self._kept, self._open
        self._kept = self._open = None
        if kept is None:
            if short is not None:
                self._short.append(short)
            return
        if short is not None:
            whole = _joined(kept, short)
            kept = whole if self._rule.can_be(whole) else kept
        yield self._told(kept)

    def _told(self, window: Window) -> Window:
        self._any = True
        return window
