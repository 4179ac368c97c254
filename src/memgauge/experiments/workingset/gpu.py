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

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import (
    BY_EVENTS,
    BY_TIMER,
    UNKNOWN_L2_BYTES,
    gpu_facts,
    refuse_host_options,
)
from memgauge.experiments.shared.gpu_walks import LINE_BYTES, Ring, Walk, timer_warnings
from memgauge.experiments.shared.native import to_sample
from memgauge.experiments.workingset.host import (
    LEAST_BYTES,
    LEAST_LARGEST_BYTES,
    WorkingsetParameters,
    footprints,
    require_largest,
)
from memgauge.model.records import Point, Sample, Scalar, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

KIB = 1 << 10
MIB = 1 << 20
L2_MULTIPLE = 6
"""Three footprints beyond twice the L2, so that memory shows as a plateau of its own."""
MEMORY_SHARE = 16
"""One over the share of the device's memory that the largest footprint may be."""

SWEEPS = 4
L1_AT_MOST_BYTES = 512 * KIB
"""Twice the largest L1 there is."""
NEAR_HOPS, FAR_HOPS = 24_000, 4_000
"""Half a millisecond or more, of what an L1 may hold and of what it may not."""
FAR_WARM_HOPS = 1_000

READ_BYTES_PER_MULTIPROCESSOR = 32 * MIB
"""In one visit: a millisecond or more, beside which a launch is little."""
LEAST_READ_BYTES_PER_MULTIPROCESSOR = 16 * KIB
"""A block of 256 threads that load four times 16 bytes."""
ELEMENT_BYTES = 8


def largest_footprint(parameters: WorkingsetParameters, facts: _core.GpuFacts) -> int:
    """Six times the L2, as far as the memory has room, or as asked.

    Raises:
        RequestError: less was asked for than the smallest footprint.
    """
    wanted = max(LEAST_LARGEST_BYTES, L2_MULTIPLE * (facts.l2_bytes or 0))
    largest = require_largest(parameters) or min(wanted, facts.memory_bytes // MEMORY_SHARE)
    return max(LEAST_BYTES, largest // KIB * KIB)


def walk_over(footprint_bytes: int, l2_bytes: int | None) -> Walk:
    """How the ring of a footprint is warmed and walked."""
    near = footprint_bytes <= L1_AT_MOST_BYTES
    held = footprint_bytes <= 2 * (l2_bytes or UNKNOWN_L2_BYTES)
    return Walk(
        footprint_bytes=footprint_bytes,
        hops=NEAR_HOPS if near else FAR_HOPS,
        warm_hops=2 * footprint_bytes // LINE_BYTES if near else FAR_WARM_HOPS,
        sweeps=SWEEPS if held else 0,
    )


class GpuWorkingsetBench(Bench):
    """One array to read prefixes of, and one ring for each footprint."""

    def __init__(
        self,
        points: list[Point],
        rings: Mapping[str, Ring],
        arrays: _core.GpuStreamArrays,
        spec: _core.GpuKernelSpec,
    ) -> None:
        self.points = points
        self._rings = rings
        self._arrays = arrays
        self._spec = spec
        self._reads = {point.point: point for point in points if point.bytes_counted}

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a ring, or read a prefix."""
        if point in self._rings:
            return [self._rings[point].sample(point, round_)]
        footprint = _footprint(self._reads[point])
        taken = self._arrays.run(
            self._spec,
            prefix_elements=footprint // ELEMENT_BYTES,
            repeats=self._reads[point].bytes_counted // footprint,
        )
        return [to_sample(point, round_, taken)]


class GpuWorkingset(Experiment):
    """The `workingset` experiment on a GPU."""

    name: ClassVar[str] = "workingset"
    parameters: ClassVar[type[WorkingsetParameters]] = WorkingsetParameters

    def plan(self, parameters: WorkingsetParameters, system: System) -> list[Group]:
        """One group: the curve is one curve."""
        del system
        refuse_host_options(parameters)
        points = planned(parameters, opened_gpu(parameters.memory).facts)
        sizes = [_footprint(point) for point in points if point.quantity == "latency"]
        return [
            Group(
                name=f"{len(sizes)} footprints on {parameters.memory}",
                points=points,
                bytes=sum(sizes) + 3 * sizes[-1],
            )
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: WorkingsetParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate the array and link all rings on the device."""
        del system, memories
        gpu = opened_gpu(parameters.memory)
        largest = max(_footprint(point) for point in group.points)
        spec = _core.gpu_default_tuned_spec("read")
        with ExitStack() as stack:
            arrays = _core.GpuStreamArrays(gpu, largest // ELEMENT_BYTES)
            stack.callback(arrays.close)
            rings: dict[str, Ring] = {}
            points: list[Point] = []
            for point in group.points:
                if point.requested["access"] == "read":
                    points.append(_with(point, gpu_facts(gpu, BY_EVENTS)))
                    continue
                walk = walk_over(_footprint(point), gpu.facts.l2_bytes)
                ring = rings[point.point] = Ring(gpu, walk, stack)
                points.append(_with(point, gpu_facts(gpu, BY_TIMER) | ring.facts))
            yield GpuWorkingsetBench(points, rings, arrays, spec)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """A timer too coarse for a walk."""
        del system
        return timer_warnings(point, samples)


def planned(parameters: WorkingsetParameters, facts: _core.GpuFacts) -> list[Point]:
    """Latency over all footprints, then reads over those that give every multiprocessor work."""
    largest = largest_footprint(parameters, facts)
    sizes = footprints(largest, 2 * (facts.l2_bytes or UNKNOWN_L2_BYTES))
    least = LEAST_READ_BYTES_PER_MULTIPROCESSOR * facts.multiprocessors
    memory = str(parameters.memory)
    return [
        *(_walked(size, walk_over(size, facts.l2_bytes), memory) for size in sizes),
        *(_read(size, facts.multiprocessors, memory) for size in sizes if size >= least),
    ]


def _walked(footprint_bytes: int, walk: Walk, memory: str) -> Point:
    return Point(
        point=f"workingset/latency/{footprint_bytes}",
        experiment="workingset",
        quantity="latency",
        requested={"access": "latency", **walk.requested, "memory": memory},
        actual={},
        accesses=walk.hops,
    )


def _read(footprint_bytes: int, multiprocessors: int, memory: str) -> Point:
    repeats = max(1, READ_BYTES_PER_MULTIPROCESSOR * multiprocessors // footprint_bytes)
    return Point(
        point=f"workingset/read/{memory}/{footprint_bytes}",
        experiment="workingset",
        quantity="bandwidth",
        requested={"access": "read", "footprint_bytes": footprint_bytes, "memory": memory},
        actual={},
        bytes_counted=repeats * footprint_bytes,
        bytes_moved=repeats * footprint_bytes,
    )


def _footprint(point: Point) -> int:
    return int(point.point.rsplit("/", 1)[1])


def _with(point: Point, facts: Mapping[str, Scalar]) -> Point:
    return msgspec.structs.replace(point, actual=dict(facts))
