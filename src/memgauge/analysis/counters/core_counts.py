"""What counters of a core counted around timed accesses: misses of caches and TLB, and page walks.

They are measured, and stand beside what a cache model computes, never mixed with it. Counts of
different core types are of different counters and are never added: a thread runs on one type, and
of the others, whose counters all stood still, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.figures.speeds import had_page_fault, was_switched_out
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import counted
from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import Point, Sample
from memgauge.model.system import System

L3_ACCESSES, L3_MISSES = "perf:amd_l3/l3_cache_accesses/", "perf:amd_l3/l3_misses/"
TITLES = {
    "perf:cycles": "cycles",
    "perf:instructions": "instructions",
    "perf:cache-references": "cache references",
    "perf:cache-misses": "cache misses",
    L3_ACCESSES: "L3 requests, of all its cores",
    L3_MISSES: "L3 misses, of all its cores",
    "perf:llc-loads": "last-level loads",
    "perf:llc-load-misses": "last-level misses",
    "perf:dtlb-loads": "dTLB loads",
    "perf:dtlb-load-misses": "dTLB misses",
    "perf:page-walks": "page walks",
}

LAST_LEVEL = (
    ("perf:llc-loads", "perf:llc-load-misses"),
    (L3_ACCESSES, L3_MISSES),
)
"""What reaches the last cache level and what it misses, the thread's own counts first."""
REFERENCES = ("perf:cache-references", "perf:cache-misses")
"""What perf calls so: of which level and kind differs by processor."""

LAST = 3
"""Level of the caches that counters of scope `l3` see."""

ASIDE = {"perf:cycles", "perf:instructions"}
"""No misses: on the page only, where misses are counted too."""

Label = Callable[[Point], list[Cell]]


class CoreCount(msgspec.Struct, frozen=True, kw_only=True):
    """One point under the counters of one core type."""

    point: Point
    core_type: str | None
    per_access: dict[str, Estimate]
    """Median count for each access or element, by event; of times, ns."""
    units: dict[str, str]
    is_estimate: bool
    """Some counters shared their hardware and are scaled up."""
    samples: dict[str, list[float | None]]
    """What the medians are of, by event: one for each sample, None where it could not be read."""

    def ratio(self, over: str, under: str) -> Estimate | None:
        """Median over samples of one count over another; None where either was not counted."""
        pairs = zip(self.samples.get(over, []), self.samples.get(under, []), strict=False)
        return sustained([a / b for a, b in pairs if a is not None and b], 0.5)

    @property
    def last_level(self) -> tuple[str, str] | None:
        """The events of `LAST_LEVEL` that counted here; None: none did."""
        return next(
            (
                (loads, misses)
                for loads, misses in LAST_LEVEL
                if {loads, misses} <= set(self.per_access)
            ),
            None,
        )


def core_counts(figures: Figures, experiment: str) -> list[CoreCount]:
    """All points of an experiment whose samples have readings."""
    found: list[CoreCount] = []
    for point in figures.run.points_of(experiment):
        found += _of_point(point, figures.run.counted_samples_of(point.point), figures)
    return found


def _of_point(point: Point, samples: Sequence[Sample], figures: Figures) -> list[CoreCount]:
    clean = [s for s in samples if not was_switched_out(s) and not had_page_fault(s)]
    if not clean or clean[0].reading is None or not point.accesses:
        return []
    system = figures.run.start.system
    counters = _of_its_l3(figures.run.counters[clean[0].reading.counters].of, point, system)
    types = dict.fromkeys(counter.core_type for counter in counters)
    made = [_of_type(point, clean, [c for c in counters if c.core_type == one]) for one in types]
    return [one for one in made if one.per_access]


def _of_type(point: Point, samples: Sequence[Sample], counters: Sequence[Counter]) -> CoreCount:
    values: dict[str, list[float | None]] = {}
    estimated = False
    ran = counters[0].core_type is None
    for sample in samples:
        if sample.reading is None:
            continue
        accesses = point.accesses * len(sample.threads[0].begin_ns)
        for event in dict.fromkeys(counter.event for counter in counters):
            mine = [counter for counter in counters if counter.event == event]
            each = [counted(c, sample.reading.before, sample.reading.after) for c in mine]
            known = [one for one in each if one is not None]
            is_whole = len(known) == len(mine)
            total = sum(one.value for one in known) / accesses if is_whole else None
            values.setdefault(event, []).append(total)
            if is_whole:
                estimated |= any(one.is_estimate for one in known)
                ran |= any(one.raw for one in known)
    medians = {
        event: sustained([value for value in found if value is not None], 0.5)
        for event, found in values.items()
    }
    units = {counter.event: counter.unit for counter in counters}
    found = {
        event: scaled(median, 1e9 if units[event] == "s" else 1.0)
        for event, median in medians.items()
    }
    return CoreCount(
        point=point,
        core_type=counters[0].core_type,
        per_access={e: median for e, median in found.items() if median is not None and ran},
        units={event: "ns" if unit == "s" else unit for event, unit in units.items()},
        is_estimate=estimated,
        samples=values,
    )


def _of_its_l3(counters: Sequence[Counter], point: Point, system: System) -> list[Counter]:
    """Without counters of last-level caches that the point's CPUs do not use."""
    cpus = set(parse_cpu_list(str(point.actual.get("cpus") or "")))
    caches = [
        {*cache.cpus} for cache in system.caches if cache.level == LAST and cpus & {*cache.cpus}
    ]
    return [
        one for one in counters if one.scope != "l3" or any(one.cpu in shared for shared in caches)
    ]


def table(
    found: Sequence[CoreCount], name: str, noun: str, heads: Sequence[Column], label: Label
) -> list[Table]:
    """Counts for each access, with columns of the experiment's own before them.

    Args:
        found: Counts by point and core type, a row each; empty gives no table.
        name: Name of the experiment; that of the table is `NAME-counted`.
        noun: What the counts are for one of, such as `access` or `element`.
        heads: The experiment's own columns, which tell the rows apart.
        label: Makes the cells under `heads` for a point.
    """
    if not found:
        return []
    events = list(dict.fromkeys(event for one in found for event in one.per_access))
    hybrid = any(one.core_type for one in found)
    note = (
        "Counted of the measuring thread around exactly what is timed: measured, where the other "
    )
    if any(L3_ACCESSES in one.per_access for one in found):
        note = (
            "Counted around exactly what is timed, of the measuring thread but for the L3, whose "
            "counters see all cores that share it: measured, where the other "
        )
    note += "tables' miss rates are modelled. Medians over samples with their 95% interval."
    if any(one.is_estimate for one in found):
        note += " Some counters shared their hardware: those values are estimates."
    columns = [*heads, *([Column(title="core type")] if hybrid else [])]
    units = {event: unit for one in found for event, unit in one.units.items()}
    last = {event for pair in LAST_LEVEL for event in pair}
    aside = ASIDE | (set(REFERENCES) if last & set(events) else set())
    columns += [
        Column(
            title=f"{_title(event)}, counted",
            unit=units.get(event) or None,
            digits=3,
            narrow=event not in aside or not set(events) - aside,
        )
        for event in events
    ]
    return [
        Table(
            name=f"{name}-counted",
            title=f"Counted misses, for each {noun}",
            columns=columns,
            rows=[
                [
                    *label(one.point),
                    *([one.core_type] if hybrid else []),
                    *(_cell(one.per_access.get(event)) for event in events),
                ]
                for one in found
            ],
            note=note,
        )
    ]


def _title(event: str) -> str:
    return TITLES.get(event, event.partition(":")[2])


def _cell(estimate: Estimate | None) -> Cell:
    """Without an interval where there is none, or none that a share could show."""
    if estimate is None or (estimate.value and estimate.high != float("inf")):
        return estimate
    return estimate.value


def sets_of(figures: Figures, experiment: str) -> list[CounterSet]:
    """The counter sets that an experiment of one thread declared."""
    made = figures.run.counters.values()
    return [one for one in made if one.counters.partition("/")[0] == experiment]


def verdict(figures: Figures, experiment: str) -> Verdict | None:
    """Which counters stand beside the model, or why there are none; None: none were asked for."""
    sets = sets_of(figures, experiment)
    if not sets:
        return None
    refused = {event: why for made in sets for event, why in made.refused.items()}
    counted_events = dict.fromkeys(counter.event for made in sets for counter in made.of)
    if not counted_events:
        text = (
            f"No counters of the core were read: {_by_reason(refused) or 'none were found'}. "
            "Misses are modelled, not counted."
        )
        return Verdict(level="note", text=text)
    text = f"Counted beside the model, of the measuring thread: {', '.join(counted_events)}."
    if refused:
        text += f" Not counted: {_by_reason(refused)}."
    return Verdict(level="note", text=text)


def _by_reason(refused: Mapping[str, str]) -> str:
    """Events that share a reason together, with the reason once."""
    found: dict[str, list[str]] = {}
    for event, why in refused.items():
        found.setdefault(why.removesuffix("."), []).append(event)
    return "; ".join(f"{', '.join(events)} ({why})" for why, events in found.items())
