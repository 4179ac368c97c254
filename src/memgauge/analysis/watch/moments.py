"""What a watch knows of each moment: figures by name, from two readings that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from memgauge.analysis.profile.latest import Latest, Level
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import Raw, counted
from memgauge.model.record_kinds.counters import CounterSet

PROBE = "watch"
"""Stands for the back end of what the probe measures."""
LATENCY, BANDWIDTH = f"{PROBE}:latency", f"{PROBE}:bandwidth"
DISTURBED = f"{PROBE}:disturbed passes"
OWN_TIME, OWN_BYTES = f"{PROBE}:own processor time", f"{PROBE}:own traffic"

How = Literal["mean", "largest", "rate", "increase"]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a moment, and the event it is made of."""

    name: str
    """With its unit."""
    event: str
    title: str
    how: How
    """mean, largest: of a level over its places. rate: a second. increase: since the moment
    before."""
    unit: str
    """Shown: `ns`, `B/s`, `%` (of a share), `/s`, `Hz`, `°C`, or empty for counts."""
    of_all_cpus: bool = False
    """Whether the rate is seconds of all CPUs, and is divided by their number."""
    is_own: bool = False
    """Whether it is the cost of watching."""
    is_probe: bool = False
    """Whether the probe measures it, so that it has a baseline."""


FIGURES = (
    Figure(
        name="latency_ns",
        event=LATENCY,
        title="latency",
        how="mean",
        unit="ns",
        is_probe=True,
    ),
    Figure(
        name="bandwidth_bytes_per_s",
        event=BANDWIDTH,
        title="read burst, one CPU",
        how="mean",
        unit="B/s",
        is_probe=True,
    ),
    Figure(
        name="steal_share",
        event="kernel:steal_time",
        title="steal",
        how="rate",
        unit="%",
        of_all_cpus=True,
    ),
    Figure(
        name="memory_pressure_share",
        event="kernel:memory_pressure",
        title="some wait for memory",
        how="rate",
        unit="%",
    ),
    Figure(
        name="memory_stall_share",
        event="kernel:memory_stall",
        title="all wait for memory",
        how="rate",
        unit="%",
    ),
    Figure(
        name="cpu_pressure_share",
        event="kernel:cpu_pressure",
        title="some wait for a CPU",
        how="rate",
        unit="%",
    ),
    Figure(
        name="page_faults_per_s",
        event="kernel:page_faults",
        title="page faults",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="major_faults_per_s",
        event="kernel:major_faults",
        title="major faults",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="swapped_in_pages_per_s",
        event="kernel:swapped_in",
        title="pages swapped in",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="swapped_out_pages_per_s",
        event="kernel:swapped_out",
        title="pages swapped out",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="reclaimed_pages_per_s",
        event="kernel:reclaimed",
        title="pages reclaimed",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="reclaimed_directly_pages_per_s",
        event="kernel:reclaimed_directly",
        title="directly reclaimed",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="numa_migrated_pages_per_s",
        event="kernel:numa_migrations",
        title="pages moved by NUMA",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="thp_failures_per_s",
        event="kernel:thp_failures",
        title="huge pages refused",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="compaction_stalls_per_s",
        event="kernel:compaction_stalls",
        title="waits for compaction",
        how="rate",
        unit="/s",
    ),
    Figure(
        name="oom_kills",
        event="kernel:oom_kills",
        title="killed for memory",
        how="increase",
        unit="",
    ),
    Figure(
        name="ecc_corrected_errors",
        event="kernel:ecc_corrected",
        title="corrected errors",
        how="increase",
        unit="",
    ),
    Figure(
        name="ecc_uncorrected_errors",
        event="kernel:ecc_uncorrected",
        title="uncorrected errors",
        how="increase",
        unit="",
    ),
    Figure(name="clock_hz", event="kernel:clock", title="clock", how="mean", unit="Hz"),
    Figure(
        name="temperature_celsius",
        event="kernel:temperature",
        title="warmest zone",
        how="largest",
        unit="°C",
    ),
    Figure(
        name="own_cpu_share",
        event=OWN_TIME,
        title="own share of one CPU",
        how="rate",
        unit="%",
        is_own=True,
    ),
    Figure(
        name="own_bytes_per_s",
        event=OWN_BYTES,
        title="own traffic",
        how="rate",
        unit="B/s",
        is_own=True,
    ),
)
BY_NAME = {figure.name: figure for figure in FIGURES}


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of one period."""

    at_ns: int
    """On the run's clock, in the middle of its reading."""
    seconds: float
    """Since the moment before; 0 for the first, which knows levels only."""
    values: dict[str, float | None]
    """By name of the figures that this machine has; None: could not be read, or is not known."""
    levels: list[Level] = []
    """Of counters that are no figures: memory traffic, a process, a group."""
    total: dict[str, float] = {}
    """What each counter of a rate or an increase has counted altogether, in its unit."""


class Moments:
    """Makes moments of readings that follow each other, in constant memory."""

    def __init__(self, counters: CounterSet, cpus: int) -> None:
        """Take the set whose readings come, and over how many CPUs the kernel sums."""
        self._cpus = max(1, cpus)
        by_event: dict[str, list[Counter]] = {}
        for counter in counters.of:
            by_event.setdefault(counter.event, []).append(counter)
        self._known = [(one, by_event[one.event]) for one in FIGURES if one.event in by_event]
        figures = {one.event for one, _ in self._known}
        further = [one for one in counters.of if one.event not in figures | {DISTURBED}]
        self._further = msgspec.structs.replace(counters, of=further) if further else None
        self._latest = Latest()
        self._before: tuple[int, Raw] | None = None

    @property
    def figures(self) -> list[Figure]:
        """Those that this machine has."""
        return [figure for figure, _ in self._known]

    def take(self, begin_ns: int, end_ns: int, values: Sequence[int | None]) -> Moment:
        """The moment of a reading, later than the one before.

        Args:
            begin_ns: When the reading began, on the run's clock.
            end_ns: When it ended.
            values: Raw values by slot; None: the slot could not be read.
        """
        at_ns = (begin_ns + end_ns) // 2
        before, self._before = self._before, (at_ns, values)
        seconds = 0.0 if before is None else (at_ns - before[0]) * 1e-9
        earlier = values if before is None else before[1]
        if self._further is not None:
            self._latest.take(self._further, begin_ns, end_ns, values)
        return Moment(
            at_ns=at_ns,
            seconds=seconds,
            values={
                figure.name: self._value(figure, counters, earlier, values, seconds)
                for figure, counters in self._known
            },
            levels=self._latest.levels() if self._further is not None else [],
            total={
                figure.name: total
                for figure, counters in self._known
                if figure.how in {"rate", "increase"}
                and (total := _sum(counters, values)) is not None
            },
        )

    def _value(
        self,
        figure: Figure,
        counters: Sequence[Counter],
        before: Raw,
        now: Raw,
        seconds: float,
    ) -> float | None:
        if figure.how in {"mean", "largest"}:
            levels = [now[one.slot] for one in counters]
            known = [
                level * one.scale
                for level, one in zip(levels, counters, strict=True)
                if level is not None
            ]
            return _of_levels[figure.how](known) if known else None
        if seconds <= 0:
            return None
        found = [counted(one, before, now) for one in counters]
        amounts = [one.value for one in found if one is not None]
        if len(amounts) < len(found):
            return None
        amount = sum(amounts)
        if figure.how == "increase":
            return amount
        return amount / seconds / (self._cpus if figure.of_all_cpus else 1)


_of_levels: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda levels: sum(levels) / len(levels),
    "largest": max,
}


def _sum(counters: Sequence[Counter], values: Raw) -> float | None:
    """Over places; None where one could not be read."""
    raw = [values[one.slot] for one in counters]
    known = [(one, level) for one, level in zip(counters, raw, strict=True) if level is not None]
    if len(known) < len(counters):
        return None
    return sum(level * one.scale for one, level in known)
