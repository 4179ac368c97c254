"""Idle latency on a GPU: how long does one load of one thread wait when nothing else is going on?

Question: load-to-use latency of the GPU's L1, its L2 and its memory, in ns and in cycles of the
multiprocessor.

Method: one thread follows a ring of addresses, so that each load waits for the one before; timed
inside the kernel by the GPU's own timer. L1: plain loads over 16 KiB, which every L1 since Volta
holds (the driver does not tell its size). L2: ld.cg, which passes the L1 by, over an eighth of the
L2, read by all multiprocessors before, untimed. Memory: ld.cg over six times the L2, nodes 256
bytes apart, so that three times as many lines as the L2 holds lie between two visits of one; block
by block of 2 MiB, the driver's page, so that TLB misses are rare, and in fully random order.
Source: the pointer chase of lmbench (McVoy and Staelin, 1996); X. Mei and X. Chu, "Dissecting GPU
Memory Hierarchy Through Microbenchmarking", IEEE TPDS 2017; PTX ISA, cache operators and
%globaltimer.

What would invalidate it: other work on the GPU; a clock that is still rising or that the driver
lowers between visits (cycles tell); an L2 in partitions, of which one multiprocessor reaches one
later than the other: the figure is then the mean over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, ClassVar

import msgspec

from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import BY_TIMER, gpu_facts, refuse_host_options
from memgauge.experiments.shared.gpu_walks import LINE_BYTES, PAGE_BYTES, Ring, Walk, timer_warnings
from memgauge.experiments.shared.rings import LatencyParameters
from memgauge.model.records import Point, Sample, Scalar, Warning
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


def walks(facts: _core.GpuFacts) -> dict[str, Walk]:
    """By name of their points; none through an L2 of which the driver does not tell the size."""
    found = {"latency/L1/random": _walk("L1", L1_BYTES)}
    if facts.l2_bytes:
        lines = max(2, facts.l2_bytes // L2_SHARE // LINE_BYTES)
        found["latency/L2/random"] = _walk("L2", lines * LINE_BYTES)
    for order in ("block-random", "random"):
        found[f"latency/DRAM/{order}"] = msgspec.structs.replace(
            _walk("DRAM", memory_footprint(facts)), node_bytes=MEMORY_NODE_BYTES, order=order
        )
    return found


def _walk(level: str, footprint_bytes: int) -> Walk:
    return Walk(
        footprint_bytes=footprint_bytes,
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


class GpuLatencyBench(Bench):
    """Rings in the memory of one GPU."""

    def __init__(self, rings: Mapping[str, Ring], points: list[Point]) -> None:
        self._rings = rings
        self.points = points

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a little further."""
        return [self._rings[point].sample(point, round_)]


class GpuLatency(Experiment):
    """The `latency` experiment on a GPU."""

    name: ClassVar[str] = "latency"
    parameters: ClassVar[type[LatencyParameters]] = LatencyParameters

    def plan(self, parameters: LatencyParameters, system: System) -> list[Group]:
        """One group: few rings."""
        del system
        refuse_host_options(parameters)
        facts = opened_gpu(parameters.memory).facts
        planned = walks(facts)
        return [
            Group(
                name=f"{len(planned)} rings on {parameters.memory}",
                points=[_point(name, walk, parameters, {}) for name, walk in planned.items()],
                bytes=sum(walk.footprint_bytes for walk in planned.values()),
            )
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: LatencyParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and link the rings on the device."""
        del system, memories
        gpu = opened_gpu(parameters.memory)
        facts = gpu_facts(gpu, BY_TIMER)
        planned = walks(gpu.facts)
        with ExitStack() as stack:
            rings = {point.point: Ring(gpu, planned[point.point], stack) for point in group.points}
            points = [
                _point(name, planned[name], parameters, facts | ring.facts)
                for name, ring in rings.items()
            ]
            yield GpuLatencyBench(rings, points)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """A timer too coarse, and an L2 that could not be measured, said once."""
        del system
        found = timer_warnings(point, samples)
        if point.requested["level"] == "L1" and point.actual.get("l2_bytes") is None:
            found.append(
                Warning(
                    code="l2-unknown",
                    message="the driver does not report the size of the L2; "
                    "its latency is not measured",
                    experiment="latency",
                )
            )
        return found


def _point(
    name: str, walk: Walk, parameters: LatencyParameters, got: Mapping[str, Scalar]
) -> Point:
    return Point(
        point=name,
        experiment="latency",
        quantity="latency",
        requested={"level": name.split("/")[1], **walk.requested, "memory": str(parameters.memory)},
        actual=dict(got),
        accesses=walk.hops,
    )
