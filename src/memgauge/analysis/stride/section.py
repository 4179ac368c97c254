"""What the `stride` points show: latency and throughput by size, distance and order of accesses."""

from __future__ import annotations

import msgspec

from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.section import Axis, Cell, Chart, Column, Section, Series, Table, section_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stride.figures import (
    HELPED_SHARE,
    KINDS,
    ORDERS,
    Costs,
    Sizes,
    costs_of,
    moved,
    ns_of,
    overlap,
    prefetch_gain,
    sizes_of,
    useful,
)
from memgauge.analysis.stride.verdicts import verdicts
from memgauge.model.units import format_bytes

TITLES = {
    "dependent": "Latency of dependent accesses",
    "independent": "Time of independent accesses",
}
COUNTED = (
    "Useful: the bytes asked for. Lines: the whole cache lines they lie on, as software counts "
    "them, not as measured at the memory controller."
)


def analyse(figures: Figures) -> Section:
    """Tables, pictures and verdicts of the `stride` points of a run."""
    costs = costs_of(figures)
    return section_of(
        "stride",
        verdicts=list(verdicts(figures, costs)),
        tables=[_dependent_table(costs), _independent_table(costs)] if costs else [],
        charts=_charts(costs),
    )


def _dependent_table(costs: Costs) -> Table:
    return Table(
        name="stride-dependent",
        title=TITLES["dependent"],
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
                *sizes,
                *(ns_of(costs, sizes, "dependent", order) for order in ORDERS),
                prefetch_gain(costs, sizes),
                *_rates(costs, sizes, "dependent"),
            ]
            for sizes in sizes_of(costs)
        ],
        note=f"Each waits for all lines of the one before. Gain: the time in random order over the "
        f"sequential one; above {1 / HELPED_SHARE:.2f} prefetchers help. {COUNTED}",
    )


def _independent_table(costs: Costs) -> Table:
    return Table(
        name="stride-independent",
        title=TITLES["independent"],
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
                *sizes,
                *(ns_of(costs, sizes, "independent", order) for order in ORDERS),
                overlap(costs, sizes, "random"),
                overlap(costs, sizes, "sequential"),
                *_rates(costs, sizes, "independent"),
            ]
            for sizes in sizes_of(costs)
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


def _rates(costs: Costs, sizes: Sizes, kind: str) -> list[Cell]:
    return [measure(costs, sizes, kind, order) for measure in (useful, moved) for order in ORDERS]


def _charts(costs: Costs) -> list[Chart]:
    if not costs:
        return []
    return [_curves(costs), _bandwidths(costs), *(_map(costs, kind) for kind in KINDS)]


def _curves(costs: Costs) -> Chart:
    """The smallest access over stride: where the lines of an order meet, prefetch has ended."""
    measured = sizes_of(costs)
    access = measured[0][0]
    strides = [stride for size, stride in measured if size == access]
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


def _bandwidths(costs: Costs) -> Chart:
    """Of the smallest access over stride: the bytes asked for, and the lines that they lie on."""
    measured = sizes_of(costs)
    access = measured[0][0]
    strides = [stride for size, stride in measured if size == access]
    lines = [
        (what, kind, order, [measure(costs, (access, stride), kind, order) for stride in strides])
        for what, measure in (("useful", useful), ("lines", moved))
        for kind in KINDS
        for order in ORDERS
        # Whole lines of dependent accesses are one at a time: their latency says the same.
        if what == "useful" or kind == "independent"
    ]
    return Chart(
        name="stride-bandwidth",
        title=f"Bandwidth of accesses of {format_bytes(access)} over stride",
        kind="line",
        x=Axis(title="Stride", unit="B", scale="log2"),
        y=Axis(title="Bandwidth", unit="GB/s", scale="log10"),
        series=[
            msgspec.structs.replace(
                series(f"{what}: {kind}, {order}", list(map(float, strides)), cells),
                dashed=what == "lines",
            )
            for what, kind, order, cells in lines
            if any(cells)
        ],
        note=f"{COUNTED} Lines are dotted, of independent accesses.",
    )


def _map(costs: Costs, kind: str) -> Chart:
    strides = sorted({stride for _, stride in sizes_of(costs)})
    accesses = list(dict.fromkeys(access for access, _ in sizes_of(costs)))
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
        title=f"{TITLES[kind]} by size and stride",
        kind="heatmap",
        x=Axis(title="Stride", unit="B", scale="log2"),
        y=Axis(title="Time per access", unit="ns", scale="log10"),
        rows=Axis(title="Order, size of access", unit=""),
        series=[row for row in rows if any(value is not None for value in row.y)],
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
