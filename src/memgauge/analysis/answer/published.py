"""The share of the theoretical peak that was reached, and what was published of such machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.answer.latency import idle_latency
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.latency.figures import LatencyResult, conditions
from memgauge.analysis.section import AnswerFigure, AnswerLine, Standing
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
    yield from _published(ranges_of(system), shares.get(READ), idle_latency(figures))


def _published(
    ranges: Sequence[PublishedRange], read: Estimate | None, idle: LatencyResult | None
) -> Iterator[AnswerLine]:
    """A line for each range that this run has a figure to set beside."""
    values = {
        "latency_ns": None if idle is None else idle.latency,
        "read_peak_share": read,
    }
    label = "Published"
    for one in ranges:
        value = values[one.figure]
        if value is not None:
            alike = [other for other in ranges if other.figure == one.figure]
            standing = _standing(one, alike, value, "" if idle is None else conditions(idle))
            yield AnswerLine(label=label, figures=[], detail=_detail(one), standing=standing)
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


def _detail(one: PublishedRange) -> str:
    """What was published."""
    of = f"{format_count(one.models, 'model')} of {one.family}, {_KINDS[one.where]}, {_tools(one)}"
    if one.figure == "latency_ns":
        return f"DRAM {one.low:.0f} to {one.high:.0f} ns ({of})"
    return f"read {one.low:.0%} to {one.high:.0%} of the peak ({of})"


def _standing(
    one: PublishedRange, alike: Sequence[PublishedRange], value: Estimate, walk: str
) -> Standing:
    """As a picture; those of one kind of figure reach over the same."""
    latency = one.figure == "latency_ns"
    of = f"{format_count(one.models, 'model')} of {one.family}, {_KINDS[one.where]}"
    repositories = f"{', '.join(one.sources)}; licences: {', '.join(one.licences)}"
    return Standing(
        title=f"idle latency ({walk})" if latency else f"read, share of the peak ({_tools(one)})",
        value=value,
        low=one.low,
        high=one.high,
        unit="ns" if latency else "%",
        start=min(value.low, *(other.low for other in alike)),
        end=max(value.high, *(other.high for other in alike)),
        source=f"{format_count(one.figures, 'figure')} of {of}, by {_tools(one)}: {repositories}",
    )


_KINDS = {"guest": "guests", "machine": "machines"}


def _tools(one: PublishedRange) -> str:
    return ", ".join(one.tools)
