"""Tiers: two kinds of memory used at once, by two groups of threads.

Question: how fast is each of two kinds of memory alone, what happens when both are used at once,
and how should threads be split over them?

Method: of T threads the last k are group B and the others group A; each group walks arrays in
source and destination memories of its own. All k from none to all are measured in turn, a thread
keeping its CPU. All threads start together and go on for a common time, so that none ever works
alone; each iteration is stamped, and bandwidth is what was done while all were at work and steady.
Beside that, one more thread may chase pointers through either memory meanwhile. With fixed
iterations every thread makes the same number of walks instead, and fast threads finish early.
Source: a study of NVDIMMs beside DRAM on a dual Xeon Gold 6130 (its tables 3 to 5), which had fixed
iterations and left out the first 25 and the last third of them by eye.

What would invalidate it: arrays that fit a cache; a file on no DAX file system, which is page cache
in DRAM; threads of both groups on one core; other programs' traffic; virtual CPUs moved by the host
between two sampling passes (distinguished by the ping-pong).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import (
    SamplingPass,
    TiersGroup,
    planned_group,
    probe_warnings,
    team_plans,
)
from memgauge.experiments.tiers.prepared import completed
from memgauge.experiments.tiers.sizes import size_warnings
from memgauge.experiments.tiers.team import (
    PreparedTeam,
    TeamBench,
    prepared_team,
    probed_sample,
    samples_of,
)
from memgauge.model.points.tiers import TiersActual
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories


class TiersBench(TeamBench):
    """Two groups of threads beside each other, and what a probe sees meanwhile."""

    def __init__(self, team: PreparedTeam, passes: Sequence[SamplingPass]) -> None:
        self._team = team
        self._passes = {one.leader.point: one for one in passes}
        self.points = [point for one in passes for point in one.points.values()]

    def _attempt(self, point: str, round_: int) -> list[Sample]:
        """Let both groups work: their bandwidths, or what the probe sees of a memory meanwhile."""
        planned = self._passes[point]
        if planned.probe is None:
            taken = self._team.compete(planned.work, planned.k)
            return samples_of(planned.points.values(), round_, taken)
        memory = self._team.plan.side(planned.probe).source
        taken = self._team.probe(memory, planned.work, planned.k)
        return [probed_sample(point, round_, taken)]

    def validate(self) -> list[Validation]:
        """Every element of every array that was worked on holds what it must."""
        return [self._team.validation()]


class Tiers(Experiment):
    """The `tiers` experiment."""

    name: ClassVar[str] = "tiers"
    parameters: ClassVar[type[TiersParameters]] = TiersParameters

    def plan(self, parameters: TiersParameters, system: System) -> list[TiersGroup]:
        """One group for each number of threads."""
        return [planned_group(plan) for plan in team_plans(parameters, system)]

    @contextmanager
    def open(
        self,
        group: TiersGroup,
        parameters: TiersParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, fill the arrays of both groups, link the rings, try each work.

        Args:
            group: One that `plan` returned.
            parameters: Those that the group was planned with.
            memories: Memory opened for the run, for the arrays and the probe's rings.
        """
        with prepared_team(group.plan, parameters, memories) as team:
            yield TiersBench(team, completed(group.passes, team.ready, team.memory))

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """What spoils the figures of a team, found once, at the first of its points.

        Args:
            point: The point; only the first of a team is warned of.
            elapsed_ns: Not used; the facts of the point suffice.
            system: Not used either.
        """
        del elapsed_ns, system
        actual = TiersActual.of(point.actual)
        if actual.probe_took_cpu is None:
            return []
        return size_warnings(point) + _pages_warnings(actual) + probe_warnings(point)


def _pages_warnings(actual: TiersActual) -> list[Warning]:
    """Translation that costs one group more than the other is no property of its memory."""
    a, b = actual.pages_a, actual.pages_b
    if a == b:
        return []
    return [
        Warning(
            code="pages-differ",
            message=(
                f"pages differ: {a} in group A, {b} in group B, so that part of the "
                "difference between their memories may be the cost of address translation"
            ),
            remedy="make both the same with --pages 4k",
            experiment="tiers",
        )
    ]
