"""The machines of a fleet together: which changes stand, and which machines stand out now.

All figures of all machines are tested together, in two steps (Benjamini and Bogomolov 2014), as
`cluster.outliers` tests nodes. A machine's chance is that of its least likely step, times the
number of its series. Of the machines with a change 5% are expected to be false (Benjamini and
Hochberg 1995); if nothing changed in any, a change is reported in 5% of trends at most. Of a
machine with a change, those steps are reported that pass the same limit.

Which machines stand out is asked of the levels that their figures have at the end, machines of one
kind against each other, by the test for nodes of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from memgauge.analysis.cluster.outliers import Judged, Outlier, judge
from memgauge.analysis.statistics.significance import FALSE_SHARE, stand
from memgauge.analysis.trend.changes import LEAST_RUNS, Change, Level, Tested, judge_era
from memgauge.analysis.trend.history import (
    History,
    Key,
    RunFacts,
    condition_changes,
    hardware_change,
)
from memgauge.model.storage.cluster import LEAST_VALUE, MOST_VALUE, FigureOfNode
from memgauge.model.units import format_count


class StandingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is more than chance, with its time and what else changed then."""

    change: Change
    after: datetime
    """Start of the last run that may still be at the level before, and"""
    until: datetime
    """of the first that cannot be any more: it happened between them, with 95% confidence."""
    beside: list[str]
    """Conditions of the runs that changed in this time, in words."""


class Replaced(msgspec.Struct, frozen=True, kw_only=True):
    """A machine whose hardware changed."""

    machine: str
    after: datetime
    until: datetime
    what: str


class TooFew(msgspec.Struct, frozen=True, kw_only=True):
    """An era without enough runs."""

    machine: str
    runs: int
    """Those with the figure that most runs have."""
    is_latest: bool
    """Whether it is the machine's last."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Machines of one kind, by the hardware that they have now."""

    kind: str
    machines: list[str]
    judged: Judged


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """Many runs over time, analysed."""

    histories: list[History]
    tested: dict[str, list[Tested]]
    """By machine, its eras in order."""
    changes: list[StandingChange]
    """The latest first, and of one time the largest first."""
    kept_level: list[Change]
    """Figures that changed only apart from a pace that changed too."""
    replaced: list[Replaced]
    too_few: list[TooFew]
    kinds: list[Kind]
    outliers: list[Outlier]
    """Of all kinds, slower ones first."""
    skipped: list[str] = []
    """Why some of the runs are not in it, in words."""
    notes: list[str] = []
    """What else must be known of the runs, in sentences."""

    @property
    def runs(self) -> int:
        """Of all machines."""
        return sum(len(one.runs) for one in self.histories)

    @property
    def tests(self) -> int:
        """Series of all machines that were tested."""
        return sum(era.tests for eras in self.tested.values() for era in eras)

    @property
    def machines_tested(self) -> int:
        """Those with an era of enough runs."""
        return sum(any(era.tests for era in eras) for eras in self.tested.values())

    @property
    def newest(self) -> datetime:
        """Start of the last run."""
        return max(one.runs[-1].started_at for one in self.histories)


def trend_of(
    histories: Sequence[History],
    skipped: Sequence[str] = (),
    on_progress: Callable[[float], None] = lambda _: None,
    notes: Sequence[str] = (),
) -> Trend:
    """Find what changed, and which machines stand out.

    Args:
        histories: One for each machine, none without runs.
        skipped: Why some of the runs are not in them.
        on_progress: Called with the share of the machines that are done.
        notes: What else must be known of the runs, in sentences.
    """
    tested: dict[str, list[Tested]] = {}
    for at, history in enumerate(histories):
        tested[history.machine] = [judge_era(history, era) for era in history.eras]
        on_progress((at + 1) / len(histories))
    by_name = {one.machine: one for one in histories}
    standing = _standing(tested)
    changes = [_with_time(one, by_name[one.machine]) for one in standing if not one.kept_level]
    changes.sort(key=lambda one: (one.until, abs(one.change.apart.value - 1)), reverse=True)
    kinds = _kinds(histories, tested)
    outliers = [outlier for kind in kinds for outlier in kind.judged.outliers]
    return Trend(
        histories=[*histories],
        tested=tested,
        changes=changes,
        kept_level=[one for one in standing if one.kept_level],
        replaced=[one for history in histories for one in _replaced(history)],
        too_few=[one for history in histories for one in _too_few(history, tested)],
        kinds=kinds,
        outliers=sorted(outliers, key=lambda one: (not one.is_worse, -abs(one.score))),
        skipped=[*skipped],
        notes=[*notes],
    )


def _standing(tested: dict[str, list[Tested]]) -> list[Change]:
    """Changes that are more than chance when all machines and figures are taken together."""
    chances: dict[str, list[tuple[float, Change]]] = {}
    least: dict[str, float] = {}
    for machine, eras in tested.items():
        tests = sum(era.tests for era in eras)
        if not tests:
            continue
        found = [(one.p_value * tests, one) for era in eras for one in era.changes]
        chances[machine] = found
        least[machine] = min((chance for chance, _ in found), default=1.0)
    standing = sum(stand([min(1.0, chance) for chance in least.values()]))
    limit = FALSE_SHARE * standing / max(1, len(least))
    return [
        one
        for of_machine in chances.values()
        for chance, one in of_machine
        if standing and chance <= limit
    ]


def _with_time(change: Change, history: History) -> StandingChange:
    before, until = history.runs[max(0, change.low - 1)], history.runs[change.high]
    return StandingChange(
        change=change,
        after=before.started_at,
        until=until.started_at,
        beside=condition_changes(before, until),
    )


def _replaced(history: History) -> Iterator[Replaced]:
    for era in history.eras[1:]:
        before, after = history.runs[era.begin - 1], history.runs[era.begin]
        modules = _modules_before(history, era.begin)
        yield Replaced(
            machine=history.machine,
            after=before.started_at,
            until=after.started_at,
            what=hardware_change(before, after, modules) or "the hardware changed",
        )


def _modules_before(history: History, end: int) -> str | None:
    known = [one.modules for one in history.runs[:end] if one.modules is not None]
    return known[-1] if known else None


def _too_few(history: History, tested: dict[str, list[Tested]]) -> Iterator[TooFew]:
    for era in tested[history.machine]:
        if era.tests:
            continue
        known = [
            sum(value is not None for value in track.values[era.era.begin : era.era.end])
            for track in history.tracks.values()
        ]
        yield TooFew(
            machine=history.machine,
            runs=min(max(known, default=0), LEAST_RUNS - 1),
            is_latest=era.era is history.eras[-1],
        )


def _kinds(histories: Sequence[History], tested: dict[str, list[Tested]]) -> list[Kind]:
    """Machines by the hardware that they have now, each figure at its latest level."""
    now: dict[str, dict[str, list[FigureOfNode]]] = {}
    words: dict[str, RunFacts] = {}
    for history in histories:
        last = history.runs[-1]
        words.setdefault(last.machine_id, last)
        levels = tested[history.machine][-1].levels
        now.setdefault(last.machine_id, {})[history.machine] = [
            made for one in levels if (made := _figure(one, history)) is not None
        ]
    return [
        Kind(
            kind=f"{words[machine_id].kind}, {format_count(len(figures), 'machine')}",
            machines=list(figures),
            judged=judge(figures),
        )
        for machine_id, figures in sorted(now.items(), key=lambda one: -len(one[1]))
    ]


def _figure(level: Level, history: History) -> FigureOfNode | None:
    track = history.tracks[level.key]
    value = level.value
    if not LEAST_VALUE <= value.value <= MOST_VALUE or value.high > MOST_VALUE:
        return None
    return FigureOfNode(
        name=level.key[0],
        regime=level.key[1],
        unit=track.unit,
        direction=track.direction,
        statistic=track.statistic,
        value=value.value,
        low=value.low,
        high=value.high,
    )


def recent(trend: Trend, within: timedelta) -> list[StandingChange]:
    """Changes that may have happened within this time before the newest run.

    Args:
        trend: All changes.
        within: Time before the newest run of the changed machine's fleet.
    """
    since = trend.newest - within
    return [one for one in trend.changes if one.until >= since]


def label_key(key: Key) -> str:
    """Name of a figure as gates and documents state it: `stream/triad/tuned/double/2t`."""
    name, regime = key
    return f"{name} ({regime})" if regime else name
