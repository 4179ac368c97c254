"""What the latencies of a host or a GPU mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memgauge.analysis.figures.gpu_points import GPU_MEMORY, gpu_name
from memgauge.analysis.latency.figures import (
    MEMORY,
    LatencyResult,
    fastest,
    fastest_by_level,
    level_name,
)
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio

LOST_SHARE = 0.5
"""Of memory's latency, above which a cache level does not do its work."""

GPU_LEVELS = ("L1", "L2", MEMORY)
GPU_LOST_SHARE = 0.85
"""Of the latency of the level behind, on a GPU. An L2 takes half as long as the memory, or more,
where half of it is behind another partition."""


def host_verdicts(results: Sequence[LatencyResult]) -> list[Verdict]:
    """What a load takes, which caches do not do their work, and what base pages cost."""
    if not results:
        return [Verdict(level="warning", text="No latency was measured.")]
    in_memory = [result for result in results if result.in_memory]
    best = fastest(in_memory)
    if best is None:
        return []
    text = (
        f"A load from memory takes {best.latency.value:.1f} ns ({best.order}, {best.pages} pages)."
    )
    return [
        Verdict(level="good", text=text),
        *_lost_on_host(fastest_by_level(results)),
        *_base_pages(in_memory),
    ]


def gpu_verdicts(results: Sequence[LatencyResult]) -> list[Verdict]:
    """What a load takes, which caches do not do their work, and what translation costs."""
    found = fastest_by_level(results)
    by_level = {level: found[level] for level in GPU_LEVELS if level in found}
    if not by_level:
        return [Verdict(level="warning", text="No latency of the GPU's memory was measured.")]
    (farthest, latency), *nearer = reversed(by_level.items())
    name = gpu_name(result.point for result in results)
    text = f"A load from {level_name(farthest)} of {name} takes {latency.value:.1f} ns"
    text += "".join(f", from its {level} {one.value:.1f} ns" for level, one in nearer)
    return [
        Verdict(level="good", text=f"{text}."),
        *_lost_on_gpu(by_level),
        *_translation(results),
    ]


def _lost_on_host(by_level: dict[str, Estimate]) -> Iterator[Verdict]:
    """Cache levels that read like memory: their lines are gone before they are read again."""
    memory = by_level[MEMORY]
    for level, latency in by_level.items():
        if level != MEMORY and latency.value > LOST_SHARE * memory.value:
            why = "most of its lines are evicted before they are read again"
            remedy = "run again when neighbours are quiet; compare the levels of workingset"
            yield _lost(level, latency, ("memory", memory), why, remedy)


def _lost_on_gpu(by_level: dict[str, Estimate]) -> Iterator[Verdict]:
    """Caches that read like what is behind them."""
    for level, behind in pairwise(by_level):
        if by_level[level].value > GPU_LOST_SHARE * by_level[behind].value:
            why = "most of its lines are not there when they are read"
            remedy = "see that nothing else uses the GPU; compare the levels of workingset"
            beside = (level_name(behind), by_level[behind])
            yield _lost(level, by_level[level], beside, why, remedy)


def _lost(
    level: str, latency: Estimate, behind: tuple[str, Estimate], why: str, remedy: str
) -> Verdict:
    name, beside = behind
    return Verdict(
        level="warning",
        text=f"Loads from {level} take {latency.value:.1f} ns, "
        f"{latency.value / beside.value:.0%} of those from {name}: {why}.",
        remedy=remedy,
    )


def _base_pages(in_memory: Sequence[LatencyResult]) -> Iterator[Verdict]:
    """What base pages cost in fully random order, of the first pair of nodes where they do."""
    by_pages: dict[tuple[str, int | None], dict[str, Estimate]] = {}
    for result in in_memory:
        if result.requested.order == "random":
            key = (result.nodes, result.requested.footprint_bytes)
            by_pages.setdefault(key, {})[result.pages] = result.latency
    for pages in by_pages.values():
        huge = next((pages[name] for name in ("thp", "2m", "1g") if name in pages), None)
        base = next((pages[name] for name in pages if name.endswith("k")), None)
        cost = ratio(base, huge)
        if cost is not None and cost.low > 1:
            text = f"Base pages make random loads from memory {cost.value:.2f} times as slow."
            yield Verdict(level="note", text=text, remedy="use huge pages for large data")
            return


def _translation(results: Sequence[LatencyResult]) -> Iterator[Verdict]:
    """What fully random order costs over blocks of one page each."""
    by_order = {result.requested.order: result.latency for result in results if result.in_memory}
    cost = ratio(by_order.get("random"), by_order.get("block-random"))
    if cost is not None and cost.low > 1:
        yield Verdict(
            level="note",
            text=f"In fully random order a load from {GPU_MEMORY} takes {cost.value:.2f} times as "
            "long as within blocks of 2 MiB, because its address must be translated too.",
        )
