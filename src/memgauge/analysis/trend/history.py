"""Runs of a machine in the order of time, and the figures of each: what a trend is found in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from memgauge.model.storage.cluster import LEAST_VALUE, MOST_VALUE
from memgauge.model.text import shortened

Key = tuple[str, str]
"""Name of a point, and kind of its regime; empty where there is one."""

MOST_TEXT = 200
"""Characters of a condition or a description in a sentence."""

Direction = Literal["higher", "lower"]


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One run: when it was made, on what, and under which conditions."""

    run: str
    """Its identifier."""
    started_at: datetime
    """UTC."""
    machine_id: str
    """Digest of the kind of machine: processor, CPUs, caches, memory; empty: not known, as of files
    of other tools, which are taken to be of the machine that the runs beside them name."""
    kind: str
    """The same in words."""
    modules: str | None
    """Memory modules in words; None: not known."""
    conditions: dict[str, str]
    """What may change from run to run, such as the kernel; what is not known is missing."""

    @property
    def day(self) -> str:
        """ISO 8601."""
        return f"{self.started_at:%Y-%m-%d}"


class Observation(msgspec.Struct, frozen=True):
    """One figure of one run."""

    machine: str
    run: str
    key: Key
    unit: str
    direction: Direction
    statistic: str
    value: float


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over the runs of a machine."""

    unit: str
    direction: Direction
    statistic: str
    """What the value is in all runs."""
    values: list[float | None]
    """Beside the runs of the history; None: not measured, or only another statistic is known."""
    left_out: int
    """Runs in which only another statistic is known."""


class Era(msgspec.Struct, frozen=True, kw_only=True):
    """Runs in a row on one and the same hardware."""

    begin: int
    end: int
    """The first run that is not in it."""

    def __len__(self) -> int:
        return self.end - self.begin


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one machine."""

    machine: str
    runs: list[RunFacts]
    """Oldest first."""
    tracks: dict[Key, Track]
    eras: list[Era]
    """In order; several where the hardware was changed."""


def histories_of(
    runs: Mapping[str, Iterable[RunFacts]], observations: Iterable[Observation]
) -> list[History]:
    """The history of each machine, by name.

    A run that is given twice counts once. A figure of which different runs have different
    statistics is tracked by the one that most of them have.

    Args:
        runs: By name of the machine.
        observations: Figures of these runs, in any order.
    """
    ordered = {machine: _ordered(of_machine) for machine, of_machine in runs.items()}
    places = {
        machine: {one.run: at for at, one in enumerate(of_machine)}
        for machine, of_machine in ordered.items()
    }
    found: dict[str, dict[Key, dict[int, Observation]]] = {}
    for one in observations:
        place = places[one.machine][one.run]
        found.setdefault(one.machine, {}).setdefault(one.key, {})[place] = one
    return [
        History(
            machine=machine,
            runs=of_machine,
            tracks={
                key: _track(of_key, len(of_machine))
                for key, of_key in sorted(found.get(machine, {}).items())
            },
            eras=list(_eras(of_machine)),
        )
        for machine, of_machine in sorted(ordered.items())
    ]


def _ordered(runs: Iterable[RunFacts]) -> list[RunFacts]:
    unique = {one.run: one for one in runs}
    ordered = sorted(unique.values(), key=lambda one: (one.started_at, one.run))
    known = next((one for one in ordered if one.machine_id), None)
    for at, one in enumerate(ordered):
        if one.machine_id:
            known = one
        elif known is not None:
            named = msgspec.structs.replace(one, machine_id=known.machine_id, kind=known.kind)
            ordered[at] = named
    return ordered


def _track(of_key: Mapping[int, Observation], length: int) -> Track:
    statistics = Counter(one.statistic for one in of_key.values())
    usual = max(sorted(statistics), key=lambda name: statistics[name])
    values: list[float | None] = [None] * length
    for place, one in of_key.items():
        if one.statistic == usual and LEAST_VALUE <= one.value <= MOST_VALUE:
            values[place] = one.value
    first = next(iter(of_key.values()))
    return Track(
        unit=first.unit,
        direction=first.direction,
        statistic=usual,
        values=values,
        left_out=sum(statistics.values()) - statistics[usual],
    )


def _eras(runs: list[RunFacts]) -> Iterator[Era]:
    begin, modules = 0, None
    for at, one in enumerate(runs):
        if at and hardware_change(runs[at - 1], one, modules) is not None:
            yield Era(begin=begin, end=at)
            begin, modules = at, None
        modules = one.modules or modules
    if runs:
        yield Era(begin=begin, end=len(runs))


def hardware_change(before: RunFacts, after: RunFacts, modules: str | None = None) -> str | None:
    """What of the hardware differs between two runs, in words; None: nothing that is known.

    Args:
        before: The earlier run.
        after: The later one.
        modules: The memory modules that were last known; None means those of the earlier run.
    """
    known = modules or before.modules
    if before.machine_id != after.machine_id:
        return _changed(before.kind, after.kind)
    if known is not None and after.modules is not None and known != after.modules:
        return _changed(known, after.modules)
    return None


def condition_changes(before: RunFacts, after: RunFacts) -> list[str]:
    """Conditions that are known of both runs and differ, in words."""
    return [
        f"{name}: {_changed(found, after.conditions[name])}"
        for name, found in before.conditions.items()
        if after.conditions.get(name, found) != found
    ]


def _changed(before: str, after: str) -> str:
    return f"'{shortened(before, MOST_TEXT)}' became '{shortened(after, MOST_TEXT)}'"
