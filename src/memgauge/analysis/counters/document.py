"""Software against hardware bandwidth as plain data, for `--json`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.counters.bandwidth import (
    READS,
    WRITES,
    HardwareBandwidth,
    Place,
    Socket,
    Traffic,
)
from memgauge.analysis.counters.gpu import ratio_of
from memgauge.analysis.counters.routes import ratio_to_first
from memgauge.analysis.counters.verdicts import allocation_share
from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.document_figure import Figure, figure
from memgauge.model.counting.calibration import calibrations_of
from memgauge.model.counting.events import Basis


class TrafficFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What some counters together saw, in bytes a second."""

    read_bytes_per_s: Figure | None
    write_bytes_per_s: Figure | None
    total_bytes_per_s: Figure | None
    """Reads, writes, and what is counted of both together."""
    idle_bytes_per_s: Figure | None
    """Of all, while the team slept; subtracted nowhere. None: not measured."""
    is_estimate: bool
    """Some counters ran for a part of the time and are scaled up."""


class PlaceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One controller, or whatever else counts by itself."""

    name: str
    events: list[str]
    read_count: int | None
    """Raw, over all regions."""
    write_count: int | None
    count_of_both: int | None
    traffic: TrafficFigures
    trust: str
    """What verification said of its counters."""
    calibrations: list[float]
    """Factors that verification found and that are contained in the figures; empty: none are."""


class SocketFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All places of one socket."""

    socket: int | None
    """None: those whose socket is not known."""
    traffic: TrafficFigures
    places: list[PlaceFigures]


class HardwareFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel: what the program counts against what memory moved."""

    kernel: str
    memory: str | None
    """Of the GPU that ran it, such as `cuda:0`; None: ordinary memory of the host."""
    back_end: str
    basis: Basis
    published: bool
    software_bytes_per_s: Figure | None
    """By STREAM's counting,"""
    software_allocated_bytes_per_s: Figure | None
    """and with each line read first that ordinary stores read first."""
    hardware: TrafficFigures
    hardware_to_software: Figure | None
    hardware_to_software_allocated: Figure | None
    hardware_to_software_reads: Figure | None
    """Of reads alone, over those of the kernel; None: none, or they are not distinguished."""
    hardware_to_software_writes: Figure | None
    allocation_share: Figure | None
    """Of the lines written and not read by the kernel, those read first; without idle traffic."""
    sockets: list[SocketFigures]
    elements: int
    """Of one repetition."""
    repetitions: int
    regions: int
    idle_regions: int
    set_aside: int
    missing: list[str]
    """Counters that could not be read; in no sum."""
    trust: str
    calibrations: list[float]
    """As of each place."""
    notes: list[str]
    first_route: str | None = None
    """Back end that was named before this one and counted the same regions; None: none was,"""
    hardware_to_first_route: Figure | None = None
    """and what this one counted over that, reads and writes together."""


def hardware_figures(
    found: HardwareBandwidth, every: Sequence[HardwareBandwidth] = ()
) -> HardwareFigures:
    """One kernel as data.

    Args:
        found: The kernel by one route.
        every: All kernels by all routes, among which other routes to this one are looked for.
    """
    counts = found.counts
    beside = ratio_to_first(found, every)
    return HardwareFigures(
        kernel=counts.kernel.name,
        memory=counts.kernel.gpu or None,
        back_end=counts.back_end,
        basis=counts.basis,
        published=counts.published,
        software_bytes_per_s=figure(found.software),
        software_allocated_bytes_per_s=figure(found.allocated),
        hardware=_traffic(found.hardware),
        hardware_to_software=figure(found.ratio),
        hardware_to_software_allocated=figure(found.ratio_allocated),
        hardware_to_software_reads=figure(ratio_of(found, READS)),
        hardware_to_software_writes=figure(ratio_of(found, WRITES)),
        allocation_share=figure(allocation_share(found)) if counts.basis == "measured" else None,
        sockets=[_socket(socket) for socket in found.sockets],
        elements=counts.kernel.elements,
        repetitions=found.repetitions,
        regions=len(counts.regions),
        idle_regions=len(counts.idle),
        set_aside=counts.set_aside,
        missing=found.missing,
        trust=trust_in(counts.counters),
        calibrations=calibrations_of(counts.counters),
        notes=counts.notes,
        first_route=beside.first if beside else None,
        hardware_to_first_route=figure(beside.ratio) if beside else None,
    )


def _traffic(traffic: Traffic) -> TrafficFigures:
    return TrafficFigures(
        read_bytes_per_s=figure(traffic.read),
        write_bytes_per_s=figure(traffic.write),
        total_bytes_per_s=figure(traffic.total),
        idle_bytes_per_s=figure(traffic.idle),
        is_estimate=traffic.is_estimate,
    )


def _socket(socket: Socket) -> SocketFigures:
    return SocketFigures(
        socket=socket.socket,
        traffic=_traffic(socket.traffic),
        places=[_place(place) for place in socket.places],
    )


def _place(place: Place) -> PlaceFigures:
    return PlaceFigures(
        name=place.name,
        events=[counter.event for counter in place.counters],
        read_count=place.traffic.read_raw,
        write_count=place.traffic.write_raw,
        count_of_both=place.traffic.both_raw,
        traffic=_traffic(place.traffic),
        trust=trust_in(place.counters),
        calibrations=calibrations_of(place.counters),
    )
