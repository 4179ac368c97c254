"""Idle latency: how long does one load wait when nothing else is going on?

Question: load-to-use latency of each cache level and of memory, from each NUMA node to each, with
huge pages and with base pages, in ns and in cycles of the core.

Method: one pinned thread follows a ring of pointers, so that each load waits for the one before.
For a cache level the ring reaches every line of a footprint between that level's capacity and the
one above in random order. For memory the nodes lie 512 bytes apart, because a walk over every line
of a page also measures the prefetcher; linked block by block (2 MiB), so that TLB misses are rare,
and in fully random order, where each load also pays for its translation.
Source: the method of lmbench (McVoy and Staelin, 1996) and multichase.

What would invalidate it: a level that the host shares out to others (an L3 ring that does not fit
the share reads as memory), a frequency that changes under the walk, pages that went away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar, Self

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.importance import Importance, Part, Setup
from memgauge.experiments.shared.native import huge_pages_missing
from memgauge.experiments.shared.rings import (
    LatencyParameters,
    Ring,
    RingBench,
    Target,
    targets,
    work_of_walk,
)
from memgauge.model.memory import on_node
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.rings import RingActual
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import Touching

MEMORY = "DRAM"


class LatencyGroup(Group, frozen=True, kw_only=True):
    """Rings in one kind of pages, from one CPU to one node."""

    targets: Sequence[Target]
    """One for each point."""
    linkers: Sequence[int]
    """CPUs that link the rings in memory together."""
    importance: Importance = Importance.ESSENTIAL

    def parts(self) -> list[Part]:
        """Rings in caches, which are linked at once, and those in memory."""
        kinds: dict[bool, list[Target]] = {}
        for target in self.targets:
            kinds.setdefault(target.level == MEMORY, []).append(target)
        return [
            Part(
                importance=self.importance,
                points=[target.name for target in members],
                works=[work_of_walk(target) for target in members],
            )
            for members in kinds.values()
        ]

    def setup(self) -> Setup:
        """Rings are linked."""
        return Setup(linked_bytes=self.bytes, linkers=len(self.linkers))

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer rings."""
        chosen = [target for target in self.targets if target.name in names]
        return msgspec.structs.replace(
            self,
            points=[point for point in self.points if point.point in names],
            bytes=sum(target.footprint_bytes for target in chosen),
            targets=chosen,
        )


class Latency(Experiment):
    """The `latency` experiment."""

    name: ClassVar[str] = "latency"
    parameters: ClassVar[type[LatencyParameters]] = LatencyParameters

    def plan(self, parameters: LatencyParameters, system: System) -> list[LatencyGroup]:
        """One group for each page policy and pair of nodes."""
        parameters.refuse_teams("latency is measured by one thread at a time")
        groups: dict[tuple[str, int, int | None], list[Target]] = {}
        for target in targets(parameters, system):
            key = (target.pages, target.cpu, target.memory_node)
            groups.setdefault(key, []).append(target)
        first_pages = next(iter(groups))[0] if groups else ""
        touching = Touching(system)
        return [_group(members, first_pages, touching) for members in groups.values()]

    @contextmanager
    def open(
        self,
        group: LatencyGroup,
        parameters: LatencyParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and link the rings.

        Args:
            group: Rings in one kind of pages, from one CPU to one node.
            parameters: What `group` was planned with; `memory` applies to rings bound to no node.
            memories: Sources that the rings take their memory from.
        """
        with ExitStack() as stack:
            rings = _rings(group, parameters, memories, stack)
            yield RingBench(group.points, [(ring.facts, ring.sample_with_clock) for ring in rings])

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about huge pages that were requested and are not there.

        Args:
            point: Its requested and its actual pages are compared.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return huge_pages_missing(point)


def _rings(
    group: LatencyGroup, parameters: LatencyParameters, memories: Memories, stack: ExitStack
) -> list[Ring]:
    """In memory of the node that the targets are about, where they are about one."""
    linkers = _core.Team(group.linkers)
    rings = []
    for target in group.targets:
        node = target.memory_node
        memory = memories.of(parameters.memory if node is None else on_node(node))
        team = _core.Team([target.cpu])
        rings.append(Ring(team, target, stack, pages=target.pages, memory=memory, linkers=linkers))
    return rings


def _group(members: Sequence[Target], first_pages: str, touching: Touching) -> LatencyGroup:
    first = members[0]
    is_own = first.memory_node in {None, first.cpu_node}
    importance = Importance.LEVELS if is_own else Importance.PAIRS
    name = f"{first.pages} pages"
    if first.memory_node is not None:
        name += f", node {first.cpu_node} to node {first.memory_node}"
    return LatencyGroup(
        name=name,
        points=[_point(target) for target in members],
        bytes=sum(target.footprint_bytes for target in members),
        targets=members,
        linkers=touching.cpus(first.cpu, first.memory_node),
        importance=Importance.ESSENTIAL if is_own and first.pages == first_pages else importance,
    )


def _point(target: Target) -> Point:
    node = target.memory_node
    requested = LatencyRequested(
        level=target.level,
        footprint_bytes=target.footprint_bytes,
        node_bytes=target.node_bytes,
        order=target.order,
        pages=target.pages,
        cpu_node=target.cpu_node,
        memory_node=node,
        memory="" if node is None else str(on_node(node)),
    )
    return Point(
        point=target.name,
        experiment="latency",
        quantity="latency",
        requested=requested.recorded(),
        actual=RingActual(cpus=str(target.cpu)).recorded(),
        accesses=target.hops,
    )
