"""What `interleave` measures with one team: its first weights, and the point of any weights."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memgauge.experiments.interleave.parameters import InterleaveParameters, memory_nodes
from memgauge.experiments.interleave.sizes import Sizes, sizes
from memgauge.experiments.interleave.weights import first_weights, label
from memgauge.experiments.shared.base import Group
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.interleave_weights import Weights, kernels_weights, placement
from memgauge.model.points.interleave import InterleaveActual, InterleaveRequested, numbers_text
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.topology.placement import cpus_for

SHARE_OFF = 0.03
"""By which a node's share of the pages may differ from its weight's."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What one team measures."""

    parameters: InterleaveParameters
    cpus: list[int]
    nodes: list[int]
    first: list[Weights]
    sizes: Sizes

    def name(self, kernel: str, weights: Weights) -> str:
        """Of a point."""
        return f"interleave/{kernel}/{label(self.nodes, weights)}/{len(self.cpus)}t"

    def point(self, kernel: str, weights: Weights) -> Point:
        """Before its arrays are there."""
        return Point(
            point=self.name(kernel, weights),
            experiment="interleave",
            quantity="bandwidth",
            requested=InterleaveRequested(
                kernel=kernel,
                nodes=numbers_text(tuple(self.nodes)),
                weights=numbers_text(weights),
                element=self.parameters.element,
                threads=len(self.cpus),
                memory=str(placement(self.nodes, weights)),
                pages=self.parameters.pages,
                array_bytes=self.parameters.array_bytes,
            ).recorded(),
            actual=InterleaveActual(
                cpus=format_cpu_list(self.cpus),
                llc_bytes=self.sizes.shape.llc_bytes,
                stream_conformant=self.sizes.shape.conformant,
                largest_sum=self.sizes.largest_sum,
            ).recorded(),
            threads=len(self.cpus),
        )


class InterleaveGroup(Group, frozen=True, kw_only=True):
    """One team; its kernels share the arrays of each weights."""

    plan: Plan


def planned_group(
    parameters: InterleaveParameters, system: System, threads: int
) -> InterleaveGroup:
    """What a team of so many threads measures.

    Args:
        parameters: As requested: nodes, kernels, first weights, size and type of the arrays.
        system: Machine; its memory limits the arrays, and Linux's own weights are measured too.
        threads: Size of the team.

    Raises:
        NotPossibleHere, RequestError: as `memory_nodes` and `cpus_for`.
    """
    plan = _plan(parameters, system, cpus_for(parameters.cpus, threads, system))
    return InterleaveGroup(
        name=format_count(threads, "thread"),
        points=[plan.point(kernel, one) for one in plan.first for kernel in parameters.kernel],
        bytes=sum(plan.sizes.bytes_by_node.values()),
        bytes_in=plan.sizes.bytes_in,
        plan=plan,
    )


def _plan(parameters: InterleaveParameters, system: System, cpus: list[int]) -> Plan:
    nodes = memory_nodes(parameters, system)
    now = kernels_weights(nodes, system)
    first = first_weights(len(nodes), parameters.first_up_to, [now] if now else [])
    of_arrays = sizes(parameters, system, cpus, nodes, first)
    fine_enough = [w for w in first if sum(w) <= max(of_arrays.largest_sum, len(nodes))]
    return Plan(parameters=parameters, cpus=cpus, nodes=nodes, first=fine_enough, sizes=of_arrays)


def warnings_about(point: Point) -> Iterator[Warning]:
    """Pages that did not come to lie where they were to be, arrays that caches may hold."""
    requested = InterleaveRequested.of(point.requested)
    actual = InterleaveActual.of(point.actual)
    yield from _misplaced(point, requested, actual)
    yield from _too_small(point, requested, actual)


def _misplaced(
    point: Point, requested: InterleaveRequested, actual: InterleaveActual
) -> Iterator[Warning]:
    shares, weights = actual.node_shares, requested.node_weights
    if not shares:
        return
    wanted = {
        node: weight / sum(weights)
        for node, weight in zip(requested.node_numbers, weights, strict=True)
    }
    off = max(abs(shares.get(node, 0.0) - wanted.get(node, 0.0)) for node in {*shares, *wanted})
    if off > SHARE_OFF:
        yield Warning(
            code="pages-not-as-dealt",
            message=(
                f"the pages of {point.point} are not distributed as its weights require: "
                f"{actual.shares} by the kernel"
            ),
            remedy="increase --array-bytes, or use --pages 4k if there are too few huge pages to "
            "distribute",
            experiment=point.experiment,
            point=point.point,
        )


def _too_small(
    point: Point, requested: InterleaveRequested, actual: InterleaveActual
) -> Iterator[Warning]:
    """Of nodes alone: the others' arrays are as large."""
    nodes_with_pages = [weight for weight in requested.node_weights if weight]
    if actual.stream_conformant is False and len(nodes_with_pages) == 1:
        yield Warning(
            code="arrays-in-caches",
            message=(
                f"arrays of {actual.array_bytes} B are smaller than four times the "
                f"last-level caches used ({actual.llc_bytes} B): {point.point} and "
                "others may come from them"
            ),
            remedy="leave --array-bytes out, free memory, or use fewer --threads",
            experiment=point.experiment,
            point=point.point,
        )
