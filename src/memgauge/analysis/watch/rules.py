"""Alerts by stated rules: a figure lies beyond a limit for most of some periods, then no longer.

A rule has two limits: one that raises its alert and a milder one that clears it, each when four of
the last five values lie beyond it. (A count of errors raises with the first.) So a single slow pass
raises nothing, and an alert neither flickers nor ends in a short pause. Limits of latency and
bandwidth are relative to the baseline and widen with the spread of single passes: on a machine
whose passes spread by 8%, a fifth is no finding.

How often the rules err on processes whose truth is known is simulated by `benchmarks/watch.py`; its
table is in docs/watch.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import msgspec

from memgauge.analysis.section import Level
from memgauge.analysis.watch.baseline import Baseline
from memgauge.analysis.watch.moments import Moment

WINDOW, NEEDED = 5, 4
"""Periods that are looked at, and how many of them must lie beyond a limit."""
SPREADS = 3.0
"""Standard deviations of single passes by which a relative limit lies off the baseline at least."""
HOLD_S = 600.0
"""For which an alert of errors stays after the last one."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """When a figure is worth a message."""

    name: str
    figure: str
    raises: float
    """The limit: of a relative rule the ratio to the baseline, else in the figure's unit."""
    clears: float
    relative: bool = False
    below: bool = False
    """Whether low values are bad."""
    at_once: bool = False
    """Whether one value raises it, which then holds for `HOLD_S`."""
    level: Level = "warning"

    def limits(self, baseline: Baseline | None) -> tuple[float, float] | None:
        """What raises and what clears, in the figure's unit; None without a baseline."""
        if not self.relative:
            return self.raises, self.clears
        if baseline is None:
            return None
        away = max(abs(self.raises - 1), SPREADS * baseline.spread)
        back = away * abs(self.clears - 1) / abs(self.raises - 1)
        sign = -1 if self.below else 1
        return baseline.value * max(0.0, 1 + sign * away), baseline.value * (1 + sign * back)


RULES = (
    Rule(name="latency", figure="latency_ns", raises=1.2, clears=1.1, relative=True),
    Rule(
        name="bandwidth",
        figure="bandwidth_bytes_per_s",
        raises=0.8,
        clears=0.9,
        relative=True,
        below=True,
    ),
    Rule(name="steal", figure="steal_share", raises=0.05, clears=0.02),
    Rule(name="memory-pressure", figure="memory_pressure_share", raises=0.1, clears=0.05),
    Rule(
        name="memory-stall",
        figure="memory_stall_share",
        raises=0.05,
        clears=0.02,
        level="problem",
    ),
    Rule(name="swap-in", figure="swapped_in_pages_per_s", raises=100.0, clears=20.0),
    Rule(
        name="direct-reclaim", figure="reclaimed_directly_pages_per_s", raises=1000.0, clears=100.0
    ),
    Rule(name="numa-migrations", figure="numa_migrated_pages_per_s", raises=20_000.0, clears=5e3),
    Rule(name="thp-failures", figure="thp_failures_per_s", raises=100.0, clears=20.0),
    Rule(
        name="oom-kill",
        figure="oom_kills",
        raises=1.0,
        clears=1.0,
        at_once=True,
        level="problem",
    ),
    Rule(name="corrected-errors", figure="ecc_corrected_errors", raises=1, clears=1, at_once=True),
    Rule(
        name="uncorrected-errors",
        figure="ecc_uncorrected_errors",
        raises=1.0,
        clears=1.0,
        at_once=True,
        level="problem",
    ),
)


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch in which a rule held."""

    rule: Rule
    since_ns: int
    """When the first of the values that raised it was read."""
    raised_ns: int
    """When the rule raised it."""
    until_ns: int | None = None
    """When the first of the values that cleared it was read; None: it still holds."""
    worst: float
    latest: float
    baseline: float | None = None
    """Of a relative rule."""

    @property
    def ratio(self) -> float | None:
        """The latest value to the baseline; None for a rule that is not relative."""
        return self.latest / self.baseline if self.baseline else None


class _Held:
    """One rule over time."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.alert: Alert | None = None
        self._last: deque[tuple[int, float]] = deque(maxlen=WINDOW)
        self._beyond_ns = 0

    def take(self, at_ns: int, value: float, baseline: Baseline | None) -> Alert | None:
        """The alert where it began or ended with this value."""
        limits = self.rule.limits(baseline)
        if limits is None:
            return None
        if self.rule.at_once:
            return self._take_at_once(at_ns, value)
        self._last.append((at_ns, value))
        raises, clears = limits
        if self.alert is None:
            since = [at for at, one in self._last if self._beyond(one, raises)]
            if len(since) < NEEDED:
                return None
            self.alert = Alert(
                rule=self.rule,
                since_ns=since[0],
                raised_ns=at_ns,
                worst=self._worst(*(one for _, one in self._last)),
                latest=value,
                baseline=baseline.value if self.rule.relative and baseline else None,
            )
            self._last.clear()
            return self.alert
        back = [at for at, one in self._last if not self._beyond(one, clears)]
        if len(back) >= NEEDED:
            self._last.clear()
            return self._ended(back[0], value)
        self._hold(value)
        return None

    def _take_at_once(self, at_ns: int, value: float) -> Alert | None:
        if value >= self.rule.raises:
            self._beyond_ns = at_ns
            if self.alert is not None:
                self._hold(value)
                return None
            self.alert = Alert(
                rule=self.rule, since_ns=at_ns, raised_ns=at_ns, worst=value, latest=value
            )
            return self.alert
        if self.alert is not None and at_ns - self._beyond_ns >= HOLD_S * 1e9:
            return self._ended(self._beyond_ns, value)
        return None

    def _hold(self, value: float) -> None:
        if self.alert is not None:
            worst = self._worst(self.alert.worst, value)
            self.alert = msgspec.structs.replace(self.alert, worst=worst, latest=value)

    def _ended(self, at_ns: int, value: float) -> Alert | None:
        alert, self.alert = self.alert, None
        if alert is None:
            return None
        return msgspec.structs.replace(alert, until_ns=at_ns, latest=value)

    def _beyond(self, value: float, limit: float) -> bool:
        return value < limit if self.rule.below else value >= limit

    def _worst(self, *values: float) -> float:
        return min(values) if self.rule.below else max(values)


class Alerts:
    """All rules over time, in constant memory."""

    def __init__(self, rules: tuple[Rule, ...] = RULES) -> None:
        """Hold these rules."""
        self._held = [_Held(rule) for rule in rules]

    @property
    def active(self) -> list[Alert]:
        """Those that hold, in the order of the rules."""
        return [held.alert for held in self._held if held.alert is not None]

    def take(self, moment: Moment, baselines: Mapping[str, Baseline]) -> list[Alert]:
        """Take a moment; return the alerts that began or ended with it.

        Args:
            moment: Figures, later than those before.
            baselines: By figure.
        """
        changes = []
        for held in self._held:
            figure = held.rule.figure
            value = moment.values.get(figure)
            if value is None:
                continue
            changed = held.take(moment.at_ns, value, baselines.get(figure))
            if changed is not None:
                changes.append(changed)
        return changes
