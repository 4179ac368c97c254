"""What the `misses` points show: the cost of an element where data sits, against modelled AMAT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from memgauge.analysis.counters import core_counts
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.misses.counted import Counted, counts_of, rates_table, rates_verdicts
from memgauge.analysis.misses.figures import MEMORY, Case, cases_of, levels_of
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Section,
    Series,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.amat import MemoryLevel
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.units import format_bytes

COUNTERS = "performance counters"
"""Name of the capability."""


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of what misses cost."""
    levels = levels_of(figures)
    cases = cases_of(figures, levels)
    counted = counts_of(figures, cases, levels)
    return section_of(
        "misses",
        verdicts=_verdicts(levels, cases, counted, figures),
        tables=[
            *([_table(cases, levels)] if cases else []),
            *rates_table(counted),
            *_counted_table(figures, cases),
            *_level_table(levels),
        ],
        charts=[_chart(cases, levels)] if cases else [],
    )


def _table(cases: Sequence[Case], levels: Sequence[MemoryLevel]) -> Table:
    caches = [level.name for level in levels if level.capacity_bytes is not None]
    return Table(
        name="misses",
        title="One element of saxpy",
        columns=[
            Column(title="pattern"),
            Column(title="level"),
            Column(title="footprint", unit="B"),
            Column(title="measured", unit="ns", digits=2),
            Column(title="AMAT, modelled", unit="ns", digits=2),
            Column(title="AMAT over measured", digits=1),
            Column(title="lines touched", unit="B", narrow=False),
            *(
                Column(title=f"{name} misses, modelled", unit="%", digits=1, narrow=False)
                for name in caches
            ),
            Column(title="samples", narrow=False),
            Column(title="noise", unit="%", narrow=False),
        ],
        rows=[_row(case, len(caches)) for case in cases],
        note="Footprint: x and y together. AMAT: what both loads of an element cost if each were "
        "waited for, from the level latencies of this run and the miss rates of a cache model (LRU "
        "over the capacity that the topology claims; no prefetch, no translation). Miss rates are "
        "of the accesses that reach the level. A stride of a page touches few lines for its "
        "footprint: the caches hold them all, and what it costs is translation. Random addresses "
        "are computed on the way: what an element in L1 costs at random is that.",
    )


def _row(case: Case, caches: int) -> list[Cell]:
    rates: list[Cell] = [*case.rates] if case.rates else [None] * caches
    return [
        case.walk,
        case.level,
        case.footprint_bytes,
        case.measured,
        case.amat,
        case.hidden,
        case.touched_bytes,
        *rates,
        case.summary.samples,
        case.summary.noise,
    ]


def _counted_table(figures: Figures, cases: Sequence[Case]) -> list[Table]:
    """Counts of each walk, beside the modelled misses of the last cache level."""
    by_point = {case.summary.point: case for case in cases}

    def label(point: Point) -> list[Cell]:
        case = by_point[point.point]
        modelled = case.last_level_misses
        return [case.walk, case.level, case.footprint_bytes, modelled]

    found = [c for c in core_counts.core_counts(figures, "misses") if c.point.point in by_point]
    heads = [
        Column(title="pattern"),
        Column(title="level"),
        Column(title="footprint", unit="B"),
        Column(title="last-level misses, modelled", digits=3),
    ]
    return core_counts.table(found, "misses", "element", heads, label)


def _level_table(levels: Sequence[MemoryLevel]) -> list[Table]:
    if not levels:
        return []
    befores = [None, *levels[:-1]]
    return [
        Table(
            name="miss-penalties",
            title="What a miss costs at each level",
            columns=[
                Column(title="found in"),
                Column(title="latency", unit="ns", digits=2),
                Column(title="beyond the level before", unit="ns", digits=2),
                Column(title="capacity, by the topology", unit="B"),
            ],
            rows=[
                [
                    level.name,
                    level.latency_ns,
                    level.latency_ns.value - before.latency_ns.value if before else None,
                    level.capacity_bytes,
                ]
                for before, level in zip(befores, levels, strict=True)
            ],
            note="Dependent loads in random order; in memory of flushed lines, translation "
            "included.",
        )
    ]


def _chart(cases: Sequence[Case], levels: Sequence[MemoryLevel]) -> Chart:
    """A line for each pattern of several footprints, and what is modelled of them, dashed."""
    lines: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: case.footprint_bytes):
        lines.setdefault(case.walk, []).append(case)
    drawn = {name: found for name, found in lines.items() if len(found) > 1 or len(lines) == 1}
    return Chart(
        name="misses-amat",
        title="Cost of a saxpy element against AMAT",
        kind="line",
        x=Axis(title="Footprint of x and y", unit="B", scale="log2"),
        y=Axis(title="Time per element", unit="ns", scale="log10"),
        series=[
            *(
                series(name, _sizes(found), [case.measured for case in found])
                for name, found in drawn.items()
            ),
            *_modelled(drawn),
        ],
        bands=_bands(cases, levels),
        note="Modelled: every load waited for. The distance between what was measured and that is "
        "what overlap and prefetch hide.",
    )


def _sizes(found: Sequence[Case]) -> list[float | str]:
    return [float(case.footprint_bytes) for case in found]


def _modelled(lines: Mapping[str, Sequence[Case]]) -> list[Series]:
    """One line for all patterns of which the model predicts the same."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, found in lines.items():
        if any(case.amat is not None for case in found):
            key = tuple((case.footprint_bytes, case.amat) for case in found)
            alike.setdefault(key, []).append(name)
    return [
        Series(
            name=f"{', '.join(names)}: AMAT, modelled",
            x=_sizes(lines[names[0]]),
            y=[case.amat.value if case.amat else None for case in lines[names[0]]],
            dashed=True,
        )
        for names in alike.values()
    ]


def _bands(cases: Sequence[Case], levels: Sequence[MemoryLevel]) -> list[Band]:
    """Where the topology claims that each level ends, within the footprints measured."""
    sizes = [case.footprint_bytes for case in cases]
    start, last = float(min(sizes)), float(max(sizes))
    bands = []
    for level in levels:
        end = min(last, float(level.capacity_bytes or last))
        if end > start:
            bands.append(Band(label=level.name, start=start, end=end))
            start = end
    return bands


def _verdicts(
    levels: Sequence[MemoryLevel],
    cases: Sequence[Case],
    counted: Sequence[Counted],
    figures: Figures,
) -> list[Verdict]:
    if not cases:
        return [Verdict(level="warning", text="No cost of misses was measured.")]
    return [
        *_penalties(levels),
        *_hiding(cases),
        *_dearer(cases),
        *_unmodelled(cases),
        *rates_verdicts(counted),
        core_counts.verdict(figures, "misses") or counters_verdict(figures.run.start.system),
    ]


def _penalties(levels: Sequence[MemoryLevel]) -> list[Verdict]:
    if len(levels) < 2:
        return []
    costs = [
        f"{after.latency_ns.value - before.latency_ns.value:.1f} ns for one of {before.name} that "
        f"{after.name} serves"
        for before, after in pairwise(levels)
    ]
    text = f"A miss that is waited for costs {', '.join(costs)}."
    return [Verdict(level="good", text=text)]


def _hiding(cases: Sequence[Case]) -> list[Verdict]:
    """Which pattern hides memory best and which least, where intervals tell them apart."""
    in_memory = [
        (case.hidden, case)
        for case in cases
        if case.level == MEMORY
        and case.hidden is not None
        and case.touched_bytes >= case.footprint_bytes
    ]
    if len(in_memory) < 2:
        return []
    best = max(in_memory, key=lambda entry: entry[0].value)
    least = min(in_memory, key=lambda entry: entry[0].value)
    verdicts = [Verdict(level="note", text=_hidden_text("most", *best))]
    if best[0].low > least[0].high:
        verdicts.append(Verdict(level="note", text=_hidden_text("least", *least)))
    return verdicts


def _hidden_text(how: str, hidden: Estimate, case: Case) -> str:
    amat = case.amat.value if case.amat else 0.0
    return (
        f"In memory, {case.walk} hides {how} of the misses: {case.measured.value:.2f} ns an "
        f"element where waiting for each load would take {amat:.2f} ns (AMAT, modelled), "
        f"{hidden.value:.1f} times as long."
    )


def _dearer(cases: Sequence[Case]) -> list[Verdict]:
    """Elements that cost more than AMAT: the model lacks what bounds them."""
    dearer = [case for case in cases if case.hidden is not None and case.hidden.high < 1]
    if not dearer:
        return []
    names = ", ".join(f"{c.walk} at {format_bytes(c.footprint_bytes)}" for c in dearer)
    text = f"Dearer than the modelled AMAT: {names}. There something else than misses is paid for."
    return [Verdict(level="note", text=text)]


def _unmodelled(cases: Sequence[Case]) -> list[Verdict]:
    if any(case.amat is not None for case in cases):
        return []
    text = "AMAT is not modelled: the latency of a cache level or its capacity is not known."
    return [Verdict(level="note", text=text)]


def counters_verdict(system: System) -> Verdict:
    """Why the miss rates are modelled and not counted."""
    found = next((c for c in system.capabilities if c.name == COUNTERS), None)
    if found is not None and found.available:
        text = (
            f"The machine has hardware counters ({found.detail}), which this run did not read: "
            f"miss rates are modelled."
        )
        return Verdict(level="note", text=text)
    why = found.detail if found is not None else "the system does not report any"
    return Verdict(
        level="note",
        text=f"No hardware counters on this machine ({why}): miss rates are modelled, not counted.",
        remedy=found.remedy if found is not None else None,
    )
