"""The section of the `latency` points: ns and cycles of each level, of the host or of a GPU.

One thread of one multiprocessor walks a GPU's rings, so that nothing of what makes a GPU fast is at
work: what it waits is what the many threads beside it have to hide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memgauge.analysis.figures.gpu_concurrency import in_flight_verdict
from memgauge.analysis.figures.gpu_points import gpu_name
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.latency.figures import LatencyResult, latency_results
from memgauge.analysis.latency.verdicts import gpu_verdicts, host_verdicts
from memgauge.analysis.section import Axis, Cell, Chart, Column, Section, Table, section_of
from memgauge.analysis.statistics.estimate import Estimate

Results = Sequence[LatencyResult]
Columns = list[tuple[Column, Callable[[LatencyResult], Cell]]]
"""Columns of a table, each with its cell of a row."""

HOST_NOTE = (
    "The 90th percentile of speed (10th of ns) and its 95% interval. Random in blocks: "
    "within 2 MiB, then the next, so that translation costs little."
)
GPU_NOTE = (
    "The 90th percentile of speed (10th of ns) and its 95% interval, timed inside the "
    "kernel by the GPU's own timer; cycles of the multiprocessor's clock. The mean over all "
    "lines of a ring: where an L2 is in partitions, those near and far are mixed. Random in "
    "blocks: within 2 MiB, then the next, so that translation costs little."
)
THROUGH: Columns = [
    (
        Column(title="through", narrow=False),
        lambda one: "L1" if one.requested.through == "l1" else "L2, past the L1",
    ),
    (
        Column(title="timer resolution", unit="ns", digits=0, narrow=False),
        lambda one: one.actual.timer_resolution_ns,
    ),
]


def analyse(figures: Figures) -> Section:
    """Table, chart and verdicts of the idle latencies of a run."""
    results = latency_results(figures)
    host = [result for result in results if not result.gpu]
    gpu = [result for result in results if result.gpu]
    measured = [some for some in (host, gpu) if some]
    return section_of(
        "latency",
        title="Idle latency",
        verdicts=[
            *(host_verdicts(host) if host or not gpu else []),
            *(gpu_verdicts(gpu) if gpu else []),
            *in_flight_verdict(figures, "latency"),
        ],
        tables=[_table(some) for some in measured],
        charts=[_chart(some) for some in measured],
    )


def _table(results: Results) -> Table:
    gpu, nodes = bool(results[0].gpu), any(result.nodes for result in results)
    digits, huge = (1 if gpu else 2), Column(title="huge share", unit="%", narrow=False)
    pages: Columns = [
        (Column(title="pages"), lambda one: one.pages),
        (Column(title="nodes", narrow=nodes), lambda one: one.nodes or None),
    ]
    columns: Columns = [
        (Column(title="level"), lambda one: one.level),
        (Column(title="order"), lambda one: one.order),
        *([] if gpu else pages),
        (Column(title="latency", unit="ns", digits=digits), lambda one: one.latency),
        (Column(title="cycles"), lambda one: one.summary.cycles),
        (
            Column(title="median", unit="ns", digits=digits, narrow=gpu),
            lambda one: one.summary.median,
        ),
        (
            Column(title="footprint", unit="B", narrow=not nodes),
            lambda one: one.requested.footprint_bytes,
        ),
        (
            Column(title="node spacing", unit="B", narrow=False),
            lambda one: one.requested.node_bytes,
        ),
        *(THROUGH if gpu else [(huge, lambda one: one.actual.huge_share)]),
        (Column(title="samples", narrow=False), lambda one: one.summary.samples),
        (Column(title="set aside", narrow=False), lambda one: one.summary.set_aside),
        (Column(title="noise", unit="%", narrow=False), lambda one: one.summary.noise),
    ]
    return Table(
        name="gpu-latency" if gpu else "latency",
        title="Load-to-use latency" + (" of one thread on the GPU" if gpu else ""),
        columns=[column for column, _ in columns],
        rows=[[cell(result) for _, cell in columns] for result in results],
        note=GPU_NOTE if gpu else HOST_NOTE,
    )


def _chart(results: Results) -> Chart:
    """Bars for each level and order, a colour for each kind of pages."""
    gpu = gpu_name(result.point for result in results if result.gpu)
    labels: list[float | str] = [*dict.fromkeys(result.label for result in results)]
    bars: dict[str, dict[float | str, Estimate]] = {}
    for result in results:
        colour = "one thread" if result.gpu else f"{result.pages} pages"
        bars.setdefault(colour, {})[result.label] = result.latency
    return Chart(
        name="gpu-latency-levels" if gpu else "latency-levels",
        title="Load-to-use latency" + (f" of one thread on {gpu}" if gpu else ""),
        kind="bar",
        x=Axis(title="Level", unit=""),
        y=Axis(title="Latency", unit="ns", scale="log10"),
        series=[
            series(colour, labels, [bar.get(label) for label in labels])
            for colour, bar in bars.items()
        ],
    )
