"""What the `latency` points of a GPU say: ns and cycles of its L1, its L2 and its memory.

One thread of one multiprocessor walks, so that nothing of what makes a GPU fast is at work: what it
waits is what the many threads beside it have to hide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memgauge.analysis.figures.gpu_points import GPU_MEMORY, gpu_name
from memgauge.analysis.figures.run import float_fact, number_fact, series, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.section import Axis, Cell, Chart, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.records import Point

MEMORY = "DRAM"
LEVELS = ("L1", "L2", MEMORY)
LOST_SHARE = 0.85
"""Of the latency of the level behind, above which a cache does not do its work. An L2 takes half as
long as the memory, or more, where half of it is behind another partition."""

Measured = Sequence[tuple[Point, PointSummary]]


def table(measured: Measured) -> Table:
    """A row for each walk."""
    return Table(
        name="gpu-latency",
        title="Load-to-use latency of one thread on the GPU",
        columns=[
            Column(title="level"),
            Column(title="order"),
            Column(title="latency", unit="ns", digits=1),
            Column(title="cycles"),
            Column(title="median", unit="ns", digits=1),
            Column(title="footprint", unit="B"),
            Column(title="node spacing", unit="B", narrow=False),
            Column(title="through", narrow=False),
            Column(title="timer resolution", unit="ns", digits=0, narrow=False),
            Column(title="samples", narrow=False),
            Column(title="set aside", narrow=False),
            Column(title="noise", unit="%", narrow=False),
        ],
        rows=[_row(point, summary) for point, summary in measured],
        note="The 90th percentile of speed (10th of ns) and its 95% interval, timed inside the "
        "kernel by the GPU's own timer; cycles of the multiprocessor's clock. The mean over all "
        "lines of a ring: where an L2 is in partitions, those near and far are mixed. Random in "
        "blocks: within 2 MiB, then the next, so that translation costs little.",
    )


def _row(point: Point, summary: PointSummary) -> list[Cell]:
    return [
        level_words(text_fact(point.requested, "level")),
        order_words(point),
        summary.sustained,
        summary.cycles,
        summary.median,
        number_fact(point.requested, "footprint_bytes"),
        number_fact(point.requested, "node_bytes"),
        "L1" if text_fact(point.requested, "through") == "l1" else "L2, past the L1",
        float_fact(point.actual, "timer_resolution_ns"),
        summary.samples,
        summary.set_aside,
        summary.noise,
    ]


def level_words(level: str) -> str:
    """What a level is called on a GPU."""
    return GPU_MEMORY if level in {MEMORY, "memory"} else level


def order_words(point: Point) -> str:
    """Of a walk; random in blocks: within one, then within the next."""
    order = text_fact(point.requested, "order")
    return "random in blocks" if order == "block-random" else order


def chart(measured: Measured) -> Chart:
    """A bar for each walk."""
    labels: list[float | str] = [_label(point) for point, _ in measured]
    gpu = gpu_name(point for point, _ in measured)
    return Chart(
        name="gpu-latency-levels",
        title=f"Load-to-use latency of one thread on {gpu}",
        kind="bar",
        x=Axis(title="Level", unit=""),
        y=Axis(title="Latency", unit="ns", scale="log10"),
        series=[series("one thread", labels, [summary.sustained for _, summary in measured])],
    )


def _label(point: Point) -> str:
    level = text_fact(point.requested, "level")
    return f"{GPU_MEMORY}, {order_words(point)}" if level == MEMORY else level


def verdicts(measured: Measured) -> list[Verdict]:
    """What a load takes, and which caches do not do their work."""
    fastest = _fastest(measured)
    if not fastest:
        return [Verdict(level="warning", text="No latency of the GPU's memory was measured.")]
    return [
        _summary(fastest, gpu_name(point for point, _ in measured)),
        *_lost(fastest),
        *_translation(measured),
    ]


def _fastest(measured: Measured) -> dict[str, Estimate]:
    """The least latency of each level, nearest first."""
    found: dict[str, Estimate] = {}
    for level in LEVELS:
        values = [
            summary.sustained
            for point, summary in measured
            if text_fact(point.requested, "level") == level and summary.sustained is not None
        ]
        if values:
            found[level] = min(values, key=lambda estimate: estimate.value)
    return found


def _summary(fastest: dict[str, Estimate], name: str) -> Verdict:
    """The farthest level first: it is what is asked for."""
    (level, estimate), *nearer = reversed(fastest.items())
    text = f"A load from {level_words(level)} of {name} takes {estimate.value:.1f} ns"
    text += "".join(f", from its {one} {fastest[one].value:.1f} ns" for one, _ in nearer)
    return Verdict(level="good", text=f"{text}.")


def _lost(fastest: dict[str, Estimate]) -> Iterator[Verdict]:
    """Caches that read like what is behind them."""
    for level, behind in pairwise(fastest):
        share = fastest[level].value / fastest[behind].value
        if share > LOST_SHARE:
            yield Verdict(
                level="warning",
                text=f"Loads from {level} take {fastest[level].value:.1f} ns, {share:.0%} of those "
                f"from {level_words(behind)}: most of its lines are not there when they are read.",
                remedy="see that nothing else uses the GPU; compare the levels of workingset",
            )


def _translation(measured: Measured) -> Iterator[Verdict]:
    """What fully random order costs over blocks of one page each."""
    memory = {
        text_fact(point.requested, "order"): summary.sustained
        for point, summary in measured
        if text_fact(point.requested, "level") == MEMORY
    }
    cost = ratio(memory.get("random"), memory.get("block-random"))
    if cost is not None and cost.low > 1:
        yield Verdict(
            level="note",
            text=f"In fully random order a load from {GPU_MEMORY} takes {cost.value:.2f} times as "
            "long as within blocks of 2 MiB: its address is to be translated too.",
        )
