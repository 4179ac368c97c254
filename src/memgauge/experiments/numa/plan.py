"""What `numa` measures: pairs of a CPU node and a memory node, alone and all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.numa.parameters import (
    CpuNode,
    NumaParameters,
    cpu_nodes,
    memory_nodes,
)
from memgauge.experiments.numa.sizes import Sizes
from memgauge.experiments.shared.rings import MEMORY_NODE_BYTES, SLICE_HOPS
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import on_node
from memgauge.model.records import Point, Scalar, Warning
from memgauge.model.system import System

HOPS = SLICE_HOPS["DRAM"]
"""As many as `latency` times: a quantile over longer walks would be another figure."""

EXCEEDS_CACHES = "exceeds_caches"
TOO_FEW_THREADS = "too_few_for_all"
"""Facts of the first point, of which a reader is warned once."""

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
        """The point that is visited."""
        return next(iter(self.points.values()))


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs of a machine."""

    parameters: NumaParameters
    cpus: list[CpuNode]
    nodes: list[int]

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


def plan_of(parameters: NumaParameters, system: System) -> Plan:
    """Nodes and threads; raises as `memory_nodes` and `cpu_nodes` do."""
    nodes = memory_nodes(parameters, system)
    return Plan(parameters=parameters, cpus=cpu_nodes(parameters, system), nodes=nodes)


def visits(plan: Plan, sizes: Sizes) -> list[SamplingPass]:
    """Each pair alone, then all at once, of each kernel; before anything is opened."""
    found: list[SamplingPass] = []
    for kernel in plan.parameters.kernel:
        found += [_alone(plan, sizes, kernel, one, node) for one, node in plan.pairs]
        if plan.enough_for_all and len(plan.pairs) > 1:
            found.append(_at_once(plan, sizes, kernel))
    first, *others = found
    notes: dict[str, Scalar] = {
        EXCEEDS_CACHES: sizes.exceeds_caches,
        TOO_FEW_THREADS: not plan.enough_for_all,
    }
    ((pair, point),) = first.points.items()
    return [msgspec.structs.replace(first, points={pair: with_facts(point, notes)}), *others]


def _alone(plan: Plan, sizes: Sizes, kernel: str, one: CpuNode, node: int) -> SamplingPass:
    pair, ranks = (one.node, node), plan.ranks(one)
    point = _bandwidth(plan, sizes, pair, ranks, {"kernel": kernel, "at_once": False})
    return SamplingPass(kernel=kernel, points={pair: point}, walks={pair: ranks})


def _at_once(plan: Plan, sizes: Sizes, kernel: str) -> SamplingPass:
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
        point = _bandwidth(plan, sizes, pair, ranks, {"kernel": kernel, "at_once": True})
        leader = next(iter(points.values())).point if points else None
        points[pair] = msgspec.structs.replace(point, measured_with=leader)
    return SamplingPass(kernel=kernel, points=points, walks=walks)


def _bandwidth(
    plan: Plan, sizes: Sizes, pair: Pair, ranks: Sequence[int], what: Mapping[str, Scalar]
) -> Point:
    team = plan.team
    parts = ["numa", str(what["kernel"]), *(["all"] if what["at_once"] else []), pair_name(pair)]
    return Point(
        point="/".join(parts),
        experiment="numa",
        quantity="bandwidth",
        requested={
            **what,
            "cpu_node": pair[0],
            "memory_node": pair[1],
            "threads": len(ranks),
            "memory": str(on_node(pair[1])),
            "pages": plan.parameters.pages,
        },
        actual={"cpus": format_cpu_list(sorted(team[rank] for rank in ranks)), **sizes.facts},
        bytes_counted=sizes.iteration_bytes,
        bytes_moved=sizes.iteration_bytes,
        threads=len(ranks),
        work="window",
    )


def latency_point(
    plan: Plan, sizes: Sizes, one: CpuNode, node: int, got: Mapping[str, Scalar]
) -> Point:
    """A chase from the node's first CPU."""
    return Point(
        point=f"numa/latency/{pair_name((one.node, node))}",
        experiment="numa",
        quantity="latency",
        requested={
            "cpu_node": one.node,
            "memory_node": node,
            "order": "block-random",
            "node_bytes": MEMORY_NODE_BYTES,
            "footprint_bytes": sizes.ring_bytes,
            "memory": str(on_node(node)),
            "pages": plan.parameters.pages,
        },
        actual={"cpus": str(one.cpus[0]), **got},
        accesses=HOPS,
    )


def pair_name(pair: Pair) -> str:
    """Such as `n0-n1`: CPUs of node 0, memory of node 1."""
    return f"n{pair[0]}-n{pair[1]}"


def with_facts(point: Point, facts: Mapping[str, Scalar]) -> Point:
    """The point with further facts of what was got."""
    return msgspec.structs.replace(point, actual={**point.actual, **facts})


def warnings_about(point: Point) -> list[Warning]:
    """What spoils a point, and what is said once by the first."""
    return [*_elsewhere(point), *_of_all(point)]


def _elsewhere(point: Point) -> list[Warning]:
    got, requested = point.actual.get("node"), point.requested["memory_node"]
    if got is None or got == requested:
        return []
    return [
        Warning(
            code="memory-elsewhere",
            message=f"most pages of {point.point} lie on node {got}, not on node {requested}",
            remedy="measure again with more memory free on the node",
            experiment="numa",
            point=point.point,
        )
    ]


def _of_all(point: Point) -> list[Warning]:
    found = []
    if not point.actual.get(EXCEEDS_CACHES, True):
        found.append(
            Warning(
                code="arrays-in-caches",
                message=(
                    f"arrays of {point.actual['array_bytes']} B for each thread are together "
                    "not known to be four times the last-level caches of each node: part of what "
                    "is read may come from them"
                ),
                remedy="leave --array-bytes out, free memory, or use fewer --threads",
                experiment="numa",
                point=point.point,
            )
        )
    if point.actual.get(TOO_FEW_THREADS, False):
        found.append(
            Warning(
                code="too-few-threads",
                message=(
                    "all pairs at once are not measured: a CPU node has fewer threads than there "
                    "are memory nodes to share them"
                ),
                remedy="more --threads, more CPUs, or fewer --memory-nodes",
                experiment="numa",
                point=point.point,
            )
        )
    return found
