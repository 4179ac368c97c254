"""Interleave weights: how should pages be dealt out to nodes for the most bandwidth?

Question: of nodes with memory of different speed (DRAM and CXL, HBM, NVDIMMs, another socket), how
many pages should each get, so that all of them together give the most bandwidth, and how much more
is that than the best node alone gives?

Method: STREAM's kernels (tuned) walk arrays whose pages are dealt out by weights: 3:1 puts three
pages on the first node, then one on the second. Each node alone, all alike and some steps between
are measured in rounds, each time by a walk over whole arrays. The weights around the best are
refined by a coordinate search; those far behind are measured no more. The recommendation is the
smallest weights that are as fast as the best within noise, in the form that Linux's weighted
interleave takes (MPOL_WEIGHTED_INTERLEAVE, Linux 6.9).
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
from memgauge.experiments.interleave.parameters import InterleaveParameters, team_sizes
from memgauge.experiments.interleave.plan import (
    InterleaveGroup,
    Plan,
    planned_group,
    warnings_about,
)
from memgauge.experiments.interleave.sizes import FURTHER_SETS
from memgauge.experiments.interleave.weights import Search, behind, fast_side, label
from memgauge.experiments.shared.base import Bench, Experiment, Values
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.model.interleave_weights import Weights, placement
from memgauge.model.points.interleave import InterleaveActual, shares_text
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories


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
        """One for each kernel, with its actual facts."""
        backing = self.native.backing()
        facts = backing_facts(backing, self._plan.parameters.pages)
        facts |= InterleaveActual(shares=shares_text(_mean_shares(backing))).recorded()
        return [self._completed(kernel, spec, facts) for kernel, spec in specs.items()]

    def _completed(
        self, kernel: str, spec: _core.KernelSpec, backing: Mapping[str, Scalar]
    ) -> Point:
        shape = self._plan.sizes.shape
        elements = self.native.elements_per_block * shape.blocks * len(self._plan.cpus)
        counted = spec.counted_read_bytes + spec.counted_write_bytes
        point = self._plan.point(kernel, self.weights)
        facts = InterleaveActual(
            isa=spec.isa,
            store=spec.store,
            array_bytes=self.native.elements * shape.element_bytes,
        ).recorded()
        return msgspec.structs.replace(
            point,
            actual=point.actual | facts | dict(backing),
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
        self._walks: dict[str, tuple[Arrays, _core.KernelSpec]] = {}
        self.points = [point for weights in plan.first for point in self._added(weights)]

    def _added(self, weights: Weights) -> list[Point]:
        arrays = Arrays(self._plan, self._team, weights, self._memories)
        self._open[weights] = arrays
        self._tried.add(weights)
        for kernel, spec in self._specs.items():
            self._walks[self._plan.name(kernel, weights)] = (arrays, spec)
        return arrays.points(self._specs)

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk whole arrays once, after as much as the caches hold."""
        arrays, spec = self._walks[point]
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

    def eliminated(self, values: Values) -> set[str]:
        """Weights that are clearly behind, of each kernel."""
        return {
            self._plan.name(kernel, weights)
            for kernel in self._specs
            for weights in behind(_speeds(values, self._plan, kernel, self._tried))
        }

    def _close_lost(self, speeds: Mapping[str, Mapping[Weights, float]]) -> None:
        """Free the arrays of weights that are eliminated for all kernels."""
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

    def plan(self, parameters: InterleaveParameters, system: System) -> list[InterleaveGroup]:
        """One group for each team; its kernels share the arrays of each weights."""
        return [planned_group(parameters, system, n) for n in team_sizes(parameters, system)]

    @contextmanager
    def open(
        self,
        group: InterleaveGroup,
        parameters: InterleaveParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, deal out and fill the arrays of the first weights.

        Args:
            group: One team with its plan.
            parameters: Not used: the plan holds them.
            memories: Sources of memory, also of the arrays that the search adds later.
        """
        del parameters
        bench = InterleaveBench(group.plan, _core.Team(group.plan.cpus), memories)
        try:
            yield bench
        finally:
            bench.close()

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about pages on other nodes than requested, and arrays that caches may hold.

        Args:
            point: Its actual facts hold each node's share of the pages and the size of the arrays.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return [*warnings_about(point)]


def _speeds(
    values: Values, plan: Plan, kernel: str, weights: Iterable[Weights]
) -> dict[Weights, float]:
    """Of weights with enough values."""
    found = {one: fast_side(values.get(plan.name(kernel, one), ())) for one in weights}
    return {one: speed for one, speed in found.items() if speed is not None}


def _mean_shares(backings: Sequence[_core.Backing]) -> dict[int, float]:
    """Shares of the pages by node over all arrays; empty where the kernel does not report them."""
    reported = [dict(backing.nodes) for backing in backings]
    if not all(reported):
        return {}
    nodes = sorted({node for shares in reported for node in shares})
    return {
        node: sum(shares.get(node, 0.0) for shares in reported) / len(reported) for node in nodes
    }
