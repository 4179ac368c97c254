"""What the `stride` costs mean in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.stride.figures import (
    KINDS,
    ORDERS,
    Costs,
    Reach,
    moved,
    ns_of,
    overlap,
    prefetch_gain,
    reaches,
    sizes_of,
)
from memgauge.model.points.shared import Backing
from memgauge.model.units import format_bytes


def verdicts(figures: Figures, costs: Costs) -> Iterator[Verdict]:
    """Reach of the prefetchers, gain of overlap and of larger accesses, and what spoils them."""
    if not costs:
        yield Verdict(level="warning", text="No access pattern was measured.")
        return
    found = list(reaches(costs))
    if not found:
        text = "Only one order was measured: the effect of prefetchers cannot be separated."
        yield Verdict(level="note", text=text, remedy="leave --order out")
    endless = [reach for reach in found if reach.helped == reach.widest]
    if len(endless) > 1:
        yield _endless_verdict(endless, costs)
    for reach in found:
        if reach not in endless or len(endless) == 1:
            yield _reach_verdict(reach, costs)
    yield from _overlap_verdict(costs)
    yield from _granularity_verdict(costs)
    yield from _pages_verdict(figures)


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
        text=f"Prefetchers still help sequential access at the widest stride measured "
        f"({format_bytes(widest)}), where it is faster than random access: {', '.join(gains)}. "
        f"The stride at which they stop helping was not reached.",
        remedy="measure wider strides (--stride)",
    )


def _reach_verdict(reach: Reach, costs: Costs) -> Verdict:
    what = f"accesses of {format_bytes(reach.access_bytes)} in order"
    if reach.helped is None:
        if reach.stops == reach.narrowest:
            text = f"Prefetchers help {what} at no stride from {format_bytes(reach.narrowest)} on."
            return Verdict(level="note", text=text)
        text = f"Whether prefetchers help {what} is not known: the intervals are too wide."
        return Verdict(level="note", text=text, remedy="increase --budget")
    sizes = (reach.access_bytes, reach.helped)
    in_order = ns_of(costs, sizes, "dependent", "sequential")
    random = ns_of(costs, sizes, "dependent", "random")
    gain = f"{_ns(in_order)} instead of {_ns(random)} each there"
    text = f"Prefetchers help {what} up to a stride of {format_bytes(reach.helped)} ({gain})"
    if reach.stops is not None:
        text += f" and stop helping from {format_bytes(reach.stops)} on."
        return Verdict(level="good", text=text)
    if reach.helped == reach.widest:
        text += ", the widest measured: the stride at which they stop was not reached."
        return Verdict(level="note", text=text, remedy="measure wider strides (--stride)")
    text += f"; wider, to {format_bytes(reach.widest)}, the intervals do not decide."
    return Verdict(level="note", text=text, remedy="increase --budget")


def _ns(estimate: Estimate | None) -> str:
    if estimate is None:
        return "unknown"
    return f"{estimate.value:.{1 if estimate.value < 100 else 0}f} ns"


def _overlap_verdict(costs: Costs) -> Iterator[Verdict]:
    """For the smallest access: the one that leaves most to overlap."""
    measured = sizes_of(costs)
    found = [
        (sizes, flight)
        for sizes in measured
        if sizes[0] == measured[0][0]
        and (flight := overlap(costs, sizes, "random")) is not None
        and has_interval(flight)
    ]
    if not found:
        return
    sizes, flight = max(found, key=lambda one: one[1].value)
    waits, runs = (ns_of(costs, sizes, kind, "random") for kind in KINDS)
    yield Verdict(
        level="note",
        text=f"A random access of {format_bytes(sizes[0])} costs {_ns(waits)} when it waits for "
        f"the one before and {_ns(runs)} when it does not: the core keeps {flight.low:.1f} to "
        f"{flight.high:.1f} in flight.",
    )


def _granularity_verdict(costs: Costs) -> Iterator[Verdict]:
    """What larger accesses gain in random order, beside the best of all patterns."""
    rates = {
        (order, sizes): rate.value
        for order in ORDERS
        for sizes in sizes_of(costs)
        if (rate := moved(costs, sizes, "independent", order)) is not None
    }
    random = [(sizes[0], rate) for (order, sizes), rate in rates.items() if order == "random"]
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
    pages = {Backing.of(point.actual).pages for point, _ in figures.slices("stride")}
    if not any(name.endswith("k") or name == "mixed" for name in pages):
        return []
    text = "The memory lies in base pages: wide strides and random order also pay for translation."
    return [Verdict(level="note", text=text, remedy="measure with --pages thp or 2m")]
