"""Runs over time as plain data: what `memgauge trend --json` prints."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.trend.changes import Change
from memgauge.analysis.trend.fleet import Kind, StandingChange, Trend
from memgauge.analysis.trend.history import Direction, History, Key
from memgauge.analysis.trend.verdicts import verdicts

TREND_VERSION = 1


class ChangeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One change that is more than chance."""

    machine: str
    name: str
    """Of the figure; `pace` for what all figures of a run have in common."""
    regime: str
    after: str
    """ISO 8601: it happened after this time"""
    until: str
    """and not after this one, with 95% confidence."""
    first_run: str
    """Identifier of the first run at the new level, most likely."""
    runs_before: int
    runs_after: int
    speed: Figure
    """After over before, apart from the pace; below 1 is slower, also of a latency."""
    speed_with_pace: Figure
    p_value: float
    slower: bool
    changed_too: list[str]
    """Conditions that changed in this time, in words."""


class LevelDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a machine, where it is now."""

    name: str
    regime: str
    unit: str
    better: Direction
    statistic: str
    value: Figure
    runs: int
    """Since it last changed."""
    other_statistic: int
    """Runs that are left out because they have another statistic only."""


class EraDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Runs in a row on one and the same hardware."""

    description: str
    machine_id: str
    memory_modules: str | None
    first: str
    last: str
    runs: int
    tested: int
    """Series; 0: too few runs to tell."""


class MachineDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One machine."""

    machine: str
    runs: int
    eras: list[EraDocument]
    levels: list[LevelDocument]


class OutlierDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a machine that stands out now."""

    machine: str
    name: str
    regime: str
    departure: float
    """From the median of its kind, as a share."""
    robust_z: float
    slower: bool


class KindDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Machines of one kind."""

    kind: str
    machines: list[str]
    tests: int
    """Figures of machines that were tested against each other; 0: too few machines."""


class TrendDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Many runs over time, analysed."""

    format_version: int
    kind: Literal["trend"]
    runs: int
    first: str
    last: str
    tested: int
    """Series of all machines."""
    changes: list[ChangeDocument]
    """The latest first."""
    outliers: list[OutlierDocument]
    kinds: list[KindDocument]
    machines: list[MachineDocument]
    verdicts: list[Verdict]


def trend_document(trend: Trend) -> TrendDocument:
    """All that a trend found."""
    by_name = {one.machine: one for one in trend.histories}
    return TrendDocument(
        format_version=TREND_VERSION,
        kind="trend",
        runs=trend.runs,
        first=min(one.runs[0].started_at for one in trend.histories).isoformat(),
        last=trend.newest.isoformat(),
        tested=trend.tests,
        changes=[_change(one, by_name[one.change.machine]) for one in trend.changes],
        outliers=[
            OutlierDocument(
                machine=one.node,
                name=one.figure.name,
                regime=one.figure.regime,
                departure=one.departure,
                robust_z=one.score,
                slower=one.is_worse,
            )
            for one in trend.outliers
        ],
        kinds=[_kind(kind) for kind in trend.kinds],
        machines=[_machine(one, trend) for one in trend.histories],
        verdicts=verdicts(trend),
    )


def _change(one: StandingChange, history: History) -> ChangeDocument:
    change: Change = one.change
    name, regime = change.key
    return ChangeDocument(
        machine=change.machine,
        name=name,
        regime=regime,
        after=one.after.isoformat(),
        until=one.until.isoformat(),
        first_run=history.runs[change.first].run,
        runs_before=change.runs_before,
        runs_after=change.runs_after,
        speed=figure(change.apart),
        speed_with_pace=figure(change.total),
        p_value=change.p_value,
        slower=change.is_slower,
        changed_too=one.beside,
    )


def _kind(kind: Kind) -> KindDocument:
    return KindDocument(kind=kind.kind, machines=kind.machines, tests=kind.judged.tests)


def _machine(history: History, trend: Trend) -> MachineDocument:
    tested = trend.tested[history.machine]
    return MachineDocument(
        machine=history.machine,
        runs=len(history.runs),
        eras=[_era(history, era.era.begin, era.era.end, era.tests) for era in tested],
        levels=[_level(one.key, one.value, one.runs, history) for one in tested[-1].levels],
    )


def _era(history: History, begin: int, end: int, tests: int) -> EraDocument:
    runs = history.runs[begin:end]
    modules = [one.modules for one in runs if one.modules is not None]
    return EraDocument(
        description=runs[-1].kind,
        machine_id=runs[-1].machine_id,
        memory_modules=modules[-1] if modules else None,
        first=runs[0].started_at.isoformat(),
        last=runs[-1].started_at.isoformat(),
        runs=len(runs),
        tested=tests,
    )


def _level(key: Key, value: Estimate, runs: int, history: History) -> LevelDocument:
    track = history.tracks[key]
    return LevelDocument(
        name=key[0],
        regime=key[1],
        unit=track.unit,
        better=track.direction,
        statistic=track.statistic,
        value=figure(value),
        runs=runs,
        other_statistic=track.left_out,
    )
