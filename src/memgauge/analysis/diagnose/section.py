"""The section of a diagnosis: verdicts, what each treatment did, and the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.diagnose.by_region.judged import (
    RegionDiagnosis,
    region_diagnoses,
    region_verdicts,
    regions_table,
)
from memgauge.analysis.diagnose.by_region.traffic import RegionTraffic, not_by_region
from memgauge.analysis.diagnose.by_region.traffic_section import (
    region_traffic_table,
    region_traffic_verdicts,
)
from memgauge.analysis.diagnose.charts import gain_charts, slowdown_charts, treatment_words
from memgauge.analysis.diagnose.contradictions import contradiction_verdicts, contradictions
from memgauge.analysis.diagnose.curve_section import curve_charts
from memgauge.analysis.diagnose.figures import Diagnosis, Treated, diagnosis_of
from memgauge.analysis.diagnose.kernel import kernel_table, kernel_use, kernel_verdicts
from memgauge.analysis.diagnose.standing import standing_of, standing_verdicts
from memgauge.analysis.diagnose.traffic_section import functions_table
from memgauge.analysis.diagnose.translation_evidence import translation_table
from memgauge.analysis.diagnose.verdicts import verdicts
from memgauge.analysis.diagnose.working_set import working_set
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.section import Column, Section, Table, section_of
from memgauge.model.points.diagnose import REFERENCES


def analyse(figures: Figures) -> Section:
    """All that a diagnosis found."""
    found = diagnosis_of(figures)
    if found is None:
        return section_of("diagnose")
    pressures, variants = found.pressures, found.variants
    use, functions = kernel_use(figures), functions_table(found.simulated)
    regions, pages = region_diagnoses(figures), working_set(figures)
    by_region, by_pages = regions_table(regions), translation_table(found)
    moved = {one.name: one.traffic for one in regions if one.traffic}
    on_curve = {one.name: one.on_curve for one in regions if one.on_curve}
    by_traffic = region_traffic_table(_ways(regions), on_curve)
    placed = [(name, moved[name], place) for name, place in on_curve.items()]
    return section_of(
        "diagnose",
        verdicts=[
            *verdicts(found),
            *standing_verdicts(standing_of(figures)),
            *region_verdicts(regions),
            *region_traffic_verdicts(moved, on_curve, not_by_region(figures)),
            *contradiction_verdicts(contradictions(found, pages)),
            *(kernel_verdicts(use) if use else ()),
        ],
        tables=[
            *([_pressure_table(found, pressures)] if pressures else []),
            *([by_region] if by_region else []),
            *([by_traffic] if by_traffic else []),
            *([_variant_table(found, variants)] if variants else []),
            *([by_pages] if by_pages else []),
            *([functions] if functions else []),
            *([kernel_table(use, pages)] if use else []),
            *([_not_tried_table(found.not_tried)] if found.not_tried else []),
        ],
        charts=[
            *slowdown_charts(found),
            *curve_charts(found, figures.run.curves, placed),
            *gain_charts(variants),
        ],
    )


def _ways(regions: Sequence[RegionDiagnosis]) -> list[tuple[str, RegionTraffic]]:
    """Traffic by name: of a region that was counted and simulated, both."""
    return [
        (one.name, traffic)
        for one in regions
        for traffic in (one.traffic, one.simulated if one.simulated is not one.traffic else None)
        if traffic is not None
    ]


def _pressure_table(found: Diagnosis, pressures: list[Treated]) -> Table:
    has_regimes = len({one.regime for one in pressures}) > 1
    return Table(
        name="diagnose-pressure",
        title="Time under pressure, over that beside arithmetic",
        columns=[
            Column(title="pressure"),
            *([Column(title="cores")] if has_regimes else []),
            Column(title="rounds", digits=0),
            Column(title="program", digits=2),
            Column(title="latency", digits=2),
            Column(title="scattered", digits=2, narrow=False),
            Column(title="bandwidth", digits=2),
            Column(title="cached", digits=2, narrow=False),
            Column(title="latency added", unit="ns", narrow=False),
            Column(title="bandwidth left", unit="GB/s", narrow=False),
            Column(title="cache left", unit="B", narrow=False),
        ],
        rows=[
            [
                treatment_words(one.name, one.step_of, one.part),
                *([one.regime] if has_regimes else []),
                one.rounds,
                one.program,
                *(one.references.get(name) for name in REFERENCES),
                one.axes.latency_added_ns,
                one.axes.bandwidth_gb_per_s,
                scaled(one.axes.cache_kept, found.cached_bytes) if found.cached_bytes else None,
            ]
            for one in pressures
        ],
        note="Median of rounds with its 95% interval, each of one round and one distance of cores. "
        "Latency, scattered, bandwidth, cached: reference loops on the program's CPU that wait for "
        "memory, page by page and anywhere in it, stream through it, and live in half of the "
        "last-level cache; cache left: what the last of them finds in the cache. Pressure that has "
        "decided the verdict gets no more rounds." + _metric_note(found),
    )


def _metric_note(found: Diagnosis) -> str:
    """What time is, where it is not that of the program's run."""
    if found.process is not None:
        what = "what the metric command prints"
    elif found.metric:
        what = f"what the program prints ({found.metric})"
    elif found.region:
        what = f"that inside region {found.region}, in at least one thread"
    else:
        return ""
    return f" Time: {'1 over ' if found.is_rate else ''}{what}."


def _variant_table(found: Diagnosis, variants: list[Treated]) -> Table:
    seen = [found.memory.get(one.name) for one in variants]
    has_memory = any(seen)
    has_nodes = any(one.nodes for one in seen if one)
    return Table(
        name="diagnose-variants",
        title="Other ways to run it, over the usual one",
        columns=[
            Column(title="variant"),
            Column(title="rounds", digits=0),
            Column(title="time", digits=3),
            *([Column(title="huge pages")] if has_memory else []),
            *([Column(title="memory on")] if has_nodes else []),
            Column(title="what is different", narrow=False),
        ],
        rows=[
            [
                one.name,
                one.rounds,
                one.program,
                *([memory.huge_words if memory else None] if has_memory else []),
                *([memory.node_words or None if memory else None] if has_nodes else []),
                one.change or None,
            ]
            for one, memory in zip(variants, seen, strict=True)
        ],
        note="Median of paired rounds with its 95% interval; below 1 is faster. As it is again: "
        "the usual way twice, to show what is noise. A decided variant gets no more rounds."
        + (
            " Memory: that without a file of the program's largest process, as the kernel showed "
            "it in some rounds while the program ran."
            if has_memory
            else ""
        ),
    )


def _not_tried_table(not_tried: list[tuple[str, str]]) -> Table:
    return Table(
        name="diagnose-not-tried",
        title="Not tried",
        columns=[Column(title="what"), Column(title="why")],
        rows=[[name, reason] for name, reason in not_tried],
    )
