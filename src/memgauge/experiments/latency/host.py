"""Idle latency: how long does one load wait when nothing else is going on?

Question: load-to-use latency of each cache level and of memory, from each NUMA node to each, with
huge pages and with base pages, in ns and in cycles of the core.

Method: one pinned thread follows a ring of pointers, so that each load waits for the one before.
For a cache level the ring visits every line of a footprint between that level's capacity and the
one above in random order. For memory the nodes lie 512 bytes apart, because a walk over every line
of a page also measures the prefetcher; visited block by block (2 MiB), so that TLB misses are rare,
and in fully random order, where each load also pays for its translation.
Source: the method of lmbench (McVoy and Staelin, 1996) and multichase.

What would invalidate it: a level that the host shares out to others (an L3 ring that does not fit
the share reads as memory), a frequency that changes under the walk, pages that went away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import backing_facts, huge_pages_missing, to_sample
from memgauge.experiments.shared.rings import (
    BLOCK_BYTES,
    LatencyParameters,
    Target,
    targets,
)
from memgauge.model.memory import on_node
from memgauge.model.records import Point, Sample, Scalar, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories


class LatencyBench(Bench):
    """Rings of one group, each with its own buffer."""

    def __init__(
        self, rings: Mapping[str, tuple[Target, _core.Team, _core.ChaseRing]], points: list[Point]
    ) -> None:
        self._rings = rings
        self.points = points

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a little further, and take the core's clock beside it."""
        target, team, ring = self._rings[point]
        taken = ring.run(target.hops, target.warm_hops, sweeps=target.sweeps)
        return [to_sample(point, round_, taken, cycles_per_ns=team.core_cycles_per_ns())]


class Latency(Experiment):
    """The `latency` experiment."""

    name: ClassVar[str] = "latency"
    parameters: ClassVar[type[LatencyParameters]] = LatencyParameters

    def plan(self, parameters: LatencyParameters, system: System) -> list[Group]:
        """One group for each page policy and pair of nodes."""
        parameters.refuse_teams("latency is measured by one thread at a time")
        found = targets(parameters, system)
        keys = dict.fromkeys((one.pages, one.cpu, one.memory_node) for one in found)
        return [
            _group([one for one in found if (one.pages, one.cpu, one.memory_node) == key])
            for key in keys
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: LatencyParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and link the rings."""
        wanted = {point.point for point in group.points}
        rings: dict[str, tuple[Target, _core.Team, _core.ChaseRing]] = {}
        points: list[Point] = []
        with ExitStack() as stack:
            for target in targets(parameters, system):
                if target.name not in wanted:
                    continue
                team = _core.Team([target.cpu])
                ring = _core.ChaseRing(
                    team,
                    target.footprint_bytes,
                    node_bytes=target.node_bytes,
                    block_bytes=BLOCK_BYTES if target.order == "block-random" else 0,
                    order=target.order,
                    pages=target.pages,
                    memory=_source(target, parameters, memories),
                )
                stack.callback(ring.close)
                rings[target.name] = (target, team, ring)
                got = backing_facts([ring.backing()], target.pages)
                points.append(_point(target, got))
            yield LatencyBench(rings, points)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Huge pages asked for and not got."""
        del samples, system
        return huge_pages_missing(point)


def _source(target: Target, parameters: LatencyParameters, memories: Memories) -> _core.Memory:
    """Of the node that the target is about, where it is about one."""
    own = target.memory_node
    return memories.of(parameters.memory if own is None else on_node(own))


def _requested_memory(target: Target) -> dict[str, Scalar]:
    """Nothing where it is what the parameters say."""
    return {} if target.memory_node is None else {"memory": str(on_node(target.memory_node))}


def _group(members: Sequence[Target]) -> Group:
    first = members[0]
    name = f"{first.pages} pages"
    if first.memory_node is not None:
        name += f", node {first.cpu_node} to node {first.memory_node}"
    total = sum(target.footprint_bytes for target in members)
    return Group(
        name=name,
        points=[_point(target, {}) for target in members],
        bytes=total,
    )


def _point(target: Target, got: Mapping[str, Scalar]) -> Point:
    return Point(
        point=target.name,
        experiment="latency",
        quantity="latency",
        requested={
            "level": target.level,
            "footprint_bytes": target.footprint_bytes,
            "node_bytes": target.node_bytes,
            "order": target.order,
            "pages": target.pages,
            "cpu_node": target.cpu_node,
            "memory_node": target.memory_node,
            **_requested_memory(target),
        },
        actual={"cpus": str(target.cpu), **got},
        accesses=target.hops,
    )
