"""Transfers, and the host's threads beside them, as plain data, for `--json`."""

from __future__ import annotations

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.transfers.beside import Beside, besides
from memgauge.analysis.transfers.figures import AtOnce, Duplex, Line, duplexes_of, lines_of, time_ns
from memgauge.analysis.transfers.link import claimed_link


class SizeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Transfers of one size."""

    bytes: int
    bandwidth: Figure | None
    """GB/s, 90th percentile of speed."""
    time_ns: Figure | None
    """Of one transfer, back to back with others."""


class ModelFigures(msgspec.Struct, frozen=True, kw_only=True):
    """t = (n + half_bytes) / asymptote, fitted."""

    asymptote: Figure | None
    """GB/s."""
    half_bytes: Figure | None
    start_up_ns: Figure | None
    worst_bytes: int
    """The size that lies furthest from it, and by which share of its time."""
    worst: float
    followed: bool


class AtOnceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Both directions at once, with one size; GB/s, medians over passes."""

    bytes: int
    there: Figure | None
    """To the GPU, or to the peer."""
    back: Figure | None
    sum: Figure | None
    over_faster: Figure | None
    """Of the faster direction alone."""
    over_both: Figure | None
    """Of both directions alone, added."""


class TransferFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One direction between two memories, over the size of a transfer."""

    gpu: str
    host: str | None
    """pinned or pageable; None: the other end is a GPU."""
    peer: str | None
    direction: str
    host_memory: str | None
    node: int | None
    """Where the host's buffers lay; None: not known."""
    gpu_node: int | None
    sizes: list[SizeFigures]
    best_bytes: int | None
    half_of_best_bytes: Figure | None
    """From which size on half of the best bandwidth is reached, by the curve."""
    model: ModelFigures | None
    """None: too few sizes, or they follow none."""
    link: str | None
    """As sysfs reports it; None: not known, or transfers go another way."""
    link_gb_per_s: float | None
    at_once: list[AtOnceFigures]
    """With the other direction at work too; beside host-to-device and to-peer only."""


class BesideTransfersFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The host's threads beside transfers; GB/s, medians over passes."""

    work: str
    threads: int
    regime: str | None
    memory: str
    gpu: str
    transfer: str
    host_alone: Figure | None
    host: Figure | None
    host_keeps: Figure | None
    """Share of what the threads reach alone."""
    transfers_alone: Figure | None
    transfers: Figure | None
    transfers_keep: Figure | None
    host_memory_alone: Figure | None
    """Through the host's memory by the threads alone, write-allocate included;"""
    host_memory: Figure | None
    """and by both, each byte transferred once."""
    lost_per_transferred: float | None
    passes: int
    set_aside: int


def transfer_figures(figures: Figures) -> list[TransferFigures]:
    """Of a run; empty where it holds no transfers."""
    lines = lines_of(figures)
    duplexes = duplexes_of(figures, lines)
    host = [line for line in lines if line.way.host]
    return [_line(line, host, duplexes) for line in lines]


def _line(line: Line, host: list[Line], duplexes: list[Duplex]) -> TransferFigures:
    top, model, link = line.best, line.model, claimed_link(line, host)
    first = line.direction in {"host-to-device", "to-peer"}
    return TransferFigures(
        gpu=line.way.gpu,
        host=line.way.host or None,
        peer=line.way.peer or None,
        direction=line.direction,
        host_memory=line.requested.host_memory or None,
        node=line.actual.node,
        gpu_node=line.place.gpu_node,
        sizes=[
            SizeFigures(bytes=size, bandwidth=figure(one), time_ns=figure(time_ns(size, one)))
            for size, one in line.speeds.items()
        ],
        best_bytes=top[0] if top else None,
        half_of_best_bytes=figure(line.half),
        model=None
        if model is None
        else ModelFigures(
            asymptote=figure(model.asymptote),
            half_bytes=figure(model.half_bytes),
            start_up_ns=figure(model.start_up_ns),
            worst_bytes=model.worst_bytes,
            worst=model.worst,
            followed=model.is_followed,
        ),
        link=link.text if link else None,
        link_gb_per_s=link.gb_per_s if link else None,
        at_once=[
            _at_once(one)
            for duplex in duplexes
            if first and duplex.way == line.way
            for one in duplex.sizes
        ],
    )


def _at_once(one: AtOnce) -> AtOnceFigures:
    by = one.by_direction
    return AtOnceFigures(
        bytes=one.size,
        there=figure(by.get("host-to-device", by.get("to-peer"))),
        back=figure(by.get("device-to-host", by.get("from-peer"))),
        sum=figure(one.total),
        over_faster=figure(one.over_faster),
        over_both=figure(one.over_both),
    )


def beside_transfers_figures(figures: Figures) -> list[BesideTransfersFigures]:
    """Of a run; empty where it holds no such competition."""
    return [_beside(one) for one in besides(figures)]


def _beside(one: Beside) -> BesideTransfersFigures:
    return BesideTransfersFigures(
        work=one.work,
        threads=one.threads,
        regime=one.regime or None,
        memory=one.memory,
        gpu=one.gpu,
        transfer=one.transfer,
        host_alone=figure(one.host_alone),
        host=figure(one.host),
        host_keeps=figure(one.host_keeps),
        transfers_alone=figure(one.transfers_alone),
        transfers=figure(one.transfers),
        transfers_keep=figure(one.transfers_keep),
        host_memory_alone=figure(one.moved_alone),
        host_memory=figure(one.moved),
        lost_per_transferred=one.cost,
        passes=one.passes,
        set_aside=one.set_aside,
    )
