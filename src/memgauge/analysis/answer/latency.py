"""Latency of memory and of each cache, idle and beside traffic; nodes far and near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.answer.statistics import MEDIANS, median_words
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.latency.figures import (
    LatencyResult,
    fastest,
    fastest_by_level,
    latency_results,
)
from memgauge.analysis.loaded.figures import LoadedCurve, loaded_curves
from memgauge.analysis.loaded.verdicts import main_curves
from memgauge.analysis.pages.figures import Translation, curves_of, translations_of
from memgauge.analysis.section import AnswerFigure, AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.workingset.claims import Finding
from memgauge.analysis.workingset.section import find
from memgauge.model.units import format_bytes, format_count

BASE_PAGES = "4k"


def latency_line(figures: Figures) -> Iterator[AnswerLine]:
    """Of the nearest memory: in blocks, which spares the TLB; over all pages; on base pages."""
    results, local = _in_memory(figures)
    lead = idle_latency(figures)
    if lead is None:
        return
    others = [one for one in local if one.requested.order == "random" and one is not lead]
    spread = fastest([one for one in others if one.pages == lead.pages])
    base = fastest([one for one in others if one.pages == BASE_PAGES != lead.pages])
    found = [("DRAM", lead), ("random over all pages", spread), (f"on {BASE_PAGES} pages", base)]
    medians = median_words(one.summary.statistic for _, one in found if one is not None)
    yield AnswerLine(
        label="Latency",
        figures=[nanoseconds(name, one.latency) for name, one in found if one is not None],
        detail=", ".join(filter(None, ("idle", f"{lead.pages} pages", medians))),
    )
    yield from _nodes(results)


def idle_latency(figures: Figures) -> LatencyResult | None:
    """Of the host's nearest memory, in blocks if it was measured so; None: it was not measured."""
    _, local = _in_memory(figures)
    in_blocks = [one for one in local if one.requested.order == "block-random"]
    return fastest(in_blocks or local)


def _in_memory(figures: Figures) -> tuple[list[LatencyResult], list[LatencyResult]]:
    """All results in the host's memory, and those of them that are on the node of their CPU."""
    results = [one for one in latency_results(figures) if one.in_memory and not one.gpu]
    return results, [one for one in results if not _is_remote(one)] or results


def _is_remote(one: LatencyResult) -> bool:
    here, there = one.requested.cpu_node, one.requested.memory_node
    return here is not None and there is not None and here != there


def _nodes(results: Sequence[LatencyResult]) -> Iterator[AnswerLine]:
    """The nearest and the farthest pair of nodes, by the same order and pages."""
    pairs = [one for one in results if one.nodes]
    if not any(map(_is_remote, pairs)):
        return
    order, pages = pairs[0].requested.order, pairs[0].pages
    alike = [one for one in pairs if (one.requested.order, one.pages) == (order, pages)]
    near = min(alike, key=lambda one: one.latency.value)
    far = max(alike, key=lambda one: one.latency.value)
    yield AnswerLine(
        label="Nodes",
        figures=[nanoseconds(f"node {one.nodes}", one.latency) for one in (near, far)],
        detail=f"the nearest and the farthest of {len({one.nodes for one in alike})} pairs",
    )


def loaded_line(figures: Figures) -> Iterator[AnswerLine]:
    """Latency where the main load moves most, and where it begins to rise."""
    curves = main_curves(loaded_curves(figures))
    if not curves:
        return
    curve, most = curves[0], curves[0].saturated
    yield AnswerLine(
        label="Loaded",
        figures=[
            nanoseconds("", most.latency),
            AnswerFigure(name="at", value=most.bandwidth, unit="GB/s"),
        ],
        detail=f"{knee_words(curve)}; {curve.load}, "
        f"{format_count(curve.generators, 'generator')}, {MEDIANS}",
    )


def knee_words(curve: LoadedCurve) -> str:
    """The knee of a curve, or why none is given, in a few words."""
    knee = curve.knee
    if knee.bandwidth is not None and curve.at_knee is not None:
        return f"knee at {knee.bandwidth.value:.1f} GB/s"
    return {
        "unresolved": "knee not resolved between the bandwidths met",
        "uneven": "knee cannot be told: latency rises and falls",
        "none": "no knee: not saturated, or rising evenly",
        "unclear": "knee cannot be told within the noise",
    }.get(knee.status, "knee cannot be told: too few delays")


def caches_line(figures: Figures) -> Iterator[AnswerLine]:
    """Size and latency of each cache, as found; a size that was not found is the topology's."""
    results = [one for one in latency_results(figures) if not one.gpu]
    latencies = fastest_by_level(results)
    findings = [one for one in find(figures) if one.name.startswith("L")]
    named = {one.name: _sized(one) for one in findings}
    shown = [
        nanoseconds(named.get(level, level), latencies[level])
        for level in sorted(latencies)
        if level.startswith("L")
    ]
    seen = [one for one in findings if one.level is not None]
    shown += [
        nanoseconds(named[one.name], one.level.latency_ns)
        for one in seen
        if one.name not in latencies and one.level is not None
    ]
    if shown:
        differ = [one.name for one in findings if one.status in {"smaller", "larger"}]
        wrong = f"{' and '.join(differ)}: not as the topology claims" if differ else ""
        medians = median_words(
            one.summary.statistic
            for one in results
            if not one.in_memory and latencies[one.requested.level] is one.latency
        )
        yield AnswerLine(
            label="Caches", figures=shown, detail="; ".join(filter(None, (medians, wrong)))
        )


def _sized(finding: Finding) -> str:
    level = finding.level
    if level is not None and level.capacity_bytes:
        claimed = finding.claimed_bytes if finding.status == "agrees" else None
        return f"{finding.name} {format_bytes(claimed or level.capacity_bytes)}"
    if finding.claimed_bytes:
        return f"{finding.name} ({format_bytes(finding.claimed_bytes)} claimed)"
    return finding.name


def tlb_line(figures: Figures) -> Iterator[AnswerLine]:
    """How far each level of the TLB reaches, of the smallest pages that were measured."""
    found = [one for one in translations_of(curves_of(figures)) if one.levels]
    whole = [one for one in found if one.curve.has_own_pages]
    lead = min(whole, key=lambda one: one.curve.page_bytes, default=None)
    if lead is None:
        return
    reaches = "; ".join(_reaches(lead))
    yield AnswerLine(label="TLB", figures=[], detail=f"{reaches} ({lead.curve.pages} pages)")


def _reaches(one: Translation) -> Iterator[str]:
    for reach in one.reaches:
        at_least = "" if reach.level.beyond else "at least "
        miss = f", a miss {reach.miss.value:.1f} ns" if reach.miss is not None else ""
        yield f"{reach.name} {at_least}{format_count(reach.level.reach, 'page')}{miss}"


def nanoseconds(name: str, value: Estimate | float) -> AnswerFigure:
    """A latency, with the digits that it deserves."""
    number = value.value if isinstance(value, Estimate) else value
    digits = 2 if number < 10 else 1 if number < 100 else 0
    return AnswerFigure(name=name, value=value, unit="ns", digits=digits)
