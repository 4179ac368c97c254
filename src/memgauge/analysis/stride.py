"""What the `stride` points say: latency and throughput by size, distance and order of accesses."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures import Figures, series, text_fact
from memgauge.analysis.intervals import has_interval
from memgauge.analysis.section import (
    Axis,
    Cell,
    Chart,
    Column,
    Estimate,
    Section,
    Series,
    Table,
    Verdict,
)
from memgauge.analysis.stride_costs import (
    HELPED_SHARE,
    KINDS,
    ORDERS,
    Costs,
    Reach,
    cells_of,
    costs_of,
    moved,
    ns_of,
    overlap,
    prefetch_gain,
    reaches,
    useful,
)
from memgauge.model.units import format_bytes

QUESTION = "What does an access cost by its size, by the distance to the next and by order?"
SAYS = {"dependent": "Latency of dependent accesses", "independent": "Time of independent accesses"}
COUNTED = (
    "Useful: the bytes asked for. Lines: the whole cache lines they lie on, as software counts "
    "them, not as measured at the memory controller."
)


def analyse(figures: Figures) -> Section:
    """Tables, pictures and verdicts of the `stride` points of a run."""
    costs = costs_of(figures)
    return Section(
        name="stride",
        title="Pattern, stride and granularity",
        question=QUESTION,
        verdicts=[*_verdicts(costs), *_pages_verdict(figures)],
        tables=[_dependent_table(costs), _independent_table(costs)] if costs else [],
        charts=_charts(costs),
    )


def _verdicts(costs: Costs) -> Iterator[Verdict]:
    if not costs:
        yield Verdict(level="warning", text="No access by pattern was measured.")
        return
    found = list(reaches(costs))
    if not found:
        text = "Only one order was measured: what prefetchers do is not told apart."
        yield Verdict(level="note", text=text, remedy="leave --order out")
    endless = [reach for reach in found if reach.helped == reach.widest]
    if len(endless) > 1:
        yield _endless_verdict(endless, costs)
    for reach in found:
        if reach not in endless or len(endless) == 1:
            yield _reach_verdict(reach, costs)
    yield from _overlap_verdict(costs)
    yield from _granularity_verdict(costs)


def _endless_verdict(endless: list[Reach], costs: Costs) -> Verdict:
    """One sentence for all sizes that are helped at the widest stride."""
    gains = [
        f"{format_bytes(reach.access_bytes)} {gain.value:.1f} times"
        for reach in endless
        if (gain := prefetch_gain(costs, (reach.access_bytes, reach.widest))) is not None
    ]
    widest = min(reach.widest for reach in endless)
    return Verdict(
        level="note",
        text=f"Prefetchers still help access in order at the widest stride measured "
        f"({format_bytes(widest)}), so that where they stop was not seen; it is faster there than "
        f"in random order: {', '.join(gains)}.",
        remedy="measure wider strides: --stride",
    )


def _reach_verdict(reach: Reach, costs: Costs) -> Verdict:
    what = f"accesses of {format_bytes(reach.access_bytes)} in order"
    if reach.helped is None:
        if reach.stops == reach.narrowest:
            text = f"Prefetchers help {what} at no stride from {format_bytes(reach.narrowest)} on."
            return Verdict(level="note", text=text)
        text = f"Whether prefetchers help {what} is not told: the intervals are too wide."
        return Verdict(level="note", text=text, remedy="give it more time: --budget")
    cell = (reach.access_bytes, reach.helped)
    in_order = ns_of(costs, cell, "dependent", "sequential")
    random = ns_of(costs, cell, "dependent", "random")
    gain = f"{_ns(in_order)} instead of {_ns(random)} each there"
    text = f"Prefetchers help {what} up to a stride of {format_bytes(reach.helped)} ({gain})"
    if reach.stops is not None:
        text += f" and stop helping from {format_bytes(reach.stops)} on."
        return Verdict(level="good", text=text)
    if reach.helped == reach.widest:
        text += ", the widest measured: where they stop was not seen."
        return Verdict(level="note", text=text, remedy="measure wider strides: --stride")
    text += f"; wider, to {format_bytes(reach.widest)}, the intervals do not tell."
    return Verdict(level="note", text=text, remedy="give it more time: --budget")


def _ns(estimate: Estimate | None) -> str:
    if estimate is None:
        return "unknown"
    return f"{estimate.value:.{1 if estimate.value < 100 else 0}f} ns"


def _overlap_verdict(costs: Costs) -> Iterator[Verdict]:
    """For the smallest access: the one that leaves most to overlap."""
    cells = cells_of(costs)
    found = [
        (cell, flight)
        for cell in cells
        if cell[0] == cells[0][0]
        and (flight := overlap(costs, cell, "random")) is not None
        and has_interval(flight)
    ]
    if not found:
        return
    (access, stride), flight = max(found, key=lambda one: one[1].value)
    cell = (access, stride)
    waits, runs = (ns_of(costs, cell, kind, "random") for kind in KINDS)
    yield Verdict(
        level="note",
        text=f"A random access of {format_bytes(access)} costs {_ns(waits)} when it waits for the "
        f"one before and {_ns(runs)} when it does not: the core keeps {flight.low:.1f} to "
        f"{flight.high:.1f} in flight.",
    )


def _granularity_verdict(costs: Costs) -> Iterator[Verdict]:
    """What larger accesses gain in random order, beside the best of all patterns."""
    rates = {
        (order, cell): rate.value
        for order in ORDERS
        for cell in cells_of(costs)
        if (rate := moved(costs, cell, "independent", order)) is not None
    }
    random = [(cell[0], rate) for (order, cell), rate in rates.items() if order == "random"]
    if len(random) in {0, len(rates)}:
        return
    least, most = random[0], max(random, key=lambda one: one[1])
    yield Verdict(
        level="note",
        text=f"Independent random accesses of {format_bytes(least[0])} move {least[1]:.1f} GB/s of "
        f"lines, those of {format_bytes(most[0])} {most[1]:.1f} GB/s; the fastest pattern moves "
        f"{max(rates.values()):.1f} GB/s.",
    )


def _pages_verdict(figures: Figures) -> list[Verdict]:
    pages = {text_fact(p.effective, "pages") for p, _ in figures.slices("stride")}
    if not any(name.endswith("k") or name == "mixed" for name in pages):
        return []
    text = "The memory lies in base pages: wide strides and random order also pay for translation."
    return [Verdict(level="note", text=text, remedy="measure with --pages thp or 2m")]


def _dependent_table(costs: Costs) -> Table:
    return Table(
        name="stride-dependent",
        title=SAYS["dependent"],
        columns=[
            Column(title="access", unit="B"),
            Column(title="stride", unit="B"),
            Column(title="sequential", unit="ns", digits=1),
            Column(title="random", unit="ns", digits=1),
            Column(title="gain", digits=1),
            *_rate_columns(narrow=False),
        ],
        rows=[
            [
                *cell,
                *(ns_of(costs, cell, "dependent", order) for order in ORDERS),
                prefetch_gain(costs, cell),
                *_rates(costs, cell, "dependent"),
            ]
            for cell in cells_of(costs)
        ],
        note=f"Each waits for all lines of the one before. Gain: the time in random order over the "
        f"sequential one; above {1 / HELPED_SHARE:.2f} prefetchers help. {COUNTED}",
    )


def _independent_table(costs: Costs) -> Table:
    return Table(
        name="stride-independent",
        title=SAYS["independent"],
        columns=[
            Column(title="access", unit="B"),
            Column(title="stride", unit="B"),
            Column(title="sequential", unit="ns", digits=1),
            Column(title="random", unit="ns", digits=1),
            Column(title="in flight", digits=1),
            Column(title="in flight, sequential", digits=1, narrow=False),
            *_rate_columns(narrow=True),
        ],
        rows=[
            [
                *cell,
                *(ns_of(costs, cell, "independent", order) for order in ORDERS),
                overlap(costs, cell, "random"),
                overlap(costs, cell, "sequential"),
                *_rates(costs, cell, "independent"),
            ]
            for cell in cells_of(costs)
        ],
        note=f"None waits for another. In flight: the time of a dependent access over that of an "
        f"independent one, in random order. {COUNTED}",
    )


def _rate_columns(*, narrow: bool) -> list[Column]:
    return [
        Column(
            title=f"{what}, {order}",
            unit="GB/s",
            digits=2,
            narrow=narrow and what == "lines" and order == "random",
        )
        for what in ("useful", "lines")
        for order in ORDERS
    ]


def _rates(costs: Costs, cell: tuple[int, int], kind: str) -> list[Cell]:
    return [measure(costs, cell, kind, order) for measure in (useful, moved) for order in ORDERS]


def _charts(costs: Costs) -> list[Chart]:
    if not costs:
        return []
    return [_curves(costs), *(_map(costs, kind) for kind in KINDS)]


def _curves(costs: Costs) -> Chart:
    """The smallest access over stride: where the lines of an order meet, prefetch has ended."""
    cells = cells_of(costs)
    access = cells[0][0]
    strides = [stride for size, stride in cells if size == access]
    lines = [
        series(
            f"{kind}, {order}",
            list(map(float, strides)),
            [ns_of(costs, (access, stride), kind, order) for stride in strides],
        )
        for kind in KINDS
        for order in ORDERS
        if any(ns_of(costs, (access, stride), kind, order) for stride in strides)
    ]
    return Chart(
        name="stride-curves",
        title=f"Accesses of {format_bytes(access)} over stride",
        kind="line",
        x=Axis(title="Stride", unit="B", scale="log2"),
        y=Axis(title="Time per access", unit="ns", scale="log10"),
        series=lines,
        note="Where access in order costs as much as in random order, prefetchers do not help.",
    )


def _map(costs: Costs, kind: str) -> Chart:
    strides = sorted({stride for _, stride in cells_of(costs)})
    accesses = list(dict.fromkeys(access for access, _ in cells_of(costs)))
    rows = [
        Series(
            name=f"{order}, {format_bytes(access)}",
            x=list(map(float, strides)),
            y=[_value(ns_of(costs, (access, stride), kind, order)) for stride in strides],
        )
        for order in ORDERS
        for access in accesses
    ]
    return Chart(
        name=f"stride-{kind}",
        title=f"{SAYS[kind]} by size and stride",
        kind="heatmap",
        x=Axis(title="Stride", unit="B", scale="log2"),
        y=Axis(title="Time per access", unit="ns", scale="log10"),
        rows=Axis(title="Order, size of access", unit=""),
        series=[row for row in rows if any(value is not None for value in row.y)],
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
