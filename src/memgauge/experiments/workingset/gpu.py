"""Working set on a GPU: what do latency and read bandwidth become as the data grows?

Question: over footprints from 4 KiB to six times the L2, how long does a load of one thread wait,
and how fast can the whole GPU read; where are the levels, and how large are they really?

Method: for each footprint a ring over all its lines in random order, walked by one thread through
the L1 and timed inside the kernel (latency); and repeated reads of a prefix of one array by
all multiprocessors, the L1 passed by, within one launch (bandwidth), from the footprint on that
gives each of them something to do. Before each walk all of the footprint is read four times by all
multiprocessors, untimed, up to twice the L2; a footprint that an L1 may hold is then walked twice.
The levels are found afterwards from the curve of latency.
Source: the memory mountain (Bryant and O'Hallaron); X. Mei and X. Chu, "Dissecting GPU Memory
Hierarchy Through Microbenchmarking", IEEE TPDS 2017.

What would invalidate it: other work on the GPU; an L2 in partitions, in which lines may lie twice,
so that less seems to fit; translation, which large footprints pay for as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.gpu import (
    BY_EVENTS,
    BY_TIMER,
    UNKNOWN_L2_BYTES,
    gpu_facts,
    refuse_host_options,
)
from memgauge.experiments.shared.gpu_walks import LINE_BYTES, GpuRing, GpuWalk, timer_warnings
from memgauge.experiments.shared.rings import RingBench
from memgauge.experiments.workingset.plan import (
    CACHE_MULTIPLE,
    ELEMENT_BYTES,
    KIB,
    LEAST_LARGEST_BYTES,
    SWEEPS,
    WorkingsetGroup,
    WorkingsetParameters,
    bytes_of,
    footprints,
    largest_footprint,
    read_point,
    reads_of,
    sampling,
    walk_point,
)
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.points.rings import RingRequested
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

MEMORY_SHARE = 16
"""One over the share of the device's memory that the largest footprint may be."""

L1_AT_MOST_BYTES = 512 * KIB
"""Twice the largest L1 there is."""
NEAR_HOPS, FAR_HOPS = 24_000, 4_000
"""Half a millisecond or more, of what an L1 may hold and of what it may not."""
FAR_WARM_HOPS = 1_000

READ_BYTES_PER_MULTIPROCESSOR = 32 << 20
"""In one sampling pass: a millisecond or more, beside which a launch is little."""
LEAST_READ_BYTES_PER_MULTIPROCESSOR = 16 * KIB
"""A block of 256 threads that load four times 16 bytes."""


class GpuWorkingsetGroup(WorkingsetGroup, frozen=True, kw_only=True):
    """The footprints of one GPU."""

    walks: Sequence[GpuWalk]


def largest_on_gpu(parameters: WorkingsetParameters, facts: _core.GpuFacts) -> int:
    """Six times the L2, as far as the memory has room, or as requested."""
    wanted = max(LEAST_LARGEST_BYTES, CACHE_MULTIPLE * (facts.l2_bytes or 0))
    return largest_footprint(parameters, min(wanted, facts.memory_bytes // MEMORY_SHARE), KIB)


def walk_over(footprint_bytes: int, l2_bytes: int | None) -> GpuWalk:
    """How the ring of a footprint is warmed and walked."""
    near = footprint_bytes <= L1_AT_MOST_BYTES
    held = footprint_bytes <= 2 * (l2_bytes or UNKNOWN_L2_BYTES)
    return GpuWalk(
        footprint_bytes=footprint_bytes,
        hops=NEAR_HOPS if near else FAR_HOPS,
        warm_hops=2 * footprint_bytes // LINE_BYTES if near else FAR_WARM_HOPS,
        sweeps=SWEEPS if held else 0,
    )


class GpuWorkingset(Experiment):
    """The `workingset` experiment on a GPU."""

    name: ClassVar[str] = "workingset"
    parameters: ClassVar[type[WorkingsetParameters]] = WorkingsetParameters

    def plan(self, parameters: WorkingsetParameters, system: System) -> list[GpuWorkingsetGroup]:
        """One group: the curve is one curve; reads only where every multiprocessor has work."""
        del system
        refuse_host_options(parameters)
        facts = opened_gpu(parameters.memory).facts
        many, l2_bytes = facts.multiprocessors, facts.l2_bytes
        largest = largest_on_gpu(parameters, facts)
        sizes = footprints(largest, 2 * (l2_bytes or UNKNOWN_L2_BYTES))
        read_sizes = [size for size in sizes if size >= LEAST_READ_BYTES_PER_MULTIPROCESSOR * many]
        walks = [walk_over(size, l2_bytes) for size in sizes]
        reads = reads_of(read_sizes, READ_BYTES_PER_MULTIPROCESSOR * many)
        memory = str(parameters.memory)
        requested, where = RingRequested(memory=memory), f"workingset/read/{memory}"
        return [
            GpuWorkingsetGroup(
                name=f"{len(sizes)} footprints on {memory}",
                points=[
                    *(walk_point(walk, walk.requested(memory), GpuDevice()) for walk in walks),
                    *(read_point(where, read, requested, GpuDevice()) for read in reads),
                ],
                bytes=bytes_of(sizes),
                walks=walks,
                reads=reads,
                elements=largest // ELEMENT_BYTES,
            )
        ]

    @contextmanager
    def open(
        self,
        group: GpuWorkingsetGroup,
        parameters: WorkingsetParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate the array and link all rings on the device.

        Args:
            group: All footprints of one GPU.
            parameters: What `group` was planned with; only `memory`, the GPU, is used.
            memories: Not used: the driver allocates the GPU's memory.
        """
        del memories
        gpu = opened_gpu(parameters.memory)
        by_timer, by_events = gpu_facts(gpu, BY_TIMER), gpu_facts(gpu, BY_EVENTS)
        with ExitStack() as stack:
            arrays = _core.GpuStreamArrays(gpu, group.elements)
            stack.callback(arrays.close)
            run = partial(arrays.run, _core.gpu_default_tuned_spec("read"))
            rings = [GpuRing(gpu, walk, stack) for walk in group.walks]
            yield RingBench(
                group.points,
                [
                    *((by_timer | ring.facts, ring.sample) for ring in rings),
                    *((by_events, sampling(run, read)) for read in group.reads),
                ],
            )

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about a timer too coarse for a walk.

        Args:
            point: Its actual facts hold the timer's step; points of read bandwidth have none.
            elapsed_ns: Time of each sample of the point; their median is compared with that step.
            system: Not used.
        """
        del system
        return timer_warnings(point, elapsed_ns)
