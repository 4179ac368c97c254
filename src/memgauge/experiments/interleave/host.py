"""Interleave weights: how should pages be dealt out to nodes for the most bandwidth?

Question: of nodes with memory of different speed (DRAM and CXL, HBM, NVDIMMs, another socket), how
many pages should each get, so that all of them together give the most bandwidth, and how much more
is that than the best node alone gives?

Method: STREAM's kernels (tuned) walk arrays whose pages are dealt out by weights: 3:1 puts three
pages on the first node, then one on the second. Each node alone, all alike and some steps between
are visited in rounds, each visit a walk over whole arrays. The weights around the best are refined
by a coordinate search; those far behind are visited no more. The recommendation is the smallest
weights that are as fast as the best within noise, in the form that Linux's weighted interleave
takes (MPOL_WEIGHTED_INTERLEAVE, Linux 6.9).
Source: the kernel's Documentation/ABI/testing/sysfs-kernel-mm-mempolicy-weighted-interleave; pages
are placed here by the buffers themselves, so that any kernel will do and nothing is set.

What would invalidate it: arrays that fit in a cache; other traffic on one of the nodes; threads on
another socket than the program's; pages that could not be had where they were to be (warned of).
Weights for bandwidth are no advice for latency: what waits for single loads wants the nearest node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.interleave.parameters import (
    InterleaveParameters,
    kernels_weights,
    memory_nodes,
    team_sizes,
)
from memgauge.experiments.interleave.sizes import FURTHER_SETS, Sizes, sizes
from memgauge.experiments.interleave.weights import (
    Search,
    Weights,
    behind,
    fast_side,
    first_weights,
    label,
    placement,
)
from memgauge.experiments.shared.base import Bench, Experiment, Group, Values
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.memory.sources import ORDINARY, Memories
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
        where = placement(self.nodes, weights)
        return Point(
            point=self.name(kernel, weights),
            experiment="interleave",
            quantity="bandwidth",
            requested={
                "kernel": kernel,
                "nodes": ",".join(map(str, self.nodes)),
                "weights": ",".join(map(str, weights)),
                "element": self.parameters.element,
                "threads": len(self.cpus),
                "memory": str(where),
                "pages": self.parameters.pages,
                "array_bytes": self.parameters.array_bytes,
            },
            actual={
                "cpus": format_cpu_list(self.cpus),
                "llc_bytes": self.sizes.shape.llc_bytes,
                "stream_conformant": self.sizes.shape.conformant,
                "largest_sum": self.sizes.largest_sum,
            },
            threads=len(self.cpus),
        )


class Arrays:
    """STREAM's arrays, dealt out by some weights."""

    def __init__(self, plan: Plan, team: _core.Team, weights: Weights, memories: Memories) -> None:
        shape, parameters = plan.sizes.shape, plan.parameters
        self._plan = plan
        self.weights = weights
        self.native = _core.StreamArrays(
            team,
            elements=shape.elements,
            element=parameters.element,
            pages=parameters.pages,
            memory=memories.of(placement(plan.nodes, weights)),
            blocks=shape.blocks,
        )

    def points(self, specs: Mapping[str, _core.KernelSpec]) -> list[Point]:
        """One for each kernel, with what was got."""
        backing = self.native.backing()
        got = backing_facts(backing, self._plan.parameters.pages)
        got["shares"] = _shares_text(backing)
        return [self._complete(kernel, spec, got) for kernel, spec in specs.items()]

    def _complete(self, kernel: str, spec: _core.KernelSpec, got: Mapping[str, Scalar]) -> Point:
        shape = self._plan.sizes.shape
        elements = self.native.elements_per_block * shape.blocks * len(self._plan.cpus)
        counted = spec.counted_read_bytes + spec.counted_write_bytes
        point = self._plan.point(kernel, self.weights)
        facts: dict[str, Scalar] = {
            "isa": spec.isa,
            "store": spec.store,
            "array_bytes": self.native.elements * shape.element_bytes,
        }
        return msgspec.structs.replace(
            point,
            actual=point.actual | facts | dict(got),
            bytes_counted=elements * counted,
            bytes_moved=elements * (counted + spec.write_allocate_bytes),
        )


class InterleaveBench(Bench):
    """Arrays of several weights, walked by one team."""

    def __init__(self, plan: Plan, team: _core.Team, memories: Memories) -> None:
        parameters = plan.parameters
        self._plan = plan
        self._team = team
        self._memories = memories
        self._specs = {
            kernel: _core.default_tuned_spec(kernel, parameters.element)
            for kernel in parameters.kernel
        }
        self._searches = {kernel: Search(plan.sizes.largest_sum) for kernel in parameters.kernel}
        self._open: dict[Weights, Arrays] = {}
        self._validated: list[Validation] = []
        self._tried: set[Weights] = set()
        self._visits: dict[str, tuple[Arrays, _core.KernelSpec]] = {}
        self.points = [point for weights in plan.first for point in self._added(weights)]

    def _added(self, weights: Weights) -> list[Point]:
        arrays = Arrays(self._plan, self._team, weights, self._memories)
        self._open[weights] = arrays
        self._tried.add(weights)
        for kernel, spec in self._specs.items():
            self._visits[self._plan.name(kernel, weights)] = (arrays, spec)
        return arrays.points(self._specs)

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk whole arrays once, after as much as the caches hold."""
        arrays, spec = self._visits[point]
        shape = self._plan.sizes.shape
        taken = arrays.native.run(
            spec,
            blocks=shape.blocks,
            lead_in_blocks=shape.lead_in_blocks,
            pingpong=len(self._plan.cpus) > 1,
        )
        return [to_sample(point, round_, taken)]

    def refine(self, values: Values) -> list[Point]:
        """Weights around the best, in the place of those that are ruled out."""
        speeds = {
            kernel: _speeds(values, self._plan, kernel, self._tried) for kernel in self._specs
        }
        if any(len(known) < len(self._tried) for known in speeds.values()):
            return []
        self._close_lost(speeds)
        wanted = dict.fromkeys(
            weights
            for kernel, search in self._searches.items()
            for weights in search.further(speeds[kernel])
        )
        room = min(
            len(self._plan.first) + FURTHER_SETS - len(self._open),
            len(self._plan.first) + self._plan.parameters.most_further - len(self._tried),
        )
        return [point for weights in [*wanted][: max(0, room)] for point in self._added(weights)]

    def _close_lost(self, speeds: Mapping[str, Mapping[Weights, float]]) -> None:
        """Free the arrays of weights that no kernel visits any more."""
        lost = set.intersection(*(behind(known) for known in speeds.values()))
        for weights in [weights for weights in self._open if weights in lost]:
            arrays = self._open.pop(weights)
            self._validated.append(self._validation(arrays))
            arrays.native.close()

    def close(self) -> None:
        """Free all arrays."""
        for arrays in self._open.values():
            arrays.native.close()

    def validate(self) -> list[Validation]:
        """STREAM's check of the arrays of all weights."""
        return self._validated + [self._validation(arrays) for arrays in self._open.values()]

    def _validation(self, arrays: Arrays) -> Validation:
        subject = f"{label(self._plan.nodes, arrays.weights)}, {len(self._plan.cpus)} threads"
        return to_validation("interleave", subject, arrays.native.validate())


class Interleave(Experiment):
    """The `interleave` experiment."""

    name: ClassVar[str] = "interleave"
    parameters: ClassVar[type[InterleaveParameters]] = InterleaveParameters

    def plan(self, parameters: InterleaveParameters, system: System) -> list[Group]:
        """One group for each team; its kernels share the arrays of each weights."""
        return [_group(_plan(parameters, system, n)) for n in team_sizes(parameters, system)]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: InterleaveParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, deal out and fill the arrays of the first weights."""
        plan = _plan(parameters, system, group.points[0].threads)
        bench = InterleaveBench(plan, _core.Team(plan.cpus), memories)
        try:
            yield bench
        finally:
            bench.close()

    def eliminated(self, values: Values) -> set[str]:
        """Weights that are clearly behind, of each kernel and team."""
        contests: dict[tuple[str, str], dict[str, float]] = {}
        for name, seen in values.items():
            _, kernel, weights, team = name.split("/")
            speed = fast_side(seen)
            if speed is not None:
                contests.setdefault((kernel, team), {})[weights] = speed
        return {
            f"interleave/{kernel}/{weights}/{team}"
            for (kernel, team), speeds in contests.items()
            for weights in _labels_behind(speeds)
        }

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Pages that did not come to lie where they were to be, arrays that caches may hold."""
        del samples, system
        return [*_misplaced(point), *_too_small(point)]


def _plan(parameters: InterleaveParameters, system: System, threads: int) -> Plan:
    nodes = memory_nodes(parameters, system)
    cpus = cpus_for(parameters.cpus, threads, system)
    now = kernels_weights(nodes, system)
    first = first_weights(len(nodes), parameters.first_up_to, [now] if now else [])
    of_arrays = sizes(parameters, system, cpus, nodes, first)
    fine_enough = [w for w in first if sum(w) <= max(of_arrays.largest_sum, len(nodes))]
    return Plan(parameters=parameters, cpus=cpus, nodes=nodes, first=fine_enough, sizes=of_arrays)


def _group(plan: Plan) -> Group:
    return Group(
        name=format_count(len(plan.cpus), "thread"),
        points=[
            plan.point(kernel, weights)
            for weights in plan.first
            for kernel in plan.parameters.kernel
        ],
        bytes=sum(plan.sizes.bytes_by_node.values()),
        bytes_in=plan.sizes.bytes_in,
    )


def _speeds(
    values: Values, plan: Plan, kernel: str, weights: Iterable[Weights]
) -> dict[Weights, float]:
    """Of weights with enough values."""
    found = {one: fast_side(values.get(plan.name(kernel, one), ())) for one in weights}
    return {one: speed for one, speed in found.items() if speed is not None}


def _labels_behind(speeds: Mapping[str, float]) -> Iterator[str]:
    """Of weights by their labels, in which nodes without pages do not stand."""
    reported = {text: _by_node(text) for text in speeds}
    nodes = sorted({node for weights in reported.values() for node in weights})
    of_all = {tuple(reported[text].get(node, 0) for node in nodes): text for text in speeds}
    for weights in behind({weights: speeds[text] for weights, text in of_all.items()}):
        yield of_all[weights]


def _by_node(text: str) -> dict[int, int]:
    parts = (part.partition("=") for part in text.split(","))
    return {int(node): int(weight) for node, _, weight in parts}


def _shares_text(backings: Sequence[_core.Backing]) -> str | None:
    """Shares of the pages by node, as the kernel tells: `0=0.75,2=0.25`; None: it does not."""
    reported = [dict(backing.nodes) for backing in backings]
    if not all(reported):
        return None
    nodes = sorted({node for shares in reported for node in shares})
    means = {
        node: sum(shares.get(node, 0.0) for shares in reported) / len(reported) for node in nodes
    }
    return ",".join(f"{node}={round(mean, 3):g}" for node, mean in means.items())


def _misplaced(point: Point) -> Iterator[Warning]:
    shares = point.actual.get("shares")
    if not isinstance(shares, str):
        return
    got = {
        int(node): float(share) for node, _, share in (p.partition("=") for p in shares.split(","))
    }
    nodes = [int(node) for node in str(point.requested["nodes"]).split(",")]
    weights = [int(weight) for weight in str(point.requested["weights"]).split(",")]
    wanted = {node: weight / sum(weights) for node, weight in zip(nodes, weights, strict=True)}
    off = max(abs(got.get(node, 0.0) - wanted.get(node, 0.0)) for node in {*got, *wanted})
    if off > SHARE_OFF:
        yield Warning(
            code="pages-not-as-dealt",
            message=(
                f"the pages of {point.point} are not distributed as its weights require: {shares} "
                "by the kernel"
            ),
            remedy="larger --array-bytes or --pages 4k, where huge pages are too few to be dealt",
            experiment=point.experiment,
            point=point.point,
        )


def _too_small(point: Point) -> Iterator[Warning]:
    if not point.actual["stream_conformant"] and len(_used(point)) == 1:
        yield Warning(
            code="arrays-in-caches",
            message=(
                f"arrays of {point.actual.get('array_bytes')} B are smaller than four times the "
                f"last-level caches used ({point.actual['llc_bytes']} B): {point.point} and "
                "others may come from them"
            ),
            remedy="leave --array-bytes out, free memory, or use fewer --threads",
            experiment=point.experiment,
            point=point.point,
        )


def _used(point: Point) -> list[str]:
    return [weight for weight in str(point.requested["weights"]).split(",") if weight != "0"]
