"""What the `stream` points in a GPU's memory say: bandwidth by kernel and variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.counters import beside as hardware_beside
from memgauge.analysis.counters import summary as hardware_summary
from memgauge.analysis.counters import tables as hardware_report
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of, gpu_peak_gb_per_s
from memgauge.analysis.figures.run import Figures, number_fact, scaled
from memgauge.analysis.section import Chart, Rule, Section, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream import gpu_tables as stream_gpu_tables
from memgauge.analysis.stream.charts import kernel_bars
from memgauge.analysis.stream.figures import (
    STANDARD,
    TUNED,
    KernelResult,
    best,
    by_key,
    stream_cells,
)
from memgauge.model.units import format_bytes, format_count

QUESTION = "How many bytes a second do simple loops over large arrays move in a GPU's memory?"
JUDGED = "triad"
SHORT_WALK_S = 200e-6
"""Of less, launching a kernel and draining its last blocks, some microseconds, are percents."""


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of the bandwidth of a GPU's memory."""
    found = stream_cells(figures)
    main = [cell for cell in found if cell.is_plain]
    peak = gpu_peak_gb_per_s(figures.run.points_of("stream"))
    counted = [hardware_bandwidth(counts) for counts in counts_of(figures)]
    tables = [
        stream_gpu_tables.comparison(main, peak),
        *hardware_report.tables(counted),
        *hardware_beside.tables(figures),
        stream_gpu_tables.details(main, peak),
        stream_gpu_tables.search(found),
    ]
    charts = [_kernels(main, peak), *hardware_report.charts(counted)]
    return Section(
        name="stream",
        title="Bandwidth of the GPU's memory",
        question=QUESTION,
        verdicts=[*_verdicts(main, found, peak), *hardware_summary.verdicts(counted)],
        tables=[table for table in tables if table],
        charts=[chart for chart in charts if chart],
    )


def _verdicts(
    main: Sequence[KernelResult], found: Sequence[KernelResult], peak: float | None
) -> Iterator[Verdict]:
    top = best(found)
    if top is None or top.sustained is None:
        yield Verdict(level="warning", text="No bandwidth of the GPU's memory was measured.")
        return
    yield Verdict(
        level="good",
        text=f"Memory of {gpu_name([top.point])} ({gpu_of(top.point)}) delivers up to "
        f"{top.sustained.value:.1f} GB/s ({', '.join(filter(None, (top.title, top.candidate)))}).",
    )
    yield from _share(top, main, peak)
    yield from _gain(main)
    yield from _found(found)
    yield from _sizes(main)


def _share(
    top: KernelResult, main: Sequence[KernelResult], peak: float | None
) -> Iterator[Verdict]:
    """Of the theoretical bandwidth; of triad too, by which STREAM is judged."""
    if peak is None:
        why = (
            "a MIG instance has part of the bus"
            if top.point.actual.get("mig") is True
            else "the driver does not report the memory's clock and bus width"
        )
        yield Verdict(level="note", text=f"The theoretical bandwidth is not known: {why}.")
        return
    known = f"the theoretical {peak:.1f} GB/s{_origin(top)}"
    share = scaled(top.sustained, 1 / peak)
    if share is not None and share.value > 1:
        yield Verdict(
            level="problem",
            text=f"The best bandwidth is {share.value:.1%} of {known}. More than all is "
            "impossible: the arrays were cached, or the driver reports a wrong clock.",
        )
        return
    judged = best(cell for cell in main if cell.kernel == JUDGED)
    others = [] if judged is None or top.kernel == JUDGED else [judged]
    said = [
        f"{cell.kernel} reaches {_percent(scaled(cell.sustained, 1 / peak))}"
        for cell in (top, *others)
    ]
    text = ", ".join(said)
    yield Verdict(level="note", text=f"{text[:1].upper()}{text[1:]} of {known}.")


def _origin(cell: KernelResult) -> str:
    """How the driver's figures make the theoretical bandwidth."""
    clock = number_fact(cell.point.actual, "memory_clock_khz")
    bits = number_fact(cell.point.actual, "bus_bits")
    if not clock or not bits:
        return ""
    return f" (two transfers a clock, {clock / 1e3:.0f} MHz, {bits} bits)"


def _percent(share: Estimate | None) -> str:
    if share is None:
        return "an unknown part"
    if not has_interval(share):
        return f"{share.value:.1%}"
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"


def _gain(main: Sequence[KernelResult]) -> Iterator[Verdict]:
    """What tuning gives triad, else the first kernel that has both variants."""
    gains = []
    for (kernel, *_), variants in by_key(main).items():
        if STANDARD in variants and TUNED in variants:
            gain = ratio(variants[TUNED].sustained, variants[STANDARD].sustained)
            if gain is not None and has_interval(gain):
                gains.append((kernel, gain))
    if not gains:
        return
    kernel, gain = next((one for one in gains if one[0] == JUDGED), gains[0])
    if gain.low > 1:
        text = f"Tuned {kernel} is {gain.value:.3f} times standard"
    elif gain.high < 1:
        text = f"Tuned {kernel} is slower than standard: {gain.value:.3f} times"
    else:
        text = f"Tuned {kernel} is as fast as standard, within the intervals"
    yield Verdict(level="note", text=f"{text}.")


def _found(found: Sequence[KernelResult]) -> Iterator[Verdict]:
    """Whether a search found more of triad, else of the first kernel, than its tuned variant."""
    searched = [cell.kernel for cell in found if cell.candidate]
    if not searched:
        return
    kernel = JUDGED if JUDGED in searched else searched[0]
    own = best(cell for cell in found if cell.kernel == kernel and _is_tuned(cell))
    winner = best(cell for cell in found if cell.kernel == kernel and cell.candidate)
    if own is None or winner is None:
        return
    gain = ratio(winner.sustained, own.sustained)
    if gain is None or not has_interval(gain):
        return
    if gain.low > 1:
        text = f"The search found {kernel} {gain.value:.3f} times as fast as tuned: "
        text += winner.candidate
    else:
        variants = format_count(searched.count(kernel), "variant")
        text = f"Of {variants} the search found none faster than tuned {kernel}, beyond the "
        text += "intervals"
    yield Verdict(level="note", text=f"{text}.")


def _is_tuned(cell: KernelResult) -> bool:
    return cell.variant == TUNED and cell.is_plain


def _sizes(main: Sequence[KernelResult]) -> Iterator[Verdict]:
    """Arrays that a cache holds, or that are walked in no time."""
    remedy = "leave --array-bytes out, or give more"
    if any(cell.point.actual.get("stream_conformant") is False for cell in main):
        yield Verdict(
            level="warning",
            text="The arrays are smaller than the STREAM rule asks (4 times the second-level cache "
            "and a million elements), or that cache is not known: not STREAM-conformant.",
            remedy=remedy,
        )
    walks = [
        (cell.point.bytes_counted / (cell.sustained.value * 1e9), cell)
        for cell in main
        if cell.sustained is not None and cell.sustained.value > 0 and cell.point.bytes_counted
    ]
    if walks and min(walks, key=lambda walk: walk[0])[0] < SHORT_WALK_S:
        seconds, cell = min(walks, key=lambda walk: walk[0])
        size = number_fact(cell.point.actual, "array_bytes") or 0
        yield Verdict(
            level="warning",
            text=f"A walk over arrays of {format_bytes(size)} takes {seconds * 1e6:.0f} us "
            f"({cell.kernel}), of which launching a kernel is a part: that is in the figures.",
            remedy=f"{remedy}: 1 GiB each where the GPU has room",
        )


def _kernels(cells: Sequence[KernelResult], peak: float | None) -> Chart | None:
    """Standard beside tuned, and what the memory could do in theory."""
    shown = [cell for cell in cells if cell.sustained]
    if not shown:
        return None
    return kernel_bars(
        f"Kernels on {gpu_name([shown[0].point])}",
        [(cell.variant, cell) for cell in shown],
        [Rule(label="theoretical peak", axis="y", value=peak)] if peak else [],
    )
