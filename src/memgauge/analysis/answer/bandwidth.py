"""Bandwidth of all cores and of one, and what more threads bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.answer.statistics import median_words
from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.scaling import Scaling
from memgauge.analysis.section import AnswerFigure, AnswerLine
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream import scaling
from memgauge.analysis.stream.figures import (
    TUNED,
    KernelResult,
    beside,
    headline,
    kernel_results,
    regime_words,
)
from memgauge.model.points.stream import StreamRequested
from memgauge.model.units import format_count

KERNELS = ("triad", "copy", "read", "write")
"""In the order of the line; of a run without any of these, the kernel that stands for it."""


def bandwidth_lines(figures: Figures) -> Iterator[AnswerLine]:
    """A line for each regime of all threads, the usual one first, and one for a single thread.

    A line for each memory: the host's, then that of each GPU.
    """
    by_memory: dict[str, list[KernelResult]] = {}
    for result in kernel_results(figures):
        by_memory.setdefault(gpu_of(result.point), []).append(result)
    for gpu in sorted(by_memory):
        results = by_memory[gpu]
        lead = headline(_tuned(results)) or headline(results)
        if lead is None or lead.sustained is None:
            continue
        label = f"Bandwidth {gpu}".rstrip()
        for one in _regimes(lead, results):
            yield _line(figures, label, one, results)
            label = ""
        single = [r for r in results if r.threads == 1 < lead.threads and r.is_like(lead)]
        if single:
            yield _line(figures, "", headline(single) or single[0], results)


def _tuned(results: Sequence[KernelResult]) -> list[KernelResult]:
    """Tuned kernels of the largest team, whichever of them have figures; none where none has."""
    known = [one for one in results if one.sustained is not None and one.is_plain]
    most = max((one.threads for one in known), default=0)
    return [one for one in known if one.threads == most and one.variant == TUNED]


def scaling_line(figures: Figures) -> Iterator[AnswerLine]:
    """What all threads reach over one, and how many are enough."""
    results = [result for result in kernel_results(figures) if not gpu_of(result.point)]
    found = scaling.judged(scaling.lines(results, figures.run.start.system))
    if found is None:
        return
    scaled, one = found.scaling, next((t for t in found.teams if t.threads == 1), None)
    gain = None if one is None else ratio(scaled.best.bandwidth, one.bandwidth)
    name = f"{format_count(scaled.best.threads, 'thread')} over one"
    figure = AnswerFigure(name=name, value=gain, unit="times", digits=2)
    yield AnswerLine(
        label="Scaling",
        figures=[figure] if gain is not None and scaled.best.threads > 1 else [],
        detail=f"use {_enough(scaled)}: within 5% of the most ({found.name})",
    )


def _enough(scaled: Scaling) -> str:
    low, high = scaled.enough_low, scaled.enough_high
    return format_count(low, "thread") if low == high else f"{low} to {high} threads"


def _regimes(lead: KernelResult, results: Sequence[KernelResult]) -> list[KernelResult]:
    """The result that leads, in every regime in which it was seen, the usual one first."""
    same = [one for one in results if one.point == lead.point and one.sustained is not None]
    return sorted(same, key=lambda one: -one.samples)


def _line(
    figures: Figures, label: str, lead: KernelResult, results: Sequence[KernelResult]
) -> AnswerLine:
    """The same kernels in every run: a dash where no sample of one was usable."""
    alike = beside(lead, results)
    sampled = _sampled_kernels(figures, lead)
    shown = [kernel for kernel in KERNELS if kernel in sampled] or [lead.kernel]
    known = {kernel: alike[kernel] for kernel in shown if kernel in alike}
    values = {kernel: one.sustained for kernel, one in known.items()}
    statistics = [one.slice.statistic for one in known.values() if one.slice is not None]
    words = (_by(lead), lead.variant, regime_words(lead, results), median_words(statistics))
    return AnswerLine(
        label=label,
        figures=[
            AnswerFigure(name=kernel, value=values.get(kernel), unit="GB/s") for kernel in shown
        ],
        detail=", ".join(filter(None, words)),
    )


def _sampled_kernels(figures: Figures, lead: KernelResult) -> set[str]:
    """Of the team and variant, whether or not a figure came of it."""
    team = [
        StreamRequested.of(point.requested)
        for point in figures.run.points_of("stream")
        if point.threads == lead.threads and gpu_of(point) == gpu_of(lead.point)
    ]
    return {
        one.kernel
        for one in team
        if (one.variant, one.element) == (lead.variant, lead.element)
        and not (one.candidate or one.access or one.store or one.prefetch)
    }


def _by(result: KernelResult) -> str:
    return gpu_name([result.point]) or format_count(result.threads, "thread")
