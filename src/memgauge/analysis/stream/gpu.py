"""What the `stream` points in a GPU's memory show: bandwidth by kernel and variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.counters import beside as hardware_beside
from memgauge.analysis.counters import summary as hardware_summary
from memgauge.analysis.counters import tables as hardware_report
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of, gpu_peak_gb_per_s
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Chart, Rule, Section, Verdict, section_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.stream import tables as stream_tables
from memgauge.analysis.stream.charts import kernel_bars
from memgauge.analysis.stream.figures import KernelResult, best, kernel_results, searches
from memgauge.analysis.stream.tuning import JUDGED, tuning_verdicts
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.units import format_bytes, format_count

QUESTION = "How many bytes a second do simple loops over large arrays move in a GPU's memory?"
SHORT_WALK_S = 200e-6
"""Of less, launching a kernel and draining its last blocks, some microseconds, are percents."""


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of the bandwidth of a GPU's memory."""
    found = kernel_results(figures)
    main = [result for result in found if result.is_plain]
    peak = gpu_peak_gb_per_s(figures.run.points_of("stream"))
    counted = [hardware_bandwidth(counts) for counts in counts_of(figures)]
    tables = [
        stream_tables.gpu_comparison(main, peak),
        *hardware_report.tables(counted),
        *hardware_beside.tables(figures),
        stream_tables.gpu_details(main, peak),
        stream_tables.gpu_search(found),
    ]
    charts = [_kernels(main, peak), *hardware_report.charts(counted)]
    return section_of(
        "stream",
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
    yield from tuning_verdicts(main, 3)
    yield from _found(found)
    yield from _sizes(main)


def _share(
    top: KernelResult, main: Sequence[KernelResult], peak: float | None
) -> Iterator[Verdict]:
    """Of the theoretical bandwidth; of triad too, by which STREAM is judged."""
    if peak is None:
        why = (
            "a MIG instance has part of the bus"
            if GpuDevice.of(top.point.actual).mig
            else "the driver does not report the memory's clock and bus width"
        )
        yield Verdict(level="note", text=f"The theoretical bandwidth is not known: {why}.")
        return
    known = f"the theoretical {peak:.1f} GB/s{_origin(top)}"
    share = stream_tables.of_peak(top, peak)
    if share is not None and share.value > 1:
        yield Verdict(
            level="problem",
            text=f"The best bandwidth is {share.value:.1%} of {known}. More than 100% is "
            "impossible: the arrays were cached, or the driver reports a wrong clock.",
        )
        return
    judged = best(result for result in main if result.kernel == JUDGED)
    others = [] if judged is None or top.kernel == JUDGED else [judged]
    reached = [
        f"{result.kernel} reaches {_percent(stream_tables.of_peak(result, peak))}"
        for result in (top, *others)
    ]
    text = ", ".join(reached)
    yield Verdict(level="note", text=f"{text[:1].upper()}{text[1:]} of {known}.")


def _origin(result: KernelResult) -> str:
    """How the driver's figures make the theoretical bandwidth."""
    device = GpuDevice.of(result.point.actual)
    if not device.memory_clock_khz or not device.bus_bits:
        return ""
    clock_mhz = device.memory_clock_khz / 1e3
    return f" (two transfers a clock, {clock_mhz:.0f} MHz, {device.bus_bits} bits)"


def _percent(share: Estimate | None) -> str:
    if share is None:
        return "an unknown part"
    if not has_interval(share):
        return f"{share.value:.1%}"
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"


def _found(found: Sequence[KernelResult]) -> Iterator[Verdict]:
    """Whether a search found more of triad, else of the first kernel, than its tuned variant."""
    judged = sorted(searches(found), key=lambda one: one.of.kernel != JUDGED)
    gain = judged[0].over_tuned if judged else None
    if gain is None or not has_interval(gain):
        return
    search, kernel = judged[0], judged[0].of.kernel
    if gain.low > 1:
        text = f"The search found {kernel} {gain.value:.3f} times as fast as tuned: "
        text += search.of.candidate
    else:
        variants = format_count(search.candidates, "variant")
        text = f"Of {variants} the search found none faster than tuned {kernel}, beyond the "
        text += "intervals"
    yield Verdict(level="note", text=f"{text}.")


def _sizes(main: Sequence[KernelResult]) -> Iterator[Verdict]:
    """Arrays that a cache holds, or that are walked in no time."""
    remedy = "omit --array-bytes, or increase it"
    if any(result.actual.stream_conformant is False for result in main):
        yield Verdict(
            level="warning",
            text="The arrays are smaller than the STREAM rule requires (4 times the second-level "
            "cache and a million elements), or that cache is not known: not "
            "STREAM-conformant.",
            remedy=remedy,
        )
    walks = [
        (result.point.bytes_counted / (result.sustained.value * 1e9), result)
        for result in main
        if result.sustained is not None
        and result.sustained.value > 0
        and result.point.bytes_counted
    ]
    if walks and min(walks, key=lambda walk: walk[0])[0] < SHORT_WALK_S:
        seconds, result = min(walks, key=lambda walk: walk[0])
        size = result.actual.array_bytes or 0
        yield Verdict(
            level="warning",
            text=f"A walk over arrays of {format_bytes(size)} takes {seconds * 1e6:.0f} us "
            f"({result.kernel}), which includes launching the kernel; the figures include it "
            "too.",
            remedy=f"{remedy}: 1 GiB each if the GPU has room",
        )


def _kernels(results: Sequence[KernelResult], peak: float | None) -> Chart | None:
    """Standard beside tuned, and what the memory could do in theory."""
    shown = [result for result in results if result.sustained]
    if not shown:
        return None
    return kernel_bars(
        f"Kernels on {gpu_name([shown[0].point])}",
        [(result.variant, result) for result in shown],
        [Rule(label="theoretical peak", axis="y", value=peak)] if peak else [],
    )
