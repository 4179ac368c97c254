"""What `transfers` measures: its groups, which share buffers, and their passes and points."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.experiments.shared.base import Group
from memgauge.experiments.transfers.parameters import TransfersParameters
from memgauge.experiments.transfers.sizes import BUFFERS, iterations_of, repeats_of
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, on_gpu
from memgauge.model.points.transfers import TransfersActual, TransfersRequested
from memgauge.model.records import Point
from memgauge.model.units import bytes_text

AT_ONCE = {
    "both": ("host-to-device", "device-to-host"),
    "both-peers": ("to-peer", "from-peer"),
}
"""The two directions of transfers in both, in the order of their threads."""


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """Between which memories: the GPU's and the host's, or another GPU's."""

    gpu: MemoryPlacement
    host: str = ""
    """pinned or pageable; empty: the other end is a GPU."""
    peer: int | None = None

    @property
    def name(self) -> str:
        """In names of points, and of its group."""
        return self.host or f"peer-{self.peer}"


class SamplingPass(msgspec.Struct, frozen=True, kw_only=True):
    """One native call, and the points it gives samples of, in the order of its threads."""

    direction: str
    """As the core names it: one way, or both."""
    size: int
    points: list[Point]

    @property
    def iterations(self) -> int:
        """Stamps, each way."""
        return iterations_of(self.size, at_once=len(self.points) > 1)

    @property
    def repeats(self) -> int:
        """Transfers between two stamps."""
        return repeats_of(self.size)


class TransfersGroup(Group, frozen=True, kw_only=True):
    """Transfers between the same memories."""

    ends: Ends
    largest: int
    """Bytes of the largest transfer."""
    passes: list[SamplingPass]


def planned_group(
    parameters: TransfersParameters, ends: Ends, sizes: Sequence[int]
) -> TransfersGroup:
    """All transfers between two memories: every direction with every size.

    Args:
        parameters: As requested; the directions are taken that fit the kind of the other end.
        ends: The GPU, and the host's memory or the other GPU.
        sizes: Bytes of one transfer, rising; the last determines the size of the buffers.
    """
    directions = parameters.host_directions if ends.host else parameters.peer_directions
    passes = [
        _pass(parameters, ends, direction, size) for direction in directions for size in sizes
    ]
    other = parameters.host_memory if ends.peer is None else on_gpu(ends.peer)
    needed = dict.fromkeys((ends.gpu, other), BUFFERS * sizes[-1])
    return TransfersGroup(
        name=ends.name,
        points=[point for one in passes for point in one.points],
        bytes=sum(needed.values()),
        bytes_in=needed,
        ends=ends,
        largest=sizes[-1],
        passes=passes,
    )


def ends_of(
    parameters: TransfersParameters, shown: Sequence[int], device: int, direct: Sequence[int]
) -> list[Ends]:
    """All that was requested: kinds of host memory, then other GPUs.

    Args:
        parameters: what was requested.
        shown: numbers of the GPUs that the driver shows and that can be used.
        device: the number of the GPU.
        direct: numbers of those whose memory it reaches directly.

    Raises:
        RequestError: a peer is not there, or nothing is left to measure.
    """
    found: list[Ends] = []
    if parameters.host_directions:
        found += [Ends(gpu=parameters.memory, host=one) for one in parameters.host]
    if parameters.peer_directions:
        peers = _peers(parameters, [one for one in shown if one != device], device, direct)
        found += [Ends(gpu=parameters.memory, peer=peer) for peer in peers]
    if not found:
        raise RequestError(
            f"--direction {','.join(parameters.direction)}: {parameters.memory} has no other GPU "
            f"to transfer to or from here; ask for {', '.join(AT_ONCE['both'])} or both"
        )
    return found


def _peers(
    parameters: TransfersParameters, others: Sequence[int], device: int, direct: Sequence[int]
) -> list[int]:
    if parameters.peers is None:
        nearest = sorted(others, key=lambda one: (one not in direct, one < device, one))
        return list(others) if parameters.all_peers else nearest[:1]
    for peer in parameters.peers:
        if peer == device:
            raise RequestError(
                f"--peer {peer}: is {parameters.memory} itself; copies within one GPU are those of "
                f"memgauge stream --memory {parameters.memory} --kernel copy"
            )
        if peer not in others:
            there = ", ".join(map(str, others)) or "no other one"
            raise RequestError(
                f"--peer {peer}: the driver reports no such GPU besides {parameters.memory}, or "
                f"it cannot be used; it reports {there}"
            )
    return list(parameters.peers)


def _pass(parameters: TransfersParameters, ends: Ends, direction: str, size: int) -> SamplingPass:
    stem = f"transfers/{ends.name}/{direction}/{bytes_text(size)}"
    if direction not in AT_ONCE:
        only = _point(parameters, ends, direction, size, stem)
        return SamplingPass(direction=direction, size=size, points=[only])
    first, second = AT_ONCE[direction]
    leader = _point(parameters, ends, first, size, f"{stem}/{first}", at_once=True)
    other = _point(parameters, ends, second, size, f"{stem}/{second}", at_once=True)
    follower = msgspec.structs.replace(other, measured_with=leader.point)
    return SamplingPass(direction=direction, size=size, points=[leader, follower])


def _point(  # noqa: PLR0913 - all that distinguishes one
    parameters: TransfersParameters,
    ends: Ends,
    direction: str,
    size: int,
    name: str,
    *,
    at_once: bool = False,
) -> Point:
    repeats = repeats_of(size)
    return Point(
        point=name,
        experiment="transfers",
        quantity="bandwidth",
        requested=TransfersRequested(
            memory=str(ends.gpu),
            host=ends.host,
            peer="" if ends.peer is None else str(on_gpu(ends.peer)),
            direction=direction,
            at_once=at_once,
            transfer_bytes=size,
            host_memory=str(parameters.host_memory) if ends.host else "",
        ).recorded(),
        actual=TransfersActual(transfers_per_stamp=repeats).recorded(),
        bytes_counted=size * repeats,
        bytes_moved=size * repeats,
        work="window" if at_once else "fixed",
    )
