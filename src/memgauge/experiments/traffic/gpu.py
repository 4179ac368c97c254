"""Traffic on a GPU: what should a kernel read and write in its memory, and what is counted?

Question: that of `traffic`, of the same loop nests executed by a GPU's threads in its own memory:
bytes between the second-level cache and memory by size, expected in closed form and measured by the
GPU's counters.

Method: as on the host (`host`), an execution being a launch. How a nest is laid over threads is the
core's, see gpu/nests.hpp: a thread for each trip of the innermost loop, and of GEMV and GEMM for
each element of the result; no tiles, no shared memory. Sets of arrays are used in turn, so that an
execution finds nothing of the one before in the second-level cache. Counters are read around
regions, the device idle at both readings. Nothing is simulated: the cache model executes a nest in
order, as a core does.

What would invalidate it: other programs on the GPU; counters that are dead or mis-scaled:
`memgauge counters verify --memory cuda:N` finds these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.counted import gpu_counters, unless_refused
from memgauge.experiments.shared.gpu import UNKNOWN_L2_BYTES, gpu_facts, refuse_host_options
from memgauge.experiments.stream.gpu_counted import gpu_events
from memgauge.experiments.traffic.bench import TrafficBench
from memgauge.experiments.traffic.cold import POOL_SHARE, sets_in
from memgauge.experiments.traffic.cost import Preparation
from memgauge.experiments.traffic.host import noticed
from memgauge.experiments.traffic.machines import Machines
from memgauge.experiments.traffic.memory import MeasuredSize, Room, TrafficGroup, packed
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import Team, planned_size, planned_sizes
from memgauge.experiments.traffic.shapes import cap_for, divisible, resort_range
from memgauge.experiments.traffic.sizes import SizeRange
from memgauge.model.nests import KINDS
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import device_facts, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

_OF_CORES = (
    *("batched", "store_prefetch", "load_prefetch", "prefetch", "blas"),
    *("machine", "simulate_s", "simulate_only"),
)

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

    def plan(self, parameters: TrafficParameters, system: System) -> list[TrafficGroup]:
        """Sizes in one group, as far as the GPU's memory holds their arrays at once."""
        del system
        refuse_host_options(parameters, _OF_CORES)
        parameters.check()
        memory, machines = parameters.memory, Machines(of=[])
        facts = device_facts(memory)
        l2_bytes = facts.l2_bytes or UNKNOWN_L2_BYTES
        cap = parameters.cap or cap_for([l2_bytes]) if parameters.kernel == "gemv" else None
        team = Team(threads=1, per_socket=[1], cached_bytes=facts.l2_bytes, gpu=str(memory))
        swept = parameters.replace(sizes=parameters.sizes or (_default_sizes(parameters),))
        measured = [
            MeasuredSize(
                planned=one,
                sets=sets_in(one.array_bytes, 1, l2_bytes, int(facts.memory_bytes * POOL_SHARE)),
            )
            for one in planned_sizes(swept, machines, team, cap)
        ]
        probe = planned_size(parameters, machines, team, _probe_size(parameters), cap)
        room = Room(opened_gpu(memory).free_bytes, remedy="choose smaller ones")
        return packed(parameters, team, measured, probe, room)

    @contextmanager
    def open(
        self,
        group: TrafficGroup,
        parameters: TrafficParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Find the counters, allocate arrays for what the time allows, and open the counters.

        Args:
            group: One that `plan` returned.
            parameters: Those that the group was planned with.
            memories: Not used; all arrays lie in the GPU's memory.
        """
        del memories
        memory, requested = parameters.memory, parameters.counters
        gpu = opened_gpu(memory)
        with ExitStack() as stack:
            events, why_not = unless_refused(requested, lambda names: gpu_events(names, memory))
            preparation = Preparation(
                group=group,
                parameters=parameters,
                allocate=lambda spec, copies: _core.GpuNest(gpu, spec, copies),
                facts=gpu_facts(gpu),
            )
            points, ready = preparation.prepare(stack)
            # Last: what was found out takes no counter, and a profiler's session sees no
            # allocation or compilation.
            counters = None
            if events:
                opened = gpu_counters(gpu, events, name=f"traffic/{memory}")
                counters, why_not = unless_refused(requested, lambda _: stack.enter_context(opened))
            yield TrafficBench(points, ready, counters, why_not)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Sizes that would take too long, and sets of arrays that the cache may still hold.

        Args:
            point: The point of one size.
            elapsed_ns: Not used; the facts of the point suffice.
            system: Not used either.
        """
        del elapsed_ns, system
        return list(noticed(point))


def _default_sizes(parameters: TrafficParameters) -> SizeRange:
    kernel = parameters.kernel
    if KINDS[kernel].is_resort:
        return resort_range(parameters, *_RESORT)
    return SizeRange(_FIRST[kernel], _LAST[kernel]) if kernel in _LAST else _STREAMS


def _probe_size(parameters: TrafficParameters) -> int:
    if KINDS[parameters.kernel].is_resort:
        return divisible(parameters, _RESORT_PROBE)
    return _PROBES.get(parameters.kernel, _STREAM_PROBE)
