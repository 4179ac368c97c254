"""Software against hardware bandwidth: totals of counted bytes by place, and their ratios.

A figure is the median over regions with its 95% interval. Software and hardware bandwidth are of
the same seconds, so that their ratio is one of bytes and owes nothing to the clock. Nothing is
subtracted here: what others moved is in the hardware's figures, and `idle` shows how much that is.
Source: the published comparison of STREAM's software and hardware bandwidth on DMC-620 controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from memgauge.analysis.counters.figures import CountedRegion, HardwareCounts
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.counting.events import Counter, Quantity

READS: Quantity = "read_bytes"
WRITES: Quantity = "write_bytes"
BOTH: Quantity = "traffic_bytes"


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """What some counters together saw. Bandwidths are in bytes a second."""

    read: Estimate | None
    """None: no counter distinguishes reads, or they could not be read."""
    write: Estimate | None
    total: Estimate | None
    """Reads, writes and what is counted of both together."""
    idle: Estimate | None
    """Of all, while the machine was left alone; None: not measured."""
    read_raw: int | None
    """Counts over all regions, before any scale."""
    write_raw: int | None
    both_raw: int | None
    is_estimate: bool
    """Some shared their hardware and are scaled up."""

    @property
    def by_direction(self) -> list[tuple[str, Estimate]]:
        """What is known of reads and writes; both together where no counter distinguishes them."""
        ways = [("reads", self.read), ("writes", self.write)]
        if self.read is None and self.write is None:
            ways = [("reads and writes", self.total)]
        return [(way, estimate) for way, estimate in ways if estimate is not None]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A controller, or whatever else counts by itself."""

    name: str
    socket: int | None
    counters: list[Counter]
    traffic: Traffic


class Socket(msgspec.Struct, frozen=True, kw_only=True):
    """All places of one socket."""

    socket: int | None
    """None: those whose socket is not known."""
    places: list[Place]
    traffic: Traffic


class HardwareBandwidth(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel: what the program counts against what memory moved."""

    counts: HardwareCounts
    software: Estimate | None
    """Bytes a second by STREAM's counting,"""
    allocated: Estimate | None
    """with each line read first that ordinary stores read first (write-allocate),"""
    hardware: Traffic
    """and by the counters, of all places."""
    sockets: list[Socket]
    ratio: Estimate | None
    """Hardware over software,"""
    ratio_allocated: Estimate | None
    """and over software with write-allocate."""
    missing: list[str]
    """Counters that could not be read in any region: no sum holds them."""

    @property
    def places(self) -> list[Place]:
        """Of all sockets."""
        return [place for socket in self.sockets for place in socket.places]

    @property
    def repetitions(self) -> int:
        """Of the kernel, over all regions."""
        return sum(region.repetitions for region in self.counts.regions)


def hardware_bandwidth(counts: HardwareCounts) -> HardwareBandwidth:
    """Totals and ratios of one kernel's regions."""
    regions, kernel = counts.regions, counts.kernel
    missing = [c.name for c in counts.counters if all(r.counts[c.name] is None for r in regions)]
    counters = [counter for counter in counts.counters if counter.name not in missing]
    total = _rate(counters, (READS, WRITES, BOTH))
    return HardwareBandwidth(
        counts=counts,
        software=_over(regions, lambda r: r.repetitions * kernel.counted_bytes / r.seconds),
        allocated=_over(regions, lambda r: r.repetitions * kernel.allocated_bytes / r.seconds),
        hardware=_traffic(counters, counts),
        sockets=_sockets(counters, counts),
        ratio=_over(regions, _share(total, kernel.counted_bytes)),
        ratio_allocated=_over(regions, _share(total, kernel.allocated_bytes)),
        missing=missing,
    )


def bytes_per_repetition(
    found: HardwareBandwidth, quantities: Sequence[Quantity], *, less_idle: bool = False
) -> Estimate | None:
    """Bytes that all counters of these quantities saw in one repetition: the median of regions.

    Args:
        found: Counts of one kernel.
        quantities: What to add up: any of `READS`, `WRITES`, and `BOTH` (not told apart).
        less_idle: Whether to take off what the idle machine moves in that time, where known.
    """
    return sustained(bytes_of_regions(found, quantities, less_idle=less_idle), 0.5)


def bytes_of_regions(
    found: HardwareBandwidth, quantities: Sequence[Quantity], *, less_idle: bool = False
) -> list[float]:
    """Bytes that all counters of these quantities saw in one repetition, of each region.

    Regions in which a counter could not be read are left out.

    Args:
        found: Counts of one kernel.
        quantities: What to add up: any of `READS`, `WRITES`, and `BOTH` (not told apart).
        less_idle: Whether to take off the median rate of the idle regions, where it is known, over
            the time of each region.
    """
    rate = _rate_of(found, quantities)
    idle = idle_rate(found, quantities) if less_idle else None
    off = idle.value if idle is not None else 0.0
    return [
        (bandwidth - off) * region.seconds / region.repetitions
        for region in found.counts.regions
        if region.repetitions and (bandwidth := rate(region)) is not None
    ]


def rates_of_regions(
    found: HardwareBandwidth, quantities: Sequence[Quantity]
) -> list[float | None]:
    """Bytes a second that all counters of these quantities saw in each region, in their order.

    None for a region in which one could not be read, and for all where there is no such counter.
    """
    rate = _rate_of(found, quantities)
    return [rate(region) for region in found.counts.regions]


def idle_rate(found: HardwareBandwidth, quantities: Sequence[Quantity]) -> Estimate | None:
    """Bytes a second that the same counters saw of others; None where they could not be read."""
    return _over(found.counts.idle, _rate_of(found, quantities))


def _rate_of(
    found: HardwareBandwidth, quantities: Sequence[Quantity]
) -> Callable[[CountedRegion], float | None]:
    return _rate([c for c in found.counts.counters if c.name not in found.missing], quantities)


def _share(
    rate: Callable[[CountedRegion], float | None], bytes_: int
) -> Callable[[CountedRegion], float | None]:
    def share(region: CountedRegion) -> float | None:
        moved = rate(region)
        if moved is None or not region.repetitions:
            return None
        return moved * region.seconds / (region.repetitions * bytes_)

    return share


def _rate(
    counters: Sequence[Counter], quantities: Sequence[Quantity]
) -> Callable[[CountedRegion], float | None]:
    """Bytes a second of all counters of these quantities; None where there is none or one lacks."""
    names = [counter.name for counter in counters if counter.quantity in quantities]

    def rate(region: CountedRegion) -> float | None:
        values = [one.value for name in names if (one := region.counts[name]) is not None]
        if not names or len(values) < len(names) or region.seconds <= 0:
            return None
        return sum(values) / region.seconds

    return rate


def _over(
    regions: Iterable[CountedRegion], of: Callable[[CountedRegion], float | None]
) -> Estimate | None:
    """The median over regions in their order."""
    return sustained([value for region in regions if (value := of(region)) is not None], 0.5)


def _traffic(counters: Sequence[Counter], counts: HardwareCounts) -> Traffic:
    def rate(*quantities: Quantity) -> Estimate | None:
        return _over(counts.regions, _rate(counters, quantities))

    def raw(quantity: Quantity) -> int | None:
        names = [counter.name for counter in counters if counter.quantity == quantity]
        found = [one.raw for r in counts.regions for n in names if (one := r.counts[n]) is not None]
        return sum(found) if found else None

    every = [r.counts[counter.name] for r in counts.regions for counter in counters]
    return Traffic(
        read=rate(READS),
        write=rate(WRITES),
        total=rate(READS, WRITES, BOTH),
        idle=_over(counts.idle, _rate(counters, (READS, WRITES, BOTH))),
        read_raw=raw(READS),
        write_raw=raw(WRITES),
        both_raw=raw(BOTH),
        is_estimate=any(one.is_estimate for one in every if one is not None),
    )


def _sockets(counters: Sequence[Counter], counts: HardwareCounts) -> list[Socket]:
    """Places by socket, in their order; those of no known socket last."""
    grouped: dict[int | None, dict[str, list[Counter]]] = {}
    for counter in counters:
        of_socket = grouped.setdefault(counter.socket, {})
        of_socket.setdefault(counter.controller or counter.instance, []).append(counter)
    order = sorted(grouped, key=lambda socket: (socket is None, socket or 0))
    return [_socket(socket, grouped[socket], counts) for socket in order]


def _socket(socket: int | None, places: dict[str, list[Counter]], counts: HardwareCounts) -> Socket:
    return Socket(
        socket=socket,
        places=[
            Place(name=name, socket=socket, counters=mine, traffic=_traffic(mine, counts))
            for name, mine in sorted(places.items())
        ],
        traffic=_traffic([c for mine in places.values() for c in mine], counts),
    )
