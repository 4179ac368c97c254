"""What `numa` measures: pairs of a CPU node and a memory node, alone and all at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Self

import msgspec

from memgauge import _core
from memgauge.experiments.numa.parameters import (
    CpuNode,
    NumaParameters,
    cpu_nodes,
    memory_nodes,
)
from memgauge.experiments.numa.sizes import Sizes, sizes
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Setup, Work
from memgauge.experiments.shared.rings import MEMORY_NODE_BYTES, SLICE_HOPS
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import on_node
from memgauge.model.points.numa import NumaActual, NumaRequested
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.topology.placement import Touching

HOPS = SLICE_HOPS["DRAM"]
"""As many as `latency` times: a quantile over longer walks would be another figure."""

PASS_NS = 5e6
"""Least duration of a sampling pass of bandwidth."""

RING_ORDER = "block-random"

Pair = tuple[int, int]
"""CPU node and memory node."""


class SamplingPass(msgspec.Struct, frozen=True, kw_only=True):
    """One native call: who walks which memory node's arrays, and the points it gives samples of."""

    kernel: str
    points: dict[Pair, Point]
    """The first leads."""
    walks: dict[Pair, list[int]]
    """Ranks of the team's threads."""

    @property
    def leader(self) -> Point:
        """The point that is measured; the others are measured with it."""
        return next(iter(self.points.values()))


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs of a machine."""

    parameters: NumaParameters
    cpus: list[CpuNode]
    nodes: list[int]
    arrays: tuple[int, int]
    """Sources and destinations that each thread has on each memory node."""
    sizes: Sizes

    @property
    def team(self) -> list[int]:
        """CPUs of all ranks, node by node."""
        return [cpu for one in self.cpus for cpu in one.cpus]

    def ranks(self, one: CpuNode) -> list[int]:
        """Of a node's threads."""
        first = self.team.index(one.cpus[0])
        return list(range(first, first + len(one.cpus)))

    @property
    def members(self) -> list[tuple[int, int]]:
        """Rank and memory node of all that have arrays."""
        return [(rank, node) for rank in range(len(self.team)) for node in self.nodes]

    @property
    def enough_for_all(self) -> bool:
        """Whether every CPU node has a thread for each memory node."""
        return all(len(one.cpus) >= len(self.nodes) for one in self.cpus)

    @property
    def pairs(self) -> list[tuple[CpuNode, int]]:
        """Row by row."""
        return [(one, node) for one in self.cpus for node in self.nodes]


class BandwidthGroup(Group, frozen=True, kw_only=True):
    """All pairs, each alone and all at once."""

    plan: Plan
    passes: list[SamplingPass]

    def parts(self) -> list[Part]:
        """Of each kernel: each node's own memory, then all others', then all at once."""
        kinds: dict[tuple[str, bool, bool], list[SamplingPass]] = {}
        for one in self.passes:
            is_own = all(cpu_node == memory_node for cpu_node, memory_node in one.points)
            kinds.setdefault((one.kernel, is_own, len(one.points) > 1), []).append(one)
        return [
            Part(
                importance=Importance.PAIRS,
                points=[one.leader.point for one in passes],
                works=[self._work(one) for one in passes],
            )
            for passes in kinds.values()
        ]

    def _work(self, one: SamplingPass) -> Work:
        threads = sum(len(ranks) for ranks in one.walks.values())
        sizes = self.plan.sizes
        lead_in_bytes = sizes.lead_in_iterations * sizes.iteration_bytes * sum(self.plan.arrays)
        nodes = len({memory_node for _, memory_node in one.points})
        return Work(
            bytes=threads * lead_in_bytes, seconds=PASS_NS * 1e-9, threads=threads, nodes=nodes
        )

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer pairs and kernels."""
        passes = [one for one in self.passes if one.leader.point in names]
        points = [point for one in passes for point in one.points.values()]
        return msgspec.structs.replace(self, points=points, passes=passes)


class LatencyGroup(Group, frozen=True, kw_only=True):
    """All memory nodes from one CPU node: a point and a ring for each."""

    plan: Plan
    cpu: int
    """The one that chases pointers."""
    linkers: dict[int, list[int]]
    """CPUs that link a ring together, by its memory node."""

    def parts(self) -> list[Part]:
        """A row of the matrix."""
        names = [point.point for point in self.points]
        works = [Work(loads=HOPS)] * len(names)
        return [Part(importance=Importance.PAIRS, points=names, works=works)]

    def setup(self) -> Setup:
        """Rings are linked."""
        linkers = min(map(len, self.linkers.values()), default=1)
        return Setup(linked_bytes=self.bytes, linkers=linkers)


NumaGroup = BandwidthGroup | LatencyGroup


def plan_of(parameters: NumaParameters, system: System) -> Plan:
    """Nodes, threads and sizes; raises as `memory_nodes` and `cpu_nodes` do."""
    nodes, cpus = memory_nodes(parameters, system), cpu_nodes(parameters, system)
    needed = [_core.arrays_needed(_core.default_tuned_spec(name)) for name in parameters.kernel]
    arrays = max(sources for sources, _ in needed), max(destinations for _, destinations in needed)
    return Plan(
        parameters=parameters,
        cpus=cpus,
        nodes=nodes,
        arrays=arrays,
        sizes=sizes(parameters, system, cpus, nodes, sum(arrays)),
    )


def bandwidth_group(plan: Plan) -> BandwidthGroup:
    """The bandwidth of all pairs."""
    passes = sampling_passes(plan)
    on_each = len(plan.team) * sum(plan.arrays) * plan.sizes.array_bytes
    return BandwidthGroup(
        name="bandwidth",
        points=[point for one in passes for point in one.points.values()],
        bytes=on_each * len(plan.nodes),
        bytes_in={on_node(node): on_each for node in plan.nodes},
        plan=plan,
        passes=passes,
    )


def latency_group(plan: Plan, one: CpuNode, touching: Touching) -> LatencyGroup:
    """The latency of all memory nodes from one CPU node.

    Args:
        plan: All pairs.
        one: The CPU node, whose first CPU chases the pointers.
        touching: The CPUs that link the rings.
    """
    return LatencyGroup(
        name=f"latency, node {one.node}",
        points=[_latency_point(plan, one, node) for node in plan.nodes],
        bytes=plan.sizes.ring_bytes * len(plan.nodes),
        bytes_in={on_node(node): plan.sizes.ring_bytes for node in plan.nodes},
        plan=plan,
        cpu=one.cpus[0],
        linkers={node: touching.cpus(one.cpus[0], node) for node in plan.nodes},
    )


def sampling_passes(plan: Plan) -> list[SamplingPass]:
    """Each pair alone, then all at once, of each kernel."""
    found: list[SamplingPass] = []
    for kernel in plan.parameters.kernel:
        found += [_alone(plan, kernel, one, node) for one, node in plan.pairs]
        if plan.enough_for_all and len(plan.pairs) > 1:
            found.append(_at_once(plan, kernel))
    first, *others = found
    notes = NumaActual(
        exceeds_caches=plan.sizes.exceeds_caches, too_few_for_all=not plan.enough_for_all
    ).recorded()
    ((pair, point),) = first.points.items()
    return [msgspec.structs.replace(first, points={pair: point.with_actual(notes)}), *others]


def _alone(plan: Plan, kernel: str, one: CpuNode, node: int) -> SamplingPass:
    pair, ranks = (one.node, node), plan.ranks(one)
    point = _bandwidth_point(plan, pair, ranks, kernel, at_once=False)
    return SamplingPass(kernel=kernel, points={pair: point}, walks={pair: ranks})


def _at_once(plan: Plan, kernel: str) -> SamplingPass:
    """Of each CPU node equally many threads for each memory node; what is left over rests."""
    walks = {
        (one.node, node): plan.ranks(one)[place :: len(plan.nodes)][
            : len(one.cpus) // len(plan.nodes)
        ]
        for one in plan.cpus
        for place, node in enumerate(plan.nodes)
    }
    points: dict[Pair, Point] = {}
    for pair, ranks in walks.items():
        point = _bandwidth_point(plan, pair, ranks, kernel, at_once=True)
        leader = next(iter(points.values())).point if points else None
        points[pair] = msgspec.structs.replace(point, measured_with=leader)
    return SamplingPass(kernel=kernel, points=points, walks=walks)


def _bandwidth_point(
    plan: Plan, pair: Pair, ranks: Sequence[int], kernel: str, *, at_once: bool
) -> Point:
    team = plan.team
    cpus = sorted(team[rank] for rank in ranks)
    return Point(
        point="/".join(["numa", kernel, *(["all"] if at_once else []), _pair_name(pair)]),
        experiment="numa",
        quantity="bandwidth",
        requested=NumaRequested(
            kernel=kernel,
            at_once=at_once,
            cpu_node=pair[0],
            memory_node=pair[1],
            threads=len(ranks),
            memory=str(on_node(pair[1])),
            pages=plan.parameters.pages,
        ).recorded(),
        actual=NumaActual(cpus=format_cpu_list(cpus)).recorded() | plan.sizes.facts,
        bytes_counted=plan.sizes.iteration_bytes,
        bytes_moved=plan.sizes.iteration_bytes,
        threads=len(ranks),
        work="window",
    )


def _latency_point(plan: Plan, one: CpuNode, node: int) -> Point:
    """A chase from the node's first CPU."""
    return Point(
        point=f"numa/latency/{_pair_name((one.node, node))}",
        experiment="numa",
        quantity="latency",
        requested=NumaRequested(
            cpu_node=one.node,
            memory_node=node,
            order=RING_ORDER,
            node_bytes=MEMORY_NODE_BYTES,
            footprint_bytes=plan.sizes.ring_bytes,
            memory=str(on_node(node)),
            pages=plan.parameters.pages,
        ).recorded(),
        actual=NumaActual(cpus=str(one.cpus[0])).recorded(),
        accesses=HOPS,
    )


def _pair_name(pair: Pair) -> str:
    """Such as `n0-n1`: CPUs of node 0, memory of node 1."""
    return f"n{pair[0]}-n{pair[1]}"


def warnings_about(point: Point) -> list[Warning]:
    """What spoils a point, and, from the first, what a reader is warned of once."""
    return [*_elsewhere(point), *_of_all(point)]


def _elsewhere(point: Point) -> list[Warning]:
    node, requested = NumaActual.of(point.actual).node, NumaRequested.of(point.requested)
    if node is None or node == requested.memory_node:
        return []
    return [
        Warning(
            code="memory-elsewhere",
            message=(
                f"most pages of {point.point} lie on node {node}, not on node "
                f"{requested.memory_node}"
            ),
            remedy="measure again with more memory free on the node",
            experiment="numa",
            point=point.point,
        )
    ]


def _of_all(point: Point) -> list[Warning]:
    actual = NumaActual.of(point.actual)
    found = []
    if actual.exceeds_caches is False:
        found.append(
            Warning(
                code="arrays-in-caches",
                message=(
                    f"arrays of {actual.array_bytes} B for each thread are together "
                    "not known to be four times the last-level caches of each node: part of what "
                    "is read may come from them"
                ),
                remedy="leave --array-bytes out, free memory, or use fewer --threads",
                experiment="numa",
                point=point.point,
            )
        )
    if actual.too_few_for_all:
        found.append(
            Warning(
                code="too-few-threads",
                message=(
                    "all pairs at once are not measured: a CPU node has fewer threads than there "
                    "are memory nodes to share them"
                ),
                remedy="use more --threads, more CPUs, or fewer --memory-nodes",
                experiment="numa",
                point=point.point,
            )
        )
    return found
