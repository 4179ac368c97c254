"""The share of the theoretical peak that was reached, and what was published of such machines."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.latency.figures import memory_latency
from memgauge.analysis.section import AnswerFigure, AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.figures import beside, headline, kernel_results
from memgauge.model.memory_hardware import peak_origin
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.references.machine_ranges import PublishedRange, ranges_of

READ = "read"


def published_lines(figures: Figures) -> Iterator[AnswerLine]:
    """The share of the peak, or of a claim, then each published range; nothing where none is."""
    system = figures.run.start.system
    peak = system.theoretical_bandwidth_bytes_per_s
    shares = _shares(figures, peak) if peak else {}
    if shares and peak:
        yield AnswerLine(
            label="Of the peak",
            figures=[
                AnswerFigure(name=kernel, value=share, unit="%", digits=0)
                for kernel, share in shares.items()
            ],
            detail=f"{peak * 1e-9:.1f} GB/s {peak_origin(system)}",
        )
    if not peak:
        yield from _of_the_claim(figures)
    label = "Published"
    for one in ranges_of(system):
        detail = _detail(one, shares.get(READ), memory_latency(figures) is not None)
        if detail is not None:
            yield AnswerLine(label=label, figures=[], detail=detail)
            label = ""


def _of_the_claim(figures: Figures) -> Iterator[AnswerLine]:
    """What reads reach of the bandwidth that the firmware claims of them; it is no peak."""
    claimed = claimed_reads_bytes_per_s(figures.run.start.system)
    share = _shares(figures, claimed).get(READ) if claimed else None
    if share is not None and claimed:
        yield AnswerLine(
            label="Of the claim",
            figures=[AnswerFigure(name=READ, value=share, unit="%", digits=0)],
            detail=f"{claimed * 1e-9:.1f} GB/s of reads, claimed by the firmware (ACPI HMAT)",
        )


def claimed_reads_bytes_per_s(system: System) -> float | None:
    """What the firmware claims of reads of all nodes with CPUs, each by its own CPUs, together.

    None where a node lacks a claim, and in a virtual machine, whose firmware tables are invented.
    """
    if "virtual machine" in (system.virtualisation or "") or not system.tiers:
        return None
    claims = {
        tier.nodes[0]: tier.firmware.read_bytes_per_s
        for tier in system.tiers
        if len(tier.nodes) == 1 and tier.firmware and tier.nodes[0] in tier.firmware.from_nodes
    }
    found = [claims.get(node) for node in system.tiers[0].nodes]
    known = [claim for claim in found if claim is not None]
    return sum(known) if known and len(known) == len(found) else None


def _shares(figures: Figures, whole_bytes_per_s: float) -> dict[str, Estimate]:
    """Of tuned kernels of all threads, by the bytes that STREAM counts."""
    results = [one for one in kernel_results(figures) if not gpu_of(one.point)]
    lead = headline(results)
    if lead is None:
        return {}
    alike = beside(lead, results)
    shares = {
        kernel: scaled(alike[kernel].sustained, 1e9 / whole_bytes_per_s)
        for kernel in ("triad", READ)
        if kernel in alike
    }
    return {kernel: share for kernel, share in shares.items() if share is not None}


def _detail(one: PublishedRange, read: Estimate | None, has_latency: bool) -> str | None:
    """What was published, where this run has a figure to set beside it."""
    kind = "guests" if one.where == "guest" else "machines"
    of = f"{format_count(one.models, 'model')} of {one.family}, {kind}, {', '.join(one.tools)}"
    if one.figure == "latency_ns":
        return f"DRAM {one.low:.0f} to {one.high:.0f} ns ({of})" if has_latency else None
    if read is None:
        return None
    return f"read {one.low:.0%} to {one.high:.0%} of the peak ({of})"
