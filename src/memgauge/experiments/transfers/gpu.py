"""Transfers: how fast does data get to a GPU and back, and from one GPU to another?

Question: bandwidth from the host's memory to a GPU's and back, and both ways at once, over the
bytes of one transfer; the time that the smallest take; the size from which on half of the bandwidth
is reached; what pinned memory gains; and the same between GPUs, where there are several.

Method: the driver's own copies, which copy engines do: of small ones 256, of larger ones 16 MiB in
all, back to back in a stream, stamped by events of the GPU, of small ones after every sixteen. They
are queued before the first begins, so that what the host needs to launch one is in no figure. The
driver copies pageable memory through pinned memory of its own, piece by piece, and holds the thread
that called it: there the host's clock is read around each. Both ways at once are two streams, begun
together (two threads for pageable memory); what counts is what was done while both were at work.
All sizes, ends and directions are measured in turn. Contents are compared at the end.
Source: Hockney and Jesshope, "Parallel Computers 2" (1988), for r_inf and n_1/2.

What would invalidate it: host memory on another node than the GPU's; a link that is slower than it
could be, for power or for want of lanes; other programs' transfers on the same link or switch;
several GPUs behind one switch; an I/O MMU that translates each page; pages that the driver has to
copy first (pageable memory: that is what is measured there).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.experiments.transfers.parameters import TransfersParameters
from memgauge.experiments.transfers.place import looked_at
from memgauge.experiments.transfers.plan import (
    Ends,
    SamplingPass,
    TransfersGroup,
    ends_of,
    planned_group,
)
from memgauge.experiments.transfers.sizes import transfer_sizes
from memgauge.model.errors import NotPossibleHere
from memgauge.model.memory import on_gpu
from memgauge.model.points.transfers import TransfersActual
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import gpu_driver, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories


class TransfersBench(Bench):
    """Buffers at both ends, and what is transferred between them."""

    def __init__(
        self, name: str, transfers: _core.GpuTransfers, passes: Sequence[SamplingPass]
    ) -> None:
        self._name = name
        self._transfers = transfers
        self._passes = {one.points[0].point: one for one in passes}
        self.points = [point for one in passes for point in one.points]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """One row of transfers of one size; of both directions where they are at work at once.

        Nothing where the GPU had to wait for the host to queue them: that is another time.
        """
        one = self._passes[point]
        taken = self._transfers.run(
            one.direction, one.size, iterations=one.iterations, repeats=one.repeats
        )
        return [] if self._transfers.host_was_slower else samples_of(one.points, round_, taken)

    def validate(self) -> list[Validation]:
        """What arrived is what was sent."""
        return [to_validation("transfers", self._name, self._transfers.validate())]


def samples_of(points: Sequence[Point], round_: int, taken: _core.Slice) -> list[Sample]:
    """A sample of each point; several also record the time in which all directions were at work.

    Args:
        points: Points of the sampling pass, one for each direction.
        round_: Number of the round that the pass belongs to.
        taken: What the native call returned: a thread for each direction, in the order of `points`.
    """
    whole = to_sample(points[0].point, round_, taken)
    if len(points) == 1:
        return [whole]
    begin = max(thread.begin_ns[0] for thread in whole.threads)
    end = min(thread.end_ns[-1] for thread in whole.threads)
    window = (begin, end) if begin < end else None
    return [
        msgspec.structs.replace(whole, point=point.point, threads=[thread], window_ns=window)
        for point, thread in zip(points, whole.threads, strict=True)
    ]


class Transfers(Experiment):
    """The `transfers` experiment."""

    name: ClassVar[str] = "transfers"
    parameters: ClassVar[type[TransfersParameters]] = TransfersParameters

    def plan(self, parameters: TransfersParameters, system: System) -> list[TransfersGroup]:
        """One group for each kind of host memory, and for each other GPU."""
        if not parameters.memory.is_gpu:
            raise NotPossibleHere(
                "transfers: measures transfers to and from a GPU, and --memory "
                f"{parameters.memory} is not a GPU; name one, such as --memory cuda:0"
            )
        refuse_host_options(parameters)
        gpu = opened_gpu(parameters.memory)
        sizes = transfer_sizes(parameters, gpu.free_bytes, system.available_bytes)
        usable = [facts.index for facts in gpu_driver().devices if not facts.error]
        ends = ends_of(parameters, usable, gpu.facts.index, gpu.peers())
        return [planned_group(parameters, one, sizes) for one in ends]

    @contextmanager
    def open(
        self,
        group: TransfersGroup,
        parameters: TransfersParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and fill the buffers, and look at the link while it is in use.

        Args:
            group: All transfers between the same two memories.
            parameters: What `group` was planned with; its GPU and its `host_memory` are used.
            memories: Sources of the host's buffers; not used for transfers to another GPU.
        """
        gpu, ends = opened_gpu(parameters.memory), group.ends
        with ExitStack() as stack:
            transfers = _opened(gpu, ends, parameters, memories, group.largest)
            stack.callback(transfers.close)
            facts = gpu_facts(gpu) | _other_end(transfers, gpu, ends, group.largest)
            yield TransfersBench(group.name, transfers, _completed(group.passes, facts))

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about transfers that never count.

        Args:
            point: A point measured with another one is left out: the other's warning covers both.
            elapsed_ns: Time of each sample of the point; empty if no sampling pass counted.
            system: Not used.
        """
        del system
        if elapsed_ns or point.measured_with is not None:
            return []
        return [
            Warning(
                code="no-transfers-counted",
                message=(
                    f"{point.point} has no usable sample: either there was no time for one, or the "
                    "host queued these transfers more slowly than the GPU made them"
                ),
                remedy="increase --budget, or measure when the host is quiet",
                experiment="transfers",
                point=point.point,
            )
        ]


def _opened(
    gpu: _core.Gpu,
    ends: Ends,
    parameters: TransfersParameters,
    memories: Memories,
    largest: int,
) -> _core.GpuTransfers:
    if ends.peer is not None:
        return _core.GpuTransfers(gpu, largest, peer=opened_gpu(on_gpu(ends.peer)))
    memory = memories.of(parameters.host_memory)
    return _core.GpuTransfers(gpu, largest, host=ends.host, memory=memory)


def _other_end(
    transfers: _core.GpuTransfers, gpu: _core.Gpu, ends: Ends, largest: int
) -> dict[str, Scalar]:
    """The host's buffers and the link; of a peer whether it is reached directly."""
    if ends.peer is not None:
        other = opened_gpu(on_gpu(ends.peer)).facts
        return TransfersActual(
            peer_gpu=other.name, peer_uuid=other.uuid, direct=transfers.direct
        ).recorded()
    backing = backing_facts(transfers.backing(), "auto")
    return backing | looked_at(transfers, gpu.facts.bus_id, largest, queued=ends.host == "pinned")


def _completed(passes: Sequence[SamplingPass], facts: Mapping[str, Scalar]) -> list[SamplingPass]:
    replace = msgspec.structs.replace
    return [
        replace(one, points=[replace(p, actual={**p.actual, **facts}) for p in one.points])
        for one in passes
    ]
