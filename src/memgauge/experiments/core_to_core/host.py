"""Core to core: how long does a CPU wait for a line that another CPU wrote?

Question: what is the latency from each CPU to each, which CPUs are near each other, is that what
the topology claims, and how many operations a second does a line allow that all want at once?

Method: two threads hand one line back and forth. By stores, each waits with loads until it reads
what the other wrote, and answers with a store to the same line; by compare-and-swap, waiting and
answering are one instruction. The figure is one way, half a round trip. The line lies on the node
of the first CPU; pairs across nodes are measured in both directions. Each sample uses another line
of a page, since caches are spread over slices by address. Contended: all threads of a team add to
one line, or read and swap it, until it shows that all is done, so that none works alone.
Source: the ping-pong is that of core-to-core-latency (N. Viennot) and c2clat (E. Rigtorp).

What would invalidate it: other programs on the CPUs of a pair; clocks that are slow while a sample
begins; a host that moves virtual CPUs meanwhile, which samples by rounds show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.core_to_core.parameters import CoreToCoreParameters
from memgauge.experiments.core_to_core.plan import (
    BATCH_ROUND_TRIPS,
    BATCHES,
    OPERATIONS,
    CoreToCoreGroup,
    plan_of,
)
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.model.records import Sample
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories


class CoreToCoreBench(Bench):
    """A thread on each CPU, and lines on each node."""

    def __init__(
        self,
        group: CoreToCoreGroup,
        ranks: Mapping[int, int],
        lines: Mapping[int, _core.SharedLines],
    ) -> None:
        self._group = group
        self._ranks = ranks
        self._lines = lines
        self._swaps = {
            point.measured_with: point.point for point in group.points if point.measured_with
        }
        facts = {node: backing_facts([of.backing()], "4k") for node, of in lines.items()}
        self.points = [
            point.with_actual(facts[self._home(point.measured_with or point.point)])
            for point in group.points
        ]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Hand a line over by stores and then by swaps, or contend for one."""
        lines = self._lines[self._home(point)]
        team = self._group.teams.get(point)
        if team is not None:
            ranks = [self._ranks[cpu] for cpu in team.cpus]
            return [to_sample(point, round_, lines.contend(ranks, team.operation, OPERATIONS))]
        first, second = (self._ranks[cpu] for cpu in self._group.pairs[point])
        taken = lines.hand_over(first, second, BATCHES, BATCH_ROUND_TRIPS)
        samples = [
            to_sample(point, round_, taken.store),
            to_sample(self._swaps[point], round_, taken.compare_and_swap),
        ]
        return [sample for sample in samples if len(sample.threads) == 2]

    def _home(self, leader: str) -> int:
        """Node of the line of a point that is measured for itself."""
        team = self._group.teams.get(leader)
        first = self._group.pairs[leader][0] if team is None else team.cpus[0]
        return self._group.node_of[first]


class CoreToCore(Experiment):
    """The `core_to_core` experiment."""

    name: ClassVar[str] = "core_to_core"
    parameters: ClassVar[type[CoreToCoreParameters]] = CoreToCoreParameters

    def plan(self, parameters: CoreToCoreParameters, system: System) -> list[CoreToCoreGroup]:
        """One group: all share the threads, one on each CPU."""
        return [plan_of(parameters, system)]

    @contextmanager
    def open(
        self,
        group: CoreToCoreGroup,
        parameters: CoreToCoreParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the threads, and touch the lines of each node.

        Args:
            group: All pairs and teams.
            parameters: Not used: the group holds what they stand for.
            memories: Sources of each node's memory.
        """
        del parameters
        cpus = group.cpus
        ranks = {cpu: rank for rank, cpu in enumerate(cpus)}
        team = _core.Team(cpus)
        firsts: dict[int, int] = {}
        for cpu in cpus:
            firsts.setdefault(group.node_of[cpu], cpu)
        with ExitStack() as stack:
            lines: dict[int, _core.SharedLines] = {}
            for node, first in firsts.items():
                lines[node] = _core.SharedLines(
                    team, ranks[first], memory=memories.of(group.places[node])
                )
                stack.callback(lines[node].close)
            yield CoreToCoreBench(group, ranks, lines)
