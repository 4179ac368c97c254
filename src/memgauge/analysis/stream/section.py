"""What the `stream` points show: bandwidth by kernel, variant, team and regime."""

from memgauge.analysis.counters import summary as hardware_summary
from memgauge.analysis.counters import tables as hardware_report
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Chart, Section, Verdict, section_of
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream import distances as prefetch
from memgauge.analysis.stream import gpu as stream_gpu
from memgauge.analysis.stream import page_sizes
from memgauge.analysis.stream import scaling as stream_scaling
from memgauge.analysis.stream import tables as stream_tables
from memgauge.analysis.stream import variants as stream_variants
from memgauge.analysis.stream.charts import kernel_bars
from memgauge.analysis.stream.figures import KernelResult, best, kernel_results
from memgauge.analysis.stream.tuning import tuning_verdicts
from memgauge.model.units import format_count


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of the bandwidth of a run."""
    if any(gpu_of(point) for point in figures.run.points_of("stream")):
        return stream_gpu.analyse(figures)
    found = kernel_results(figures)
    main = [result for result in found if result.is_plain]
    ways = stream_variants.compared(found)
    pages, distances = page_sizes.compared(found), prefetch.compared(found)
    system = figures.run.start.system
    lines = stream_scaling.lines(main, system)
    peak, usual = system.theoretical_bandwidth_bytes_per_s, stream_scaling.usual_regime(main)
    scaling = stream_scaling.charts(lines, peak, usual)
    counted = [hardware_bandwidth(counts) for counts in counts_of(figures)]
    tables = (
        stream_tables.comparison(main),
        page_sizes.table(pages),
        prefetch.table(distances),
        stream_variants.table(ways),
        stream_scaling.table(lines),
        *hardware_report.tables(counted),
        stream_tables.details([result for result in found if not result.candidate]),
        stream_tables.search(found),
        stream_tables.candidates(found),
    )
    return section_of(
        "stream",
        title="Bandwidth",
        verdicts=[
            *_verdicts(main, found),
            *page_sizes.verdicts(pages),
            *prefetch.verdicts(distances),
            *stream_variants.verdicts(ways),
            *stream_scaling.verdicts(lines),
            *hardware_summary.verdicts(counted),
        ],
        tables=[table for table in tables if table],
        charts=[
            chart
            for chart in (
                page_sizes.chart(pages),
                prefetch.chart(distances),
                *scaling,
                None if pages else _kernels(main),
                *hardware_report.charts(counted),
            )
            if chart
        ],
    )


def _kernels(results: list[KernelResult]) -> Chart | None:
    """Standard beside tuned for the largest team that was measured."""
    largest = max((result.threads for result in results if result.sustained), default=None)
    if largest is None:
        return None
    team = [result for result in results if result.threads == largest and result.sustained]
    return kernel_bars(
        f"Kernels with {format_count(largest, 'thread')}",
        [(", ".join(filter(None, (result.variant, result.regime))), result) for result in team],
    )


def _verdicts(main: list[KernelResult], found: list[KernelResult]) -> list[Verdict]:
    verdicts: list[Verdict] = []
    top = best(found)
    if top is None or top.sustained is None:
        return [Verdict(level="warning", text="No bandwidth was measured.")]
    regime = f", {top.regime}" if top.regime else ""
    verdicts.append(
        Verdict(
            level="good",
            text=f"Memory delivers up to {top.sustained.value:.1f} GB/s ({top.title}, "
            f"{format_count(top.threads, 'thread')}{regime}).",
        )
    )
    verdicts += tuning_verdicts(main, 2, lambda threads: format_count(threads, "thread"))
    verdicts += _regime_verdict(main)
    if any(result.actual.stream_conformant is False for result in found):
        verdicts.append(
            Verdict(
                level="warning",
                text="Some arrays are smaller than the STREAM rule requires (4 times the "
                "last-level caches used, or the caches are not known): not "
                "STREAM-conformant.",
                remedy="omit --array-bytes, or increase it",
            )
        )
    return verdicts


def _regime_verdict(main: list[KernelResult]) -> list[Verdict]:
    """How far apart the regimes of the largest team are, for the kernel where it shows most."""
    teams: dict[tuple[str, str, str, str, int], list[KernelResult]] = {}
    for result in main:
        if result.regime and has_interval(result.sustained):
            made = (result.kernel, result.variant, result.element, result.pages)
            key = (*made, result.threads)
            teams.setdefault(key, []).append(result)
    apart = []
    for (kernel, variant, *_, threads), results in teams.items():
        if len(results) > 1:
            faster = best(results)
            slower = next(result for result in results if result is not faster)
            gain = ratio(faster.sustained, slower.sustained) if faster else None
            if faster is not None and gain is not None and gain.low > 1:
                apart.append((threads, gain.value, f"{kernel}, {variant}", faster, slower))
    if not apart:
        return []
    threads, factor, what, faster, slower = max(apart, key=lambda entry: entry[:2])
    text = (
        f"Where the host puts the {threads} threads changes bandwidth up to {factor:.2f} times: "
        f"{faster.regime} against {slower.regime} ({what})."
    )
    return [Verdict(level="warning", text=text, remedy="compare figures of one regime only")]
