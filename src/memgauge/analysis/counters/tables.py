"""Software against hardware bandwidth as tables and a picture."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.counters import gpu as hardware_gpu
from memgauge.analysis.counters.bandwidth import (
    BOTH,
    READS,
    WRITES,
    HardwareBandwidth,
    Place,
    Traffic,
    bytes_per_repetition,
)
from memgauge.analysis.counters.routes import route_tables
from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.figures.run import scaled, stacked
from memgauge.analysis.section import Axis, Cell, Chart, Column, Table
from memgauge.analysis.statistics.intervals import stated
from memgauge.model.counting.events import Basis

QUESTION = "How many bytes does memory itself move for those that the program counts?"

TITLES: dict[Basis, tuple[str, str]] = {
    "measured": ("hardware", "by the memory controllers' counters"),
    "modelled": ("modelled", "as the kernels are modelled: not measured"),
    "simulated": ("simulated", "as simulated: not measured"),
}
RATE = 1e-6
"""Bytes a second to MB/s, STREAM's unit."""


def tables(every: Sequence[HardwareBandwidth]) -> list[Table]:
    """Kernels, sockets and controllers, of each basis in tables of their own."""
    made: list[Table] = []
    for basis, (name, source) in TITLES.items():
        mine = [found for found in every if found.counts.basis == basis]
        made += _tables([found for found in mine if not found.counts.kernel.gpu], name, source)
        on_gpu = [found for found in mine if found.counts.kernel.gpu]
        if on_gpu:
            made.append(hardware_gpu.table(on_gpu, name, _on_gpu(source)))
    return [*made, *route_tables(every)]


def _tables(mine: Sequence[HardwareBandwidth], name: str, source: str) -> list[Table]:
    made = [_kernels(mine, name, source)] if mine else []
    if any(len(found.places) > 1 for found in mine):
        made += [_sockets(mine, name), _places(mine, name)]
    return made


def _on_gpu(source: str) -> str:
    return source.replace("memory controllers'", "GPU's", 1)


def charts(every: Sequence[HardwareBandwidth]) -> list[Chart]:
    """A picture of each basis."""
    made = []
    for basis, (name, source) in TITLES.items():
        mine = [f for f in every if f.counts.basis == basis and f.hardware.total is not None]
        on_host = [found for found in mine if not found.counts.kernel.gpu]
        on_gpu = [found for found in mine if found.counts.kernel.gpu]
        if on_host:
            made.append(_chart(on_host, name, source))
        if on_gpu:
            made.append(hardware_gpu.chart(on_gpu, name, _on_gpu(source)))
    return made


def _kernels(every: Sequence[HardwareBandwidth], name: str, source: str) -> Table:
    return Table(
        name=f"{name}-bandwidth",
        title=f"Software and {name} bandwidth",
        columns=[
            Column(title="kernel"),
            Column(title="software", unit="MB/s", digits=2),
            Column(title="with write-allocate", unit="MB/s", digits=2, narrow=False),
            Column(title=name, unit="MB/s", digits=2),
            Column(title=f"{name} : software", digits=4),
            Column(title=f"{name} : with write-allocate", digits=4, narrow=False),
            Column(title="reads : writes", digits=2, narrow=False),
            Column(title="bytes an element", digits=2, narrow=False),
            Column(title="idle", unit="MB/s", digits=2, narrow=False),
            Column(title="regions", narrow=False),
            Column(title="repetitions", narrow=False),
            Column(title="by", narrow=False),
            Column(title="counters", narrow=False),
        ],
        rows=[_kernel_row(found) for found in every],
        note=f"MB/s = 1e6 bytes a second. Software: by STREAM's counting. {name.capitalize()}: "
        f"{source}, over the same seconds. Medians over regions with their 95% interval; the "
        "first repetition is left out. Idle: counted while the team was idle, not subtracted here.",
    )


def _kernel_row(found: HardwareBandwidth) -> list[Cell]:
    reads, writes = found.hardware.read, found.hardware.write
    total = bytes_per_repetition(found, (READS, WRITES, BOTH))
    apart = reads is not None and writes is not None and writes.value > 0
    return [
        found.counts.title,
        stated(scaled(found.software, RATE)),
        stated(scaled(found.allocated, RATE)),
        stated(scaled(found.hardware.total, RATE)),
        stated(found.ratio),
        stated(found.ratio_allocated),
        reads.value / writes.value if apart and reads and writes else None,
        total.value / found.counts.kernel.elements if total else None,
        hardware_gpu.middle(found.hardware.idle, RATE),
        len(found.counts.regions),
        found.repetitions,
        found.counts.back_end,
        _trust(found, found.places),
    ]


def _trust(found: HardwareBandwidth, places: Sequence[Place]) -> str:
    if found.counts.basis != "measured":
        return found.counts.basis
    if found.counts.published:
        return "published"
    return trust_in([counter for place in places for counter in place.counters])


def _traffic_columns() -> list[Column]:
    return [
        Column(title="reads", unit="MB/s", digits=2),
        Column(title="writes", unit="MB/s", digits=2),
        Column(title="sum", unit="MB/s", digits=2),
        Column(title="share", unit="%", digits=1),
        Column(title="idle", unit="MB/s", digits=2, narrow=False),
    ]


def _traffic_cells(traffic: Traffic, of: Traffic) -> list[Cell]:
    known = traffic.total is not None and of.total is not None and of.total.value > 0
    return [
        hardware_gpu.middle(traffic.read, RATE),
        hardware_gpu.middle(traffic.write, RATE),
        hardware_gpu.middle(traffic.total, RATE),
        traffic.total.value / of.total.value if known and traffic.total and of.total else None,
        hardware_gpu.middle(traffic.idle, RATE),
    ]


def _sockets(every: Sequence[HardwareBandwidth], name: str) -> Table:
    return Table(
        name=f"{name}-sockets",
        title="By socket",
        columns=[
            Column(title="kernel"),
            Column(title="socket"),
            Column(title="places", narrow=False),
            *_traffic_columns(),
            Column(title="estimate", narrow=False),
            Column(title="counters", narrow=False),
        ],
        rows=[
            [
                found.counts.title,
                "not known" if socket.socket is None else str(socket.socket),
                len(socket.places),
                *_traffic_cells(socket.traffic, found.hardware),
                socket.traffic.is_estimate,
                _trust(found, socket.places),
            ]
            for found in every
            for socket in found.sockets
        ],
        note="Share: of the traffic of all sockets.",
    )


def _places(every: Sequence[HardwareBandwidth], name: str) -> Table:
    return Table(
        name=f"{name}-controllers",
        title="By controller",
        columns=[
            Column(title="kernel", narrow=len(every) > 1),
            Column(title="controller"),
            Column(title="socket", narrow=any(len(found.sockets) > 1 for found in every)),
            Column(title="read count", narrow=False),
            Column(title="write count", narrow=False),
            Column(title="count of both", narrow=False),
            *_traffic_columns(),
            Column(title="estimate", narrow=False),
            Column(title="counters", narrow=False),
        ],
        rows=[
            [
                found.counts.title,
                place.name,
                "not known" if place.socket is None else str(place.socket),
                place.traffic.read_raw,
                place.traffic.write_raw,
                place.traffic.both_raw,
                *_traffic_cells(place.traffic, found.hardware),
                place.traffic.is_estimate,
                _trust(found, [place]),
            ]
            for found in every
            for place in found.places
        ],
        note="Counts: as they were read, over all regions. Sums of medians may differ from the "
        "median of sums within their intervals. Estimate: counted for a part of the time only.",
    )


def _chart(every: Sequence[HardwareBandwidth], name: str, source: str) -> Chart:
    """Three stacked bars for each kernel: program, program with write-allocate, hardware."""
    return Chart(
        name=f"{name}-bandwidth",
        title=f"Software and {name} bandwidth",
        kind="stack",
        x=Axis(title="Kernel", unit=""),
        y=Axis(title="Bandwidth", unit="MB/s", from_zero=True),
        series=stacked(row for found in every for row in _parts(found, name)),
        note=f"Software: what the program reads and writes; with write-allocate: also each line "
        f"that ordinary stores read first. {name.capitalize()}: {source}, by socket.",
    )


def _parts(found: HardwareBandwidth, name: str) -> list[tuple[str, str, float]]:
    """Bar, part and MB/s."""
    kernel, software = found.counts.kernel, found.software
    rows: list[tuple[str, str, float]] = []
    if software is None:
        return rows
    own = [("program reads", kernel.read_bytes), ("program writes", kernel.write_bytes)]
    first = ("reads before writes", kernel.allocated_bytes - kernel.counted_bytes)
    bars = {"software": own, "with write-allocate": [*own, first]}
    for bar, parts in bars.items():
        for part, bytes_ in parts:
            if bytes_:
                rate = software.value * bytes_ / kernel.counted_bytes
                rows.append((f"{found.counts.title}: {bar}", part, rate * RATE))
    for socket in found.sockets:
        where = "" if socket.socket is None else f", socket {socket.socket}"
        for way, estimate in socket.traffic.by_direction:
            rate = estimate.value * RATE
            rows.append((f"{found.counts.title}: {name}", f"{name} {way}{where}", rate))
    return rows
