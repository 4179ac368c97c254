"""What latency and bandwidth of the probe are held against: this machine's own, by the same probe.

Either the medians of earlier watches that were made alike (`--remember`), or those of the first
minutes. How far single passes spread is always learned in the first minutes, for it belongs to the
machine as it is now. Figures of a survey are other figures: of larger rings, whose loads lie
elsewhere. They are shown beside, and no alert follows from them.

What would invalidate it: a neighbour that was there from the first minute on. Then the baseline is
slow, and nothing but an earlier watch or a survey shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.watch.moments import Moment
from memgauge.model.records import EarlierRun

LATENCY_KEY, BANDWIDTH_KEY = "watch latency", "watch bandwidth"
"""By which a watch's figures are kept for later ones."""
KEYS = {"latency_ns": LATENCY_KEY, "bandwidth_bytes_per_s": BANDWIDTH_KEY}
LEAST_PASSES = 20
"""For a median and a spread."""
MOST_PASSES = 600
"""Kept of the first minutes."""
_MAD_TO_SIGMA = 1.4826
"""Of a normal distribution."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What one figure of the probe usually is here."""

    value: float
    spread: float
    """Standard deviation of single passes over the value, by their median absolute deviation."""
    source: str
    """Such as `first 2 min`."""


class FirstMinutes:
    """Learns the baselines, one moment after the other."""

    def __init__(self, learn_s: float, earlier: Sequence[EarlierRun] = ()) -> None:
        """Learn for so long; values are taken from earlier watches where there are any.

        Args:
            learn_s: Seconds from the first moment on.
            earlier: Watches of this machine that were made alike, oldest first.
        """
        self.known: dict[str, Baseline] = {}
        """By figure, once it is learned."""
        self._learn_s = learn_s
        self._earlier = earlier
        self._first_ns: int | None = None
        self._passes: dict[str, list[float]] = {name: [] for name in KEYS}
        self._is_done = False

    @property
    def is_learning(self) -> bool:
        """Whether the first minutes are not over."""
        return not self._is_done

    def take(self, moment: Moment) -> None:
        """Learn from a moment; nothing any more once the first minutes are over."""
        if self._is_done:
            return
        if self._first_ns is None:
            self._first_ns = moment.at_ns
        for name, passes in self._passes.items():
            value = moment.values.get(name)
            if value is not None and len(passes) < MOST_PASSES:
                passes.append(value)
        elapsed_s = (moment.at_ns - self._first_ns) * 1e-9
        most = max(map(len, self._passes.values()))
        if elapsed_s >= self._learn_s and (most >= LEAST_PASSES or most == 0):
            self._finish(elapsed_s)

    def _finish(self, elapsed_s: float) -> None:
        self._is_done = True
        for name, passes in self._passes.items():
            if len(passes) < LEAST_PASSES:
                continue
            middle = median(passes)
            if middle <= 0:
                continue
            mad = median(abs(one - middle) for one in passes)
            kept = [run.figures[KEYS[name]] for run in self._earlier if KEYS[name] in run.figures]
            self.known[name] = Baseline(
                value=median(kept) if kept else middle,
                spread=_MAD_TO_SIGMA * mad / middle,
                source=_watches(len(kept)) if kept else f"first {_minutes(elapsed_s)}",
            )
        self._passes = {}


def _watches(count: int) -> str:
    return "an earlier watch" if count == 1 else f"{count} earlier watches"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.0f} s"
