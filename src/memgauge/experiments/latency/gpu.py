"""Idle latency on a GPU: how long does one load of one thread wait when nothing else is going on?

Question: load-to-use latency of the GPU's L1, its L2 and its memory, in ns and in cycles of the
multiprocessor.

Method: one thread follows a ring of addresses, so that each load waits for the one before; timed
inside the kernel by the GPU's own timer. L1: plain loads over 16 KiB, which every L1 since Volta
holds (the driver does not report its size). L2: ld.cg, which bypasses the L1, over an eighth of the
L2, read by all multiprocessors before, untimed. Memory: ld.cg over six times the L2, nodes 256
bytes apart, so that three times as many lines as the L2 holds lie between two loads of one; block
by block of 2 MiB, the driver's page, so that TLB misses are rare, and in fully random order.
Source: the pointer chase of lmbench (McVoy and Staelin, 1996); X. Mei and X. Chu, "Dissecting GPU
Memory Hierarchy Through Microbenchmarking", IEEE TPDS 2017; PTX ISA, cache operators and
%globaltimer.

What would invalidate it: other work on the GPU; a clock that is still rising or that the driver
lowers between samples (cycles show it); an L2 in partitions, of which one multiprocessor reaches
one later than the other: the figure is then the mean over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, ClassVar

from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import BY_TIMER, gpu_facts, refuse_host_options
from memgauge.experiments.shared.gpu_walks import (
    LINE_BYTES,
    PAGE_BYTES,
    GpuRing,
    GpuWalk,
    timer_warnings,
)
from memgauge.experiments.shared.rings import LatencyParameters, RingBench
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

if TYPE_CHECKING:
    from memgauge import _core

L1_BYTES = 16 << 10
L2_SHARE = 8
"""One over the share of the L2 that is walked: of an L2 in two partitions each holds it wholly."""
SWEEPS = 4

MEMORY_NODE_BYTES = 256
MEMORY_L2_MULTIPLE = 6
MEMORY_LEAST_BYTES = 64 << 20
MEMORY_SHARE = 16
"""One over the share of the device's memory that a ring may take. All three are as in `workingset`,
whose largest footprint then costs as much translation."""

HOPS = {"L1": 32_000, "L2": 4_000, "DRAM": 2_000}
"""Half a millisecond or more each."""
WARM_HOPS = {"L1": 4 * L1_BYTES // LINE_BYTES, "L2": 200, "DRAM": 200}


class LevelWalk(GpuWalk, frozen=True, kw_only=True):
    """A ring that is meant to hit one level of a GPU."""

    level: str

    @property
    def name(self) -> str:
        """Name of the point."""
        return f"latency/{self.level}/{self.order}"


class GpuLatencyGroup(Group, frozen=True, kw_only=True):
    """Rings in the memory of one GPU."""

    walks: Sequence[LevelWalk]
    """One for each point."""


def walks(facts: _core.GpuFacts) -> list[LevelWalk]:
    """One for each level; none through an L2 whose size the driver does not report."""
    found = [_walk("L1", L1_BYTES)]
    if facts.l2_bytes:
        lines = max(2, facts.l2_bytes // L2_SHARE // LINE_BYTES)
        found.append(_walk("L2", lines * LINE_BYTES))
    footprint = memory_footprint(facts)
    return found + [_walk("DRAM", footprint, order) for order in ("block-random", "random")]


def _walk(level: str, footprint_bytes: int, order: str = "random") -> LevelWalk:
    return LevelWalk(
        level=level,
        footprint_bytes=footprint_bytes,
        node_bytes=MEMORY_NODE_BYTES if level == "DRAM" else LINE_BYTES,
        order=order,
        through="l1" if level == "L1" else "l2",
        hops=HOPS[level],
        warm_hops=WARM_HOPS[level],
        sweeps=SWEEPS if level == "L2" else 0,
    )


def memory_footprint(facts: _core.GpuFacts) -> int:
    """Bytes of a ring whose loads go to memory; less where there is little of that."""
    wanted = max(MEMORY_LEAST_BYTES, MEMORY_L2_MULTIPLE * (facts.l2_bytes or 0))
    return max(
        PAGE_BYTES, min(wanted, facts.memory_bytes // MEMORY_SHARE) // PAGE_BYTES * PAGE_BYTES
    )


class GpuLatency(Experiment):
    """The `latency` experiment on a GPU."""

    name: ClassVar[str] = "latency"
    parameters: ClassVar[type[LatencyParameters]] = LatencyParameters

    def plan(self, parameters: LatencyParameters, system: System) -> list[GpuLatencyGroup]:
        """One group: few rings."""
        del system
        refuse_host_options(parameters)
        planned = walks(opened_gpu(parameters.memory).facts)
        return [
            GpuLatencyGroup(
                name=f"{len(planned)} rings on {parameters.memory}",
                points=[_point(walk, str(parameters.memory)) for walk in planned],
                bytes=sum(walk.footprint_bytes for walk in planned),
                walks=planned,
            )
        ]

    @contextmanager
    def open(
        self,
        group: GpuLatencyGroup,
        parameters: LatencyParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and link the rings on the device.

        Args:
            group: Rings of one GPU.
            parameters: What `group` was planned with; only `memory`, the GPU, is used.
            memories: Not used: the driver allocates the GPU's memory.
        """
        del memories
        gpu = opened_gpu(parameters.memory)
        facts = gpu_facts(gpu, BY_TIMER)
        with ExitStack() as stack:
            rings = [GpuRing(gpu, walk, stack) for walk in group.walks]
            yield RingBench(group.points, [(facts | ring.facts, ring.sample) for ring in rings])

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about a timer too coarse and, once, about an L2 that could not be measured.

        Args:
            point: Its actual facts hold the timer's step; the point of the L1 also warns of the L2.
            elapsed_ns: Time of each sample of the point; their median is compared with that step.
            system: Not used.
        """
        del system
        found = timer_warnings(point, elapsed_ns)
        level = LatencyRequested.of(point.requested).level
        if level == "L1" and GpuDevice.of(point.actual).l2_bytes is None:
            found.append(
                Warning(
                    code="l2-unknown",
                    message="the driver does not report the size of the L2; "
                    "its latency is not measured",
                    experiment="latency",
                )
            )
        return found


def _point(walk: LevelWalk, memory: str) -> Point:
    ring = walk.requested(memory)
    return Point(
        point=walk.name,
        experiment="latency",
        quantity="latency",
        requested=LatencyRequested(level=walk.level).recorded() | ring.recorded(),
        actual={},
        accesses=walk.hops,
    )
