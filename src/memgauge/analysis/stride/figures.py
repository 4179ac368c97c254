"""What accesses by pattern cost, and what follows from two costs: prefetch and overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.stride import StrideActual, StrideRequested

KINDS = ("dependent", "independent")
ORDERS = ("sequential", "random")
HELPED_SHARE = 0.9
"""Prefetchers help where access in order costs less than this share of access in random order."""


class Pattern(msgspec.Struct, frozen=True, order=True):
    """How memory was accessed."""

    access_bytes: int
    stride_bytes: int
    kind: str
    order: str


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What an access by one pattern costs, and what it moves."""

    ns: Estimate
    moved_bytes: int
    """By the count of cache lines: not measured at the memory controller."""


Costs = Mapping[Pattern, Cost]
Sizes = tuple[int, int]
"""Bytes of an access and of a stride."""


def costs_of(figures: Figures) -> dict[Pattern, Cost]:
    """All patterns of a run that were measured and are known."""
    found: dict[Pattern, Cost] = {}
    for point, summary in figures.slices("stride"):
        requested, actual = StrideRequested.of(point.requested), StrideActual.of(point.actual)
        pattern = Pattern(
            requested.access_bytes or 0,
            requested.stride_bytes or 0,
            requested.kind,
            requested.order,
        )
        moved, lines = actual.moved_bytes_per_access or 0, actual.lines_per_access or 0
        known = min(pattern.access_bytes, pattern.stride_bytes, moved, lines) > 0
        known &= pattern.kind in KINDS and pattern.order in ORDERS
        if known and summary.sustained is not None and summary.sustained.value > 0:
            found[pattern] = Cost(ns=summary.sustained, moved_bytes=moved)
    return dict(sorted(found.items()))


def sizes_of(costs: Costs) -> list[Sizes]:
    """Accesses and strides that were measured, ascending."""
    return sorted({(pattern.access_bytes, pattern.stride_bytes) for pattern in costs})


def ns_of(costs: Costs, sizes: Sizes, kind: str, order: str) -> Estimate | None:
    """Time of one access, in ns; None where it was not measured.

    Args:
        costs: Costs of all measured patterns.
        sizes: Bytes of an access, and of the stride between neighbouring places.
        kind: `dependent` or `independent`: whether an access waits for the one before.
        order: `sequential` or `random`: the order in which places are accessed.
    """
    cost = costs.get(Pattern(*sizes, kind, order))
    return None if cost is None else cost.ns


def rate(amount: float, ns: Estimate) -> Estimate:
    """Bytes by the time they take, in GB/s."""
    low = 0.0 if math.isinf(ns.high) else amount / ns.high
    high = amount / ns.low if ns.low > 0 else math.inf
    return Estimate(amount / ns.value, low, high)


def useful(costs: Costs, sizes: Sizes, kind: str, order: str) -> Estimate | None:
    """GB/s of the bytes that are requested; None where not measured.

    Args:
        costs: Costs of all measured patterns.
        sizes: Bytes of an access, and of the stride between neighbouring places.
        kind: `dependent` or `independent`: whether an access waits for the one before.
        order: `sequential` or `random`: the order in which places are accessed.
    """
    ns = ns_of(costs, sizes, kind, order)
    return None if ns is None else rate(sizes[0], ns)


def moved(costs: Costs, sizes: Sizes, kind: str, order: str) -> Estimate | None:
    """GB/s of the whole cache lines that accesses touch; None where not measured.

    Args:
        costs: Costs of all measured patterns.
        sizes: Bytes of an access, and of the stride between neighbouring places.
        kind: `dependent` or `independent`: whether an access waits for the one before.
        order: `sequential` or `random`: the order in which places are accessed.
    """
    cost = costs.get(Pattern(*sizes, kind, order))
    return None if cost is None else rate(cost.moved_bytes, cost.ns)


def overlap(costs: Costs, sizes: Sizes, order: str) -> Estimate | None:
    """Accesses in flight: time of a dependent access over that of an independent one.

    Args:
        costs: Costs of all measured patterns.
        sizes: Bytes of an access, and of the stride between neighbouring places.
        order: `sequential` or `random`: the order in which places are accessed.
    """
    return ratio(ns_of(costs, sizes, "dependent", order), ns_of(costs, sizes, "independent", order))


def prefetch_share(costs: Costs, sizes: Sizes) -> Estimate | None:
    """Cost of a dependent access in order over that of one in random order."""
    return ratio(
        ns_of(costs, sizes, "dependent", "sequential"), ns_of(costs, sizes, "dependent", "random")
    )


def prefetch_gain(costs: Costs, sizes: Sizes) -> Estimate | None:
    """How many times as long random order takes, of dependent accesses."""
    return ratio(
        ns_of(costs, sizes, "dependent", "random"), ns_of(costs, sizes, "dependent", "sequential")
    )


Help = Literal["helped", "not helped", "not known"]


def help_of(share: Estimate) -> Help:
    """By the whole interval, so that noise within it decides nothing."""
    if share.high < HELPED_SHARE:
        return "helped"
    return "not helped" if share.low >= HELPED_SHARE else "not known"


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """Up to where prefetchers help accesses of one size."""

    access_bytes: int
    narrowest: int
    widest: int
    """Strides that were measured in both orders."""

    helped: int | None
    """The widest stride that surely is helped; None: no stride is."""

    stops: int | None
    """From this stride on all surely are not; None: no end was seen."""


def reaches(costs: Costs) -> Iterator[Reach]:
    """One for each size of access that was measured in both orders, ascending."""
    measured = sizes_of(costs)
    for access in dict.fromkeys(access for access, _ in measured):
        shares = [
            (stride, share)
            for size, stride in measured
            if size == access and (share := prefetch_share(costs, (size, stride))) is not None
        ]
        if shares:
            yield reach_of(access, shares)


def reach_of(access_bytes: int, shares: Sequence[tuple[int, Estimate]]) -> Reach:
    """From strides, ascending, with the share of the random cost that each still costs."""
    known = [(stride, help_of(share)) for stride, share in shares]
    stops = None
    for stride, help_ in reversed(known):
        if help_ != "not helped":
            break
        stops = stride
    helped = [stride for stride, help_ in known if help_ == "helped"]
    return Reach(
        access_bytes=access_bytes,
        narrowest=known[0][0],
        widest=known[-1][0],
        helped=max(helped, default=None),
        stops=stops,
    )
