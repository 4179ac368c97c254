"""Several routes to memory's counters around the same regions: what each counted, side by side.

The ratio of two routes is of the same regions, one ratio for each, so that it owes nothing to the
clock or to other programs: both were read around the same traffic. The first route that was named
is the one that the others are compared with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from memgauge.analysis.counters.bandwidth import (
    BOTH,
    READS,
    WRITES,
    HardwareBandwidth,
    rates_of_regions,
)
from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval, sustained
from memgauge.model.counting.events import Quantity
from memgauge.model.units import format_count

CLOSE = 0.02
"""Of the ratio: up to here two routes are reported to agree."""
RATE = 1e-6
"""Bytes a second to MB/s, STREAM's unit."""
WAYS: dict[str, tuple[Quantity, ...]] = {
    "reads": (READS,),
    "writes": (WRITES,),
    "reads and writes": (READS, WRITES, BOTH),
}
"""In which routes are compared, with the quantities that add up to each."""


class RoutePair(msgspec.Struct, frozen=True, kw_only=True):
    """What two routes counted one way around the same regions of a kernel."""

    kernel: str
    way: str
    """`reads`, `writes`, or both together."""
    first: str
    """Back end of the route that the other is compared with."""
    other: str
    first_rate: Estimate
    """Bytes a second,"""
    other_rate: Estimate
    ratio: Estimate | None
    """and of the other to the first; None where the first counted nothing."""


def route_pairs(every: Sequence[HardwareBandwidth]) -> list[RoutePair]:
    """Each further route beside the first one, for each kernel and each way that both count."""
    found: dict[str, list[HardwareBandwidth]] = {}
    for one in every:
        if one.counts.basis == "measured" and one.counts.is_one_of_several:
            found.setdefault(one.counts.kernel.name, []).append(one)
    return [
        pair
        for name, (first, *others) in found.items()
        for other in others
        for pair in _pairs(name, first, other)
    ]


def ratio_to_first(one: HardwareBandwidth, every: Sequence[HardwareBandwidth]) -> RoutePair | None:
    """All that a route counted of its kernel beside the first route; None for that, or if alone."""
    counts = one.counts
    mine = [
        pair
        for pair in route_pairs(every)
        if (pair.kernel, pair.other) == (counts.kernel.name, counts.back_end)
    ]
    return next((pair for pair in mine if pair.way == "reads and writes"), None)


def _pairs(name: str, first: HardwareBandwidth, other: HardwareBandwidth) -> Iterator[RoutePair]:
    for way, quantities in WAYS.items():
        if not all(counts_all(_quantities(one), quantities) for one in (first, other)):
            continue
        regions = zip(
            rates_of_regions(first, quantities), rates_of_regions(other, quantities), strict=True
        )
        both = [(a, b) for a, b in regions if a is not None and b is not None]
        one, two = (sustained([pair[side] for pair in both], 0.5) for side in (0, 1))
        if one is None or two is None:
            continue
        yield RoutePair(
            kernel=name,
            way=way,
            first=first.counts.back_end,
            other=other.counts.back_end,
            first_rate=one,
            other_rate=two,
            ratio=sustained([b / a for a, b in both if a], 0.5),
        )


def counts_all(counted: Collection[Quantity], quantities: Collection[Quantity]) -> bool:
    """Whether nothing is missing of what is added up: a sum may also be counted as one.

    Args:
        counted: Quantities that a route counts.
        quantities: Those of one of `WAYS`.
    """
    apart = {READS, WRITES} & set(quantities)
    return apart <= set(counted) or (BOTH in quantities and BOTH in counted)


def _quantities(found: HardwareBandwidth) -> set[Quantity]:
    return {counter.quantity for counter in found.counts.counters}


def route_tables(every: Sequence[HardwareBandwidth]) -> list[Table]:
    """A row for each kernel, way and further route; empty where one route counted."""
    pairs = route_pairs(every)
    if not pairs:
        return []
    (first, *_) = {pair.first: None for pair in pairs}
    others = list(dict.fromkeys(pair.other for pair in pairs))
    of = f"{others[0]} : {first}" if len(others) == 1 else f"route : {first}"
    columns = [Column(title="kernel"), Column(title="what")]
    if len(others) > 1:
        columns.append(Column(title="route"))
    columns += [
        Column(title=first, unit="MB/s", digits=2),
        Column(title=others[0] if len(others) == 1 else "route's", unit="MB/s", digits=2),
        Column(title=of, digits=4),
    ]
    return [
        Table(
            name="hardware-routes",
            title="The same regions by several routes",
            columns=columns,
            rows=[
                [
                    pair.kernel,
                    pair.way,
                    *([pair.other] if len(others) > 1 else []),
                    pair.first_rate.value * RATE,
                    pair.other_rate.value * RATE,
                    _cell(pair.ratio),
                ]
                for pair in pairs
            ],
            note="Medians over regions around which all routes were read. The ratio is the median "
            "of each region's, with its 95% interval.",
        )
    ]


def _cell(ratio: Estimate | None) -> Cell:
    return ratio if ratio is None or has_interval(ratio) else ratio.value


def route_verdicts(every: Sequence[HardwareBandwidth]) -> Iterator[Verdict]:
    """Whether the routes agree, over all kernels together."""
    whole: dict[tuple[str, str], list[RoutePair]] = {}
    for pair in route_pairs(every):
        whole.setdefault((pair.first, pair.other), []).append(pair)
    for (first, other), pairs in whole.items():
        ratios = [pair for pair in pairs if pair.ratio is not None]
        if not ratios:
            text = f"Counted nothing by {first}: {other} cannot be compared with it."
            yield Verdict(level="warning", text=text)
            continue
        yield route_verdict(
            first, other, [(pair.ratio, f"{pair.kernel}, {pair.way}") for pair in ratios]
        )


def route_verdict(first: str, other: str, ratios: Sequence[tuple[Estimate | None, str]]) -> Verdict:
    """Whether a route counts what the first one does.

    Args:
        first: Back end of the route that the other is compared with.
        other: Back end of that one.
        ratios: Of the other to the first, each with what it is of; at least one is known.
    """
    known = sorted(
        ((ratio.value, what) for ratio, what in ratios if ratio is not None),
        key=lambda one: one[0],
    )
    (least, least_of), (most, most_of) = known[0], known[-1]
    apart = max(abs(least - 1), abs(most - 1))
    if apart <= CLOSE:
        text = (
            f"By {other} and by {first} the same was counted within {apart:.2%}, over all "
            f"{format_count(len(known), 'figure')}."
        )
        return Verdict(level="good", text=text)
    ends = f"{least:.4g} times"
    if f"{most:.4g}" != f"{least:.4g}":
        ends = f"between {ends} ({least_of}) and {most:.4g} times ({most_of})"
    text = f"By {other} {ends} as much was counted as by {first}, around the same regions."
    return Verdict(level="warning", text=text, remedy=f"memgauge counters compare {first} {other}")
