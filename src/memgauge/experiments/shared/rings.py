"""Rings of dependent loads: how `latency` and `workingset` walk them, and which `latency` walks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.importance import Work
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Sample
from memgauge.model.system import Cache, System
from memgauge.system.topology.placement import LINE_BYTES, caches_of, cpus_for

MIB = 1 << 20
BLOCK_BYTES = 2 * MIB
MEMORY_NODE_BYTES = 512
MEMORY_LEAST_BYTES = 256 * MIB
MEMORY_CACHE_MULTIPLE = 4
"""A ring touches every eighth line. All rings of a run together touch more lines than the
last-level caches hold, and each is walked on from where it was, so that no load finds its line
left over from the pass before."""

SWEEPS = 8
"""Reads of a whole ring, in order, before each walk of one that should sit in a cache. A walk in
random order does not bring a ring back into a last-level cache that adapts its insertion."""

WARM_HOPS = 4_000
MEMORY_WARM_HOPS = 200
"""A thread that just woke up waits longer: without these, 2000 loads read 3% high."""

WARM_MULTIPLE = 3
"""Halves of the level above that are walked after the sweeps, so that it forgets the end of the
sweep. What a sweep left there would be hit; what the walk leaves there is not loaded again before
the whole ring is."""

SLICE_HOPS = {"L1": 40_000, "L2": 20_000, "L3": 10_000, "L4": 4_000, "DRAM": 2_000}
"""Loads of one sampling pass: a fraction of a millisecond."""

Take = Callable[[str, int], Sample]
"""One sampling pass of a point, in a round."""


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """A ring to walk, and how."""

    footprint_bytes: int
    node_bytes: int = LINE_BYTES
    """Memory of the ring for each load."""
    order: str = "random"
    hops: int
    """Loads that are timed."""
    warm_hops: int
    """Loads just before, untimed."""
    sweeps: int = 0
    """Reads of the whole ring before that, where a cache should hold it."""


def work_of_walk(walk: Walk) -> Work:
    """What a sampling pass of a ring does."""
    return Work(
        bytes=walk.sweeps * walk.footprint_bytes,
        loads=walk.hops + walk.warm_hops if walk.footprint_bytes >= MEMORY_LEAST_BYTES else 0,
    )


class Ring:
    """A walk of the host whose ring is linked."""

    def __init__(  # noqa: PLR0913 - a ring's memory, and who links it
        self,
        team: _core.Team,
        walk: Walk,
        stack: ExitStack,
        *,
        pages: str,
        memory: _core.Memory,
        linkers: _core.Team,
    ) -> None:
        """Link the ring, which is freed with the stack.

        Args:
            team: Its first thread walks the ring.
            walk: The ring.
            stack: Frees the ring.
            pages: Page policy.
            memory: What the ring takes its memory from.
            linkers: Touch and link it together, unless caches are to hold it: then that is left to
                the thread that walks it.
        """
        self._team = team
        self._walk = walk
        self._chase = _core.ChaseRing(
            team,
            walk.footprint_bytes,
            node_bytes=walk.node_bytes,
            block_bytes=BLOCK_BYTES if walk.order == "block-random" else 0,
            order=walk.order,
            pages=pages,
            memory=memory,
            linkers=None if walk.sweeps else linkers,
        )
        stack.callback(self._chase.close)
        self.facts = backing_facts([self._chase.backing()], pages)

    def sample(self, point: str, round_: int) -> Sample:
        """Walk on from where the last walk ended."""
        walk = self._walk
        return to_sample(
            point, round_, self._chase.run(walk.hops, walk.warm_hops, sweeps=walk.sweeps)
        )

    def sample_with_clock(self, point: str, round_: int) -> Sample:
        """Walk on, and measure the core's clock beside it."""
        sample = self.sample(point, round_)
        return msgspec.structs.replace(sample, cycles_per_ns=self._team.core_cycles_per_ns())


class RingBench(Bench):
    """Rings, and arrays beside them: each point is sampled for itself."""

    def __init__(
        self, planned: Sequence[Point], opened: Sequence[tuple[Mapping[str, Scalar], Take]]
    ) -> None:
        """Take for each point what is known of it once it is opened, and how it is sampled."""
        self.points = [
            point.with_actual(facts) for point, (facts, _) in zip(planned, opened, strict=True)
        ]
        self._takes = {point.point: take for point, (_, take) in zip(planned, opened, strict=True)}

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a ring a little further, or read an array."""
        return [self._takes[point](point, round_)]


class LatencyParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `latency` takes."""

    unlisted: ClassVar[frozenset[str]] = OneThreadParameters.unlisted | {"sweep"}


class Target(Walk, frozen=True, kw_only=True):
    """A ring that is meant to hit one level, from one CPU."""

    level: str
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


def targets(parameters: LatencyParameters, system: System) -> list[Target]:
    """Every ring that `latency` walks on this machine."""
    cpu = cpus_for(parameters.cpus, 1, system)[0]
    node_of = {entry.cpu: entry.node for entry in system.cpus}
    in_caches = cache_footprints(caches_of(cpu, system))
    in_memory_bytes = memory_footprint(system)
    pairs = _memory_pairs(parameters, system, cpu)
    found: list[Target] = []
    for pages in _page_policies(parameters, system):
        found += [
            Target(
                level=level,
                footprint_bytes=footprint,
                hops=SLICE_HOPS[level],
                warm_hops=max(WARM_HOPS, above * WARM_MULTIPLE // (LINE_BYTES * 2)),
                sweeps=SWEEPS,
                pages=pages,
                cpu=cpu,
                cpu_node=node_of.get(cpu, 0),
                memory_node=parameters.memory.node,
            )
            for level, footprint, above in in_caches
        ]
        found += [
            Target(
                level="DRAM",
                footprint_bytes=in_memory_bytes,
                node_bytes=MEMORY_NODE_BYTES,
                order=order,
                hops=SLICE_HOPS["DRAM"],
                warm_hops=MEMORY_WARM_HOPS,
                pages=pages,
                cpu=from_cpu,
                cpu_node=node_of.get(from_cpu, 0),
                memory_node=memory_node,
            )
            for from_cpu, memory_node in pairs
            for order in ("block-random", "random")
        ]
    return found


def _page_policies(parameters: LatencyParameters, system: System) -> list[str]:
    """With and without huge pages, unless one policy is requested, or the memory decides."""
    if parameters.pages != "auto" or parameters.memory.is_area:
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


def memory_footprint(system: System, least_bytes: int = MEMORY_LEAST_BYTES) -> int:
    """Bytes of a ring whose loads go to memory.

    Smaller than `least_bytes` where memory is short, but never so small that caches could hold it:
    then the ring does not fit.
    """
    uncached = MEMORY_CACHE_MULTIPLE * max((cache.bytes for cache in system.caches), default=0)
    fitting = min(least_bytes, system.available_bytes // 8)
    return max(uncached, fitting) // BLOCK_BYTES * BLOCK_BYTES


def _memory_pairs(
    parameters: LatencyParameters, system: System, cpu: int
) -> list[tuple[int, int | None]]:
    """CPUs to load from and nodes to load out of: every pair on a NUMA machine."""
    memory_nodes = [node.node for node in system.nodes if node.bytes > 0]
    if parameters.memory.kind == "node":
        return [(cpu, parameters.memory.node)]
    if parameters.memory.kind != "dram" or len(memory_nodes) < 2:
        return [(cpu, None)]
    allowed = set(system.allowed_cpus)
    firsts = [min(set(node.cpus) & allowed, default=None) for node in system.nodes]
    return [(first, node) for first in firsts if first is not None for node in memory_nodes]
