"""What the `latency` points say: ns and cycles of each level, order, page policy and node pair."""

import math

from memgauge.analysis.figures.gpu_concurrency import in_flight_verdict
from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of
from memgauge.analysis.figures.run import Figures, float_fact, number_fact, series, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.latency import gpu as latency_gpu
from memgauge.analysis.section import Axis, Cell, Chart, Column, Section, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.records import Point

QUESTION = "How long does one load wait for its data when nothing else is going on?"
MEMORY = "DRAM"
LOST_SHARE = 0.5
"""Of memory's latency, above which a cache level does not do its work."""
Measured = list[tuple[Point, PointSummary]]


def analyse(figures: Figures) -> Section:
    """Table, chart and verdicts of the idle latencies of a run."""
    every = list(figures.slices("latency"))
    measured = [entry for entry in every if not gpu_of(entry[0])]
    by_gpu = [entry for entry in every if gpu_of(entry[0])]
    return Section(
        name="latency",
        title="Idle latency",
        question=QUESTION,
        verdicts=[
            *(_verdicts(measured) if measured or not by_gpu else []),
            *(latency_gpu.verdicts(by_gpu) if by_gpu else []),
            *in_flight_verdict(figures, "latency"),
        ],
        tables=[
            *([_table(measured)] if measured else []),
            *([latency_gpu.table(by_gpu)] if by_gpu else []),
        ],
        charts=[
            *([_chart(measured)] if measured else []),
            *([latency_gpu.chart(by_gpu)] if by_gpu else []),
        ],
    )


def memory_latency(figures: Figures) -> tuple[Point, Estimate] | None:
    """Latency of local memory, or the GPU's: blocks in random order, the fastest pages."""
    found = [
        (point, summary.sustained)
        for point, summary in figures.slices("latency")
        if text_fact(point.requested, "level") == MEMORY and summary.sustained is not None
    ]
    return min(found, key=lambda entry: entry[1].value, default=None)


def conditions(point: Point) -> str:
    """In which order and pages, or by which GPU, the point was measured."""
    if gpu_of(point):
        return f"{latency_gpu.order_words(point)}, {gpu_name([point])}"
    return f"{text_fact(point.requested, 'order')}, {_pages(point)} pages"


def _nodes(point: Point) -> str:
    here, there = (text_fact(point.requested, key) for key in ("cpu_node", "memory_node"))
    return f"{here} to {there}" if here and there else ""


def _pages(point: Point) -> str:
    """Pages that were got, else those asked for."""
    return text_fact(point.actual, "pages") or text_fact(point.requested, "pages")


def _table(measured: Measured) -> Table:
    nodes = any(_nodes(point) for point, _ in measured)
    columns = [
        Column(title="level"),
        Column(title="order"),
        Column(title="pages"),
        Column(title="nodes", narrow=nodes),
        Column(title="latency", unit="ns", digits=2),
        Column(title="cycles"),
        Column(title="median", unit="ns", digits=2, narrow=False),
        Column(title="footprint", unit="B", narrow=not nodes),
        Column(title="node spacing", unit="B", narrow=False),
        Column(title="huge share", unit="%", narrow=False),
        Column(title="samples", narrow=False),
        Column(title="set aside", narrow=False),
        Column(title="noise", unit="%", narrow=False),
    ]
    return Table(
        name="latency",
        title="Load-to-use latency",
        columns=columns,
        rows=[_row(point, summary) for point, summary in measured],
        note="The 90th percentile of speed (10th of ns) and its 95% interval. Random in blocks: "
        "within 2 MiB, then the next, so that translation costs little.",
    )


def _row(point: Point, summary: PointSummary) -> list[Cell]:
    return [
        text_fact(point.requested, "level"),
        latency_gpu.order_words(point),
        _pages(point),
        _nodes(point) or None,
        summary.sustained,
        summary.cycles,
        summary.median,
        number_fact(point.requested, "footprint_bytes"),
        number_fact(point.requested, "node_bytes"),
        float_fact(point.actual, "huge_share"),
        summary.samples,
        summary.set_aside,
        summary.noise,
    ]


def _chart(measured: Measured) -> Chart:
    """Bars for each level and order, a colour for each kind of pages."""
    bars: dict[str, dict[str, Estimate | None]] = {}
    labels: dict[str, None] = {}
    for point, summary in measured:
        level, nodes = text_fact(point.requested, "level"), _nodes(point)
        label = f"{level}, {latency_gpu.order_words(point)}" if level == MEMORY else level
        label += f", node {nodes}" if nodes else ""
        labels[label] = None
        bars.setdefault(_pages(point), {})[label] = summary.sustained
    return Chart(
        name="latency-levels",
        title="Load-to-use latency",
        kind="bar",
        x=Axis(title="Level", unit=""),
        y=Axis(title="Latency", unit="ns", scale="log10"),
        series=[
            series(f"{pages} pages", [*labels], [bar.get(label) for label in labels])
            for pages, bar in bars.items()
        ],
    )


def _verdicts(measured: Measured) -> list[Verdict]:
    if not measured:
        return [Verdict(level="warning", text="No latency was measured.")]
    verdicts = []
    local = [(p, s) for p, s in measured if text_fact(p.requested, "level") == MEMORY]
    fastest = min(local, key=lambda e: e[1].sustained.value if e[1].sustained else 0, default=None)
    if fastest is not None and fastest[1].sustained is not None:
        verdicts.append(
            Verdict(
                level="good",
                text=f"A load from memory takes {fastest[1].sustained.value:.1f} ns "
                f"({latency_gpu.order_words(fastest[0])}, {_pages(fastest[0])} pages).",
            )
        )
        verdicts += _lost_levels(measured, fastest[1].sustained)
    verdicts += _pages_verdict(local)
    return verdicts


def _lost_levels(measured: Measured, memory: Estimate) -> list[Verdict]:
    """Cache levels that read like memory: their lines are gone before they are read again."""
    lost: dict[str, float] = {}
    for point, summary in measured:
        level = text_fact(point.requested, "level")
        if level != MEMORY and summary.sustained is not None:
            lost[level] = min(lost.get(level, math.inf), summary.sustained.value)
    return [
        Verdict(
            level="warning",
            text=f"Loads from {level} take {ns:.1f} ns, {ns / memory.value:.0%} of those from "
            f"memory: most of its lines are evicted before they are read again.",
            remedy="run again when neighbours are quiet; compare the levels of workingset",
        )
        for level, ns in lost.items()
        if ns > LOST_SHARE * memory.value
    ]


def _pages_verdict(memory: Measured) -> list[Verdict]:
    """What base pages cost in fully random order."""
    by_pages: dict[tuple[str, str], dict[str, Estimate | None]] = {}
    for point, summary in memory:
        if text_fact(point.requested, "order") == "random":
            key = (_nodes(point), text_fact(point.requested, "footprint_bytes"))
            by_pages.setdefault(key, {})[_pages(point)] = summary.sustained
    for pages in by_pages.values():
        huge = next((pages[name] for name in ("thp", "2m", "1g") if name in pages), None)
        base = next((pages[name] for name in pages if name.endswith("k")), None)
        cost = ratio(base, huge)
        if cost is not None and cost.low > 1:
            text = f"Base pages make random loads from memory {cost.value:.2f} times as slow."
            return [Verdict(level="note", text=text, remedy="use huge pages where data is large")]
    return []
