"""Traffic on a GPU: what should a kernel read and write in its memory, and what is counted?

Question: that of `traffic`, of the same loop nests executed by a GPU's threads in its own memory:
bytes between the second-level cache and memory by size, expected in closed form and measured by the
GPU's counters.

Method: as on the host (`nest_traffic`), an execution being a launch. How a nest is laid over
threads is the core's, see gpu/nests.hpp: a thread for each trip of the innermost loop, and of GEMV
and GEMM for each element of the result; no tiles, no shared memory. Sets of arrays are used in
turn, so that an execution finds nothing of the one before in the second-level cache. Counters are
read around regions, the device idle at both readings. Nothing is simulated: the cache model
executes a nest in order, as a core does.

What would invalidate it: other programs on the GPU; counters that are dead or mis-scaled:
`memgauge counters verify --memory cuda:N` tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.counted import TeamCounters, gpu_counters
from memgauge.experiments.shared.gpu import UNKNOWN_L2_BYTES, gpu_facts, refuse_host_options
from memgauge.experiments.stream.gpu_counted import gpu_events
from memgauge.experiments.traffic.bench import TrafficBench
from memgauge.experiments.traffic.cold import POOL_SHARE, Sets, sets_in
from memgauge.experiments.traffic.cost import Preparation
from memgauge.experiments.traffic.host import NOT_COUNTED, noticed
from memgauge.experiments.traffic.machines import Machines
from memgauge.experiments.traffic.memory import packed_into
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import Team, points_of, spec_of, with_facts
from memgauge.experiments.traffic.shapes import cap_for
from memgauge.experiments.traffic.sizes import SizeRange
from memgauge.model.counting.event_names import AUTOMATIC, NONE
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused
from memgauge.model.memory import MemoryPlacement
from memgauge.model.nests import KINDS, STUDY_GRID
from memgauge.model.records import Point, Sample, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import device_facts, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

_OF_CORES = ("batched", "store_prefetch", "machine", "simulate_s", "simulate_only")

_LAST = {"gemm": 4096, "gemv": 16384, "transpose": 16384, "strided-copy": 1 << 23}
_FIRST = {"gemm": 64, "gemv": 64, "transpose": 64, "strided-copy": 1024}
_STREAMS = SizeRange(1 << 16, 1 << 27)
_RESORT = (64, 1024)
"""Sizes beyond which the second-level cache of 50 MiB keeps nothing that is needed again."""

_PROBES = {"gemm": 512, "gemv": 2048, "transpose": 2048}
_RESORT_PROBE, _STREAM_PROBE = 128, 1 << 20
"""Of which an execution takes a millisecond at most, and a launch is little of it."""


class GpuNestTraffic(Experiment):
    """The `traffic` experiment in a GPU's memory."""

    name: ClassVar[str] = "traffic"
    parameters: ClassVar[type[TrafficParameters]] = TrafficParameters

    def plan(self, parameters: TrafficParameters, system: System) -> list[Group]:
        """Sizes in one group, as far as the GPU's memory holds their arrays at once."""
        del system
        refuse_host_options(parameters, _OF_CORES)
        parameters.check()
        memory = parameters.memory
        sized = [(point, _sets_of(point, memory)) for point in _points(parameters)]
        return packed_into(
            parameters, str(memory), sized, opened_gpu(memory).free_bytes, "choose smaller ones"
        )

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: TrafficParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Find the counters, allocate arrays for what the time allows, and open the counters."""
        del system, memories
        memory = parameters.memory
        gpu = opened_gpu(memory)
        with ExitStack() as stack:
            events, why_not = _events(parameters)
            preparation = Preparation(
                allocate=lambda point, copies: _core.GpuNest(gpu, spec_of(point), copies),
                sets=lambda point: _sets_of(point, memory),
                backing=lambda _: {},
                repetitions=parameters.repetitions,
                total_s=(parameters.size_budget_s or 0.0) * len(group.points),
            )
            points, ready = preparation.prepare(stack, group.points, _probe(parameters, group))
            # Last: what was found out takes no counter, and a profiler's session sees no
            # allocation or compilation.
            counters, why_not = _opened(stack, gpu, events, parameters, why_not)
            facts = gpu_facts(gpu)
            points = [with_facts(point, facts) for point in points]
            points[0] = with_facts(points[0], {NOT_COUNTED: why_not})
            known = {point.point: point for point in points}
            ready = [msgspec.structs.replace(r, point=known[r.point.point]) for r in ready]
            yield TrafficBench(points, ready, counters)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Sizes that would take too long, and sets of arrays that the cache may still hold."""
        del samples, system
        return list(noticed(point))


def _l2_bytes(memory: MemoryPlacement) -> int | None:
    return device_facts(memory).l2_bytes


def _points(parameters: TrafficParameters) -> list[Point]:
    """By rising size."""
    memory = parameters.memory
    l2_bytes = _l2_bytes(memory)
    requested = parameters
    if requested.sizes is None:
        requested = requested.replace(sizes=(_default_sizes(requested),))
    if requested.kernel == "gemv" and requested.cap is None:
        requested = requested.replace(cap=cap_for([l2_bytes or UNKNOWN_L2_BYTES]))
    team = Team(threads=1, cpus=[], per_socket=[1], cached_bytes=l2_bytes)
    (points,) = points_of(requested, Machines(of=[]), [team])
    return [_on_gpu(point, memory) for point in points]


def _on_gpu(point: Point, memory: MemoryPlacement) -> Point:
    """A point of one thread as one of a GPU."""
    of_host = {"batched", "pages", "memory"}
    requested = {name: value for name, value in point.requested.items() if name not in of_host}
    return msgspec.structs.replace(
        point,
        point=point.point.removesuffix("/1t") + f"/{memory}",
        requested=requested | {"memory": str(memory)},
        bytes_moved=point.bytes_counted,
    )


def _default_sizes(parameters: TrafficParameters) -> SizeRange:
    kernel = parameters.kernel
    if KINDS[kernel].is_resort:
        divisor = (parameters.grid or STUDY_GRID).divisor
        first, last = (-(-size // divisor) * divisor for size in _RESORT)
        return SizeRange(first, last)
    return SizeRange(_FIRST[kernel], _LAST[kernel]) if kernel in _LAST else _STREAMS


def _sets_of(point: Point, memory: MemoryPlacement) -> Sets:
    """How many sets of its arrays a point uses in turn."""
    facts = device_facts(memory)
    arrays = [array.bytes for array in spec_of(point).arrays]
    room = int(facts.memory_bytes * POOL_SHARE)
    return sets_in(arrays, 1, facts.l2_bytes or UNKNOWN_L2_BYTES, room)


def _probe(parameters: TrafficParameters, group: Group) -> Point | None:
    """A small size that tells the speed, where the first is not small itself."""
    kernel = parameters.kernel
    small = _PROBES.get(kernel, _STREAM_PROBE)
    if KINDS[kernel].is_resort:
        divisor = (parameters.grid or STUDY_GRID).divisor
        small = -(-_RESORT_PROBE // divisor) * divisor
    if int(str(group.points[0].requested["size"])) <= small:
        return None
    (point,) = _points(parameters.replace(sizes=(SizeRange(small, small),)))
    return point


def _events(parameters: TrafficParameters) -> tuple[list[Event], str | None]:
    """Counters as asked; where nothing was, those of the GPU's memory, or why there are none.

    Raises:
        RequestError, UnknownEvent: an event that makes no sense here.
        CounterRefused: `auto` was asked for, and none may be opened.
    """
    requested = parameters.counters
    if requested == (NONE,):
        return [], "--counters none"
    try:
        return gpu_events(requested or (AUTOMATIC,), parameters.memory), None
    except CounterRefused as error:
        if requested is not None:
            raise
        return [], str(error)


def _opened(
    stack: ExitStack,
    gpu: _core.Gpu,
    events: list[Event],
    parameters: TrafficParameters,
    why_not: str | None,
) -> tuple[TeamCounters | None, str | None]:
    """The counters, or why there are none; raises CounterRefused where they were asked for."""
    if not events:
        return None, why_not
    try:
        opened = gpu_counters(gpu, events, name=f"traffic/{parameters.memory}")
        return stack.enter_context(opened), None
    except CounterRefused as error:
        if parameters.counters is not None:
            raise
        return None, str(error)
