"""A watch as it stands: what every view shows, and the one place that brings it up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.analysis.watch.baseline import Baseline, FirstMinutes
from memgauge.analysis.watch.headroom import Headroom, headroom_of
from memgauge.analysis.watch.moments import Figure, Moment, Moments
from memgauge.analysis.watch.rules import Alert, Alerts
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import EarlierRun, MeasuredCurve

MOST_ENDED = 50
"""Alerts that have ended and are kept, the latest."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known now."""

    moment: Moment
    figures: list[Figure]
    """Those that this machine has, in their order."""
    baselines: Mapping[str, Baseline]
    is_learning: bool
    """Whether the baseline is not known yet."""
    active: list[Alert]
    ended: list[Alert]
    """The latest that ended, newest last."""
    raised: Mapping[str, int]
    """How often each rule raised an alert, by name of the rule."""
    headroom: Headroom | None
    unverified: list[str]
    """Events of memory traffic that no verdict calls verified."""


class Watcher:
    """Takes readings one after the other, in constant memory: live, and from a record alike."""

    def __init__(
        self,
        counters: CounterSet,
        *,
        cpus: int,
        learn_s: float,
        earlier: Sequence[EarlierRun] = (),
        curves: Sequence[MeasuredCurve] = (),
    ) -> None:
        """Begin before the first reading.

        Args:
            counters: The set that is read.
            cpus: CPUs over which the kernel sums.
            learn_s: Length of the first minutes, in seconds.
            earlier: Watches of this machine that were made alike.
            curves: Latency beside bandwidth of this machine, of an earlier run.
        """
        self._moments = Moments(counters, cpus)
        self._first = FirstMinutes(learn_s, earlier)
        self._alerts = Alerts()
        self._ended: list[Alert] = []
        self._raised: dict[str, int] = {}
        self._curves = curves
        self._unverified = [
            one.event
            for one in counters.of
            if one.domain == "memory" and (one.verdict is None or one.verdict.verdict != "verified")
        ]

    @property
    def baselines(self) -> Mapping[str, Baseline]:
        """What was learned so far, by figure."""
        return self._first.known

    @property
    def figures(self) -> list[Figure]:
        """Those that this machine has."""
        return self._moments.figures

    def take(
        self, begin_ns: int, end_ns: int, values: Sequence[int | None]
    ) -> tuple[Moment, list[Alert]]:
        """Take a reading; return its moment, and the alerts that began or ended with it.

        Args:
            begin_ns: When it began, on the run's clock.
            end_ns: When it ended.
            values: Raw values by slot; None: the slot could not be read.
        """
        moment = self._moments.take(begin_ns, end_ns, values)
        self._first.take(moment)
        changes = self._alerts.take(moment, self._first.known)
        for alert in changes:
            if alert.until_ns is None:
                self._raised[alert.rule.name] = self._raised.get(alert.rule.name, 0) + 1
            else:
                self._ended = [*self._ended[1 - MOST_ENDED :], alert]
        return moment, changes

    def headroom(self, moment: Moment) -> Headroom | None:
        """How far traffic is from the measured peak; None where it is not counted.

        Args:
            moment: The latest.
        """
        return headroom_of(moment.levels, self._curves)

    def status(self, moment: Moment) -> Status:
        """All that views show.

        Args:
            moment: The latest.
        """
        return Status(
            moment=moment,
            figures=self.figures,
            baselines=self._first.known,
            is_learning=self._first.is_learning,
            active=self._alerts.active,
            ended=self._ended,
            raised=self._raised,
            headroom=self.headroom(moment),
            unverified=list(dict.fromkeys(self._unverified)),
        )
