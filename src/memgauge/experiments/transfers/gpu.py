"""Transfers: how fast does data get to a GPU and back, and from one GPU to another?

Question: bandwidth from the host's memory to a GPU's and back, and both ways at once, over the
bytes of one transfer; the time that the smallest take; the size from which on half of the bandwidth
is reached; what pinned memory gains; and the same between GPUs, where there are several.

Method: the driver's own copies, which copy engines do: of small ones 256, of larger ones 16 MiB in
all, back to back in a stream, stamped by events of the GPU, of small ones after every sixteen. They
are queued before the first begins, so that what the host needs to launch one is in no figure. The
driver copies pageable memory through pinned memory of its own, piece by piece, and holds the thread
that asked: there the host's clock is read around each. Both ways at once are two streams, begun
together (two threads for pageable memory); what counts is what was done while both were at work.
All sizes, ends and directions are visited in turn. Contents are compared at the end.
Source: Hockney and Jesshope, "Parallel Computers 2" (1988), for r_inf and n_1/2.

What would invalidate it: host memory on another node than the GPU's; a link that is slower than it
could be, for power or for want of lanes; other programs' transfers on the same link or switch;
several GPUs behind one switch; an I/O MMU that translates each page; pages that the driver has to
copy first (pageable memory: that is what is asked there).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.experiments.transfers.parameters import HOSTS, TransfersParameters
from memgauge.experiments.transfers.place import looked_at
from memgauge.experiments.transfers.plan import Ends, SamplingPass, ends_of, planned_visits
from memgauge.experiments.transfers.sizes import transfer_sizes
from memgauge.model.errors import NotPossibleHere
from memgauge.model.memory import on_gpu
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import gpu_driver, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories


class TransfersBench(Bench):
    """Buffers at both ends, and what is transferred between them."""

    def __init__(
        self, name: str, transfers: _core.GpuTransfers, visits: Sequence[SamplingPass]
    ) -> None:
        self._name = name
        self._transfers = transfers
        self._visits = {visit.points[0].point: visit for visit in visits}
        self.points = [point for visit in visits for point in visit.points]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """One row of transfers of one size; of both directions where they are at work at once.

        Nothing where the GPU had to wait for the host to queue them: that is another time.
        """
        visit = self._visits[point]
        taken = self._transfers.run(
            visit.direction, visit.size, iterations=visit.iterations, repeats=visit.repeats
        )
        return [] if self._transfers.host_was_slower else samples_of(visit.points, round_, taken)

    def validate(self) -> list[Validation]:
        """What arrived is what was sent."""
        return [to_validation("transfers", self._name, self._transfers.validate())]


def samples_of(points: Sequence[Point], round_: int, taken: _core.Slice) -> list[Sample]:
    """A sample of each point, each of its own thread; of several the time in which all were."""
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

    def plan(self, parameters: TransfersParameters, system: System) -> list[Group]:
        """One group for each kind of host memory, and for each other GPU."""
        if not parameters.memory.is_gpu:
            raise NotPossibleHere(
                "transfers: measures what goes to and from a GPU, and --memory "
                f"{parameters.memory} is none; name one, such as --memory cuda:0"
            )
        refuse_host_options(parameters)
        gpu = opened_gpu(parameters.memory)
        sizes = transfer_sizes(parameters, gpu.free_bytes, system.available_bytes)
        ends = ends_of(parameters, _usable(), gpu.facts.index, gpu.peers())
        return [_group(parameters, one, sizes) for one in ends]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: TransfersParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and fill the buffers, and look at the link while it is in use."""
        del system
        gpu = opened_gpu(parameters.memory)
        sizes = sorted({int(str(point.requested["transfer_bytes"])) for point in group.points})
        ends = _ends_of(group, parameters)
        with ExitStack() as stack:
            transfers = _opened(gpu, ends, parameters, memories, sizes[-1])
            stack.callback(transfers.close)
            facts = gpu_facts(gpu) | _got(transfers, gpu, ends, sizes[-1])
            visits = [_with(visit, facts) for visit in planned_visits(parameters, ends, sizes)]
            yield TransfersBench(ends.name, transfers, visits)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Transfers that never count."""
        del system
        if samples or point.measured_with is not None:
            return []
        return [
            Warning(
                code="no-transfers-counted",
                message=(
                    f"no visit of {point.point} counts: either none was made in the time given, or "
                    "the host queued these transfers more slowly than the GPU made them"
                ),
                remedy="give more --budget, or measure when the host is quiet",
                experiment="transfers",
                point=point.point,
            )
        ]


def _usable() -> list[int]:
    return [facts.index for facts in gpu_driver().devices if not facts.error]


def _group(parameters: TransfersParameters, ends: Ends, sizes: Sequence[int]) -> Group:
    needed = ends.bytes_in(parameters, sizes[-1])
    return Group(
        name=ends.name,
        points=[
            point for visit in planned_visits(parameters, ends, sizes) for point in visit.points
        ],
        bytes=sum(needed.values()),
        bytes_in=needed,
    )


def _ends_of(group: Group, parameters: TransfersParameters) -> Ends:
    """Of a planned group again."""
    for host in parameters.host:
        if group.name == host:
            return Ends(gpu=parameters.memory, host=host, peer=None)
    return Ends(gpu=parameters.memory, host=None, peer=int(group.name.rpartition("-")[2]))


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
    return _core.GpuTransfers(gpu, largest, host=ends.host or HOSTS[0], memory=memory)


def _got(
    transfers: _core.GpuTransfers, gpu: _core.Gpu, ends: Ends, largest: int
) -> dict[str, Scalar]:
    """Of the host's buffers and of the link; of a peer whether it is reached directly."""
    if ends.peer is not None:
        other = opened_gpu(on_gpu(ends.peer)).facts
        return {
            "peer_gpu": other.name,
            "peer_uuid": other.uuid,
            "direct": transfers.direct,
        }
    backing = backing_facts(transfers.backing(), "auto")
    return backing | looked_at(transfers, gpu.facts.bus_id, largest, queued=ends.host == "pinned")


def _with(visit: SamplingPass, facts: Mapping[str, Scalar]) -> SamplingPass:
    points = [
        msgspec.structs.replace(point, actual={**point.actual, **facts}) for point in visit.points
    ]
    return msgspec.structs.replace(visit, points=points)
