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

import msgspec

from memgauge import _core
from memgauge.experiments.base import Bench, Group
from memgauge.experiments.native import backing_facts, to_sample
from memgauge.model.errors import RequestError
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import Cache, System
from memgauge.system.placement import caches_of, cpus_for

MIB = 1 << 20
BLOCK_BYTES = 2 * MIB
MEMORY_NODE_BYTES = 512
MEMORY_LEAST_BYTES = 256 * MIB
MEMORY_CACHE_MULTIPLE = 4
"""A ring touches every eighth line. All rings of a run together touch more lines than the
last-level caches hold, and each is walked on from where it was, so that no load finds its line
left over from the visit before."""

SWEEPS = 4
"""Reads of a whole ring, in order, before each walk of one that should sit in a cache. A walk in
random order does not bring a ring back into a last-level cache that adapts its insertion."""

WARM_HOPS = 4_000
WARM_MULTIPLE = 3
"""Halves of the level above that are walked after the sweeps. What they left there would be hit;
what the walk leaves there is not visited again before the whole ring is."""

LINE_BYTES = 64

SLICE_HOPS = {"L1": 40_000, "L2": 20_000, "L3": 10_000, "L4": 4_000, "DRAM": 2_000}


class LatencyParameters(CommonParameters, frozen=True, kw_only=True):
    """What `latency` takes."""

    takes_threads: ClassVar[bool] = False


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One ring to walk: what it is meant to hit, and how."""

    level: str
    footprint_bytes: int
    node_bytes: int
    order: str
    pages: str
    cpu: int
    cpu_node: int
    memory_node: int | None

    @property
    def name(self) -> str:
        """Name of the point."""
        parts = ["latency", self.level, self.order, self.pages]
        if self.memory_node is not None:
            parts.append(f"node{self.cpu_node}-node{self.memory_node}")
        return "/".join(parts)

    @property
    def hops(self) -> int:
        """Loads of one visit: a fraction of a millisecond."""
        return SLICE_HOPS[self.level]

    above_bytes: int = 0
    """Of the cache level above the one that is meant."""

    @property
    def sweeps(self) -> int:
        """Of the whole ring, where it should sit in a cache."""
        return 0 if self.level == "DRAM" else SWEEPS

    @property
    def warm_hops(self) -> int:
        """As many as make the level above forget the end of the sweep."""
        if self.level == "DRAM":
            return 0
        return max(WARM_HOPS, self.above_bytes * WARM_MULTIPLE // (LINE_BYTES * 2))


def targets(parameters: LatencyParameters, system: System) -> list[Target]:
    """Every ring this machine can be asked about."""
    cpu = cpus_for(parameters.cpus, 1, system)[0]
    found: list[Target] = []
    for pages in _page_policies(parameters, system):
        found += [
            Target(
                level=level,
                footprint_bytes=footprint,
                above_bytes=above,
                node_bytes=LINE_BYTES,
                order="random",
                pages=pages,
                cpu=cpu,
                cpu_node=_node_of(cpu, system),
                memory_node=parameters.memory.node,
            )
            for level, footprint, above in cache_footprints(caches_of(cpu, system))
        ]
        found += [
            Target(
                level="DRAM",
                footprint_bytes=_memory_footprint(system),
                node_bytes=MEMORY_NODE_BYTES,
                order=order,
                pages=pages,
                cpu=from_cpu,
                cpu_node=_node_of(from_cpu, system),
                memory_node=memory_node,
            )
            for from_cpu, memory_node in _memory_pairs(parameters, system, cpu)
            for order in ("block-random", "random")
        ]
    return found


def _page_policies(parameters: LatencyParameters, system: System) -> list[str]:
    """With and without huge pages, unless one policy is asked for."""
    if parameters.pages != "auto":
        return [parameters.pages]
    return ["thp", "4k"] if system.thp in {"always", "madvise"} else ["4k"]


def cache_footprints(caches: Mapping[int, Cache]) -> list[tuple[str, int, int]]:
    """Level, ring size and size of the level above: half the level, or four times the one above.

    A random cycle over several times what a level holds hardly ever hits it, so each ring measures
    its own level. More would measure conflicts: not all of a level's sets are free for one buffer,
    and of a shared level only a part may belong to this core or this virtual machine.
    """
    sizes: list[tuple[str, int, int]] = []
    above = 0
    for level in sorted(caches):
        here = caches[level].bytes
        size = min(here // 2, 4 * above) if above else here // 2
        if size > above:
            sizes.append((f"L{level}", size, above))
        above = here
    return sizes


def _memory_footprint(system: System) -> int:
    largest = max((cache.bytes for cache in system.caches), default=0)
    wanted = max(MEMORY_LEAST_BYTES, MEMORY_CACHE_MULTIPLE * largest)
    return min(wanted, system.available_bytes // 8) // BLOCK_BYTES * BLOCK_BYTES


def _node_of(cpu: int, system: System) -> int:
    return next((entry.node for entry in system.cpus if entry.cpu == cpu), 0)


def _memory_pairs(
    parameters: LatencyParameters, system: System, cpu: int
) -> list[tuple[int, int | None]]:
    """CPUs to load from and nodes to load out of: every pair on a NUMA machine."""
    memory_nodes = [node.node for node in system.nodes if node.bytes > 0]
    if parameters.memory.node is not None:
        return [(cpu, parameters.memory.node)]
    if len(memory_nodes) < 2:
        return [(cpu, None)]
    allowed = set(system.allowed_cpus)
    firsts = [min(set(node.cpus) & allowed, default=None) for node in system.nodes]
    return [(first, node) for first in firsts if first is not None for node in memory_nodes]


class LatencyBench:
    """Rings of one group, each with its own buffer."""

    def __init__(
        self, rings: Mapping[str, tuple[Target, _core.Team, _core.ChaseRing]], points: list[Point]
    ) -> None:
        self._rings = rings
        self.points = points

    def measure(self, point: str, round_: int) -> Sample:
        """Walk a little further, and take the core's clock beside it."""
        target, team, ring = self._rings[point]
        taken = ring.run(target.hops, target.warm_hops, sweeps=target.sweeps)
        return to_sample(point, round_, taken, cycles_per_ns=team.core_cycles_per_ns())

    def validate(self) -> list[Validation]:
        """Nothing is written."""
        return []


class Latency:
    """The `latency` experiment."""

    name: ClassVar[str] = "latency"
    title: ClassVar[str] = "Idle latency"
    parameters: ClassVar[type[LatencyParameters]] = LatencyParameters

    def plan(self, parameters: LatencyParameters, system: System) -> list[Group]:
        """One group for each page policy and pair of nodes."""
        if parameters.threads not in (None, (1,)):
            raise RequestError(
                "--threads: latency is measured by one thread at a time; leave --threads out, and "
                "choose the CPU with --cpus"
            )
        found = targets(parameters, system)
        keys = dict.fromkeys((one.pages, one.cpu, one.memory_node) for one in found)
        return [
            _group([one for one in found if (one.pages, one.cpu, one.memory_node) == key])
            for key in keys
        ]

    @contextmanager
    def open(self, group: Group, parameters: LatencyParameters, system: System) -> Iterator[Bench]:
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
                    node=target.memory_node,
                )
                stack.callback(ring.close)
                rings[target.name] = (target, team, ring)
                got = backing_facts([ring.backing()], target.pages)
                points.append(_point(target, got))
            yield LatencyBench(rings, points)

    def losers(self, speeds: Mapping[str, Sequence[float]]) -> set[str]:
        """Nothing is searched."""
        del speeds
        return set()

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Huge pages asked for and not got."""
        del samples, system
        if point.asked["pages"] != "thp" or point.effective["pages"] == "thp":
            return []
        return [
            Warning(
                code="huge-pages-missing",
                message=(
                    f"transparent huge pages back only {point.effective['huge_share']:.0%} "
                    f"of {point.point}"
                ),
                remedy="memory may be fragmented: free some, or reserve pages and use --pages 2m",
                experiment="latency",
                point=point.point,
            )
        ]


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
        setup_s=total / 1e9,
    )


def _point(target: Target, got: Mapping[str, Scalar]) -> Point:
    return Point(
        point=target.name,
        experiment="latency",
        quantity="latency",
        asked={
            "level": target.level,
            "footprint_bytes": target.footprint_bytes,
            "node_bytes": target.node_bytes,
            "order": target.order,
            "pages": target.pages,
            "cpu_node": target.cpu_node,
            "memory_node": target.memory_node,
        },
        effective={"cpus": str(target.cpu), **got},
        accesses=target.hops,
    )
