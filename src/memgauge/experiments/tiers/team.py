"""A team whose arrays are filled and whose rings are linked: its native calls and their samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.host import TIMED_LOADS
from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES, MEMORY_WARM_HOPS
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import TeamPlan
from memgauge.experiments.tiers.prepared import (
    Ready,
    Recorded,
    active_members,
    memory_facts,
    prepare,
)
from memgauge.experiments.tiers.workloads import GroupName, Workload
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import Point, Sample, ThreadSample, Validation
from memgauge.system.memory.sources import Memories

TRIES = 3
"""Of a sampling pass, before a round goes without it: a thread that the system kept from its CPU
until the common end has made no iteration, and the others did not meet it."""


class PreparedTeam(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays of every thread in either group, and rings for the probe."""

    plan: TeamPlan
    competition: _core.Competition
    rings: dict[MemoryPlacement, _core.ChaseRing]
    ready: dict[str, Ready]
    """Works by name."""
    memory: dict[GroupName, Recorded]
    """What backs the arrays of each group."""

    def compete(
        self, work: Workload, k: int = 0, duration_ns: float | None = None
    ) -> _core.CompetitionSlice:
        """One sampling pass in which all threads work.

        Args:
            work: One of the team's works.
            k: Number of threads in group B; the others are in group A.
            duration_ns: How long they work, in ns; None: as planned for this work.
        """
        ready = self.ready[work.name]
        return self.competition.run(
            active_members(self.plan, ready.specs, k),
            ready.iteration_bytes,
            duration_ns=duration_ns or ready.duration_ns or 0.0,
            iterations=self.plan.requested.fixed_iterations or 0,
            lead_in_iterations=self.plan.sizes.lead_in_iterations,
            pingpong=len(self.plan.cpus) > 1,
        )

    def probe(
        self, memory: MemoryPlacement, work: Workload | None, k: int = 0
    ) -> _core.CompetitionSlice:
        """One sampling pass in which the probe walks a ring while the other threads work.

        Args:
            memory: Placement of the ring, one of the plan's `rings`.
            work: What the other threads do; None: they sleep.
            k: Number of threads in group B; the others, but for the probe, are in group A.
        """
        ready = None if work is None else self.ready[work.name]
        sizes = self.plan.sizes
        return self.competition.run_probed(
            [] if ready is None else active_members(self.plan, ready.specs, k),
            sizes.iteration_bytes if ready is None else ready.iteration_bytes,
            self.rings[memory],
            HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            timed_loads=TIMED_LOADS,
            lead_in_iterations=sizes.lead_in_iterations,
            pingpong=True,
        )

    def validation(self) -> Validation:
        """Whether every element of every array that was worked on holds what it must."""
        return to_validation("tiers", self.plan.name, self.competition.validate())


class TeamBench(Bench):
    """A bench whose sampling passes may give nothing, and are then tried again."""

    def measure(self, point: str, round_: int) -> list[Sample]:
        """One sampling pass; empty where a thread never came to run."""
        for _ in range(TRIES):
            taken = self._attempt(point, round_)
            if taken:
                return taken
        return []

    @abstractmethod
    def _attempt(self, point: str, round_: int) -> list[Sample]:
        """Empty where not all that should be at work were."""


@contextmanager
def prepared_team(
    plan: TeamPlan, parameters: TiersParameters, memories: Memories
) -> Iterator[PreparedTeam]:
    """Pin the team, link the rings, fill the arrays of both groups, try each work.

    Args:
        plan: The team.
        parameters: Those that the team was planned with.
        memories: Memory opened for the run, for the arrays and rings.
    """
    with ExitStack() as stack:
        team = _core.Team(plan.cpus)
        rings: dict[MemoryPlacement, _core.ChaseRing] = {}
        for placement in plan.rings:
            rings[placement] = _probe_ring(team, plan, memories.of(placement))
            stack.callback(rings[placement].close)
        competition = _competition(team, plan, memories)
        stack.callback(competition.close)
        yield PreparedTeam(
            plan=plan,
            competition=competition,
            rings=rings,
            ready=prepare(plan, parameters, team, competition),
            memory=memory_facts(plan, competition),
        )


def _probe_ring(team: _core.Team, plan: TeamPlan, memory: _core.Memory) -> _core.ChaseRing:
    """What the probe walks: as large as it was planned, in that memory."""
    return _core.ChaseRing(
        team,
        plan.sizes.ring_bytes or BLOCK_BYTES,
        node_bytes=MEMORY_NODE_BYTES,
        block_bytes=BLOCK_BYTES,
        order="block-random",
        pages=plan.requested.pages,
        memory=memory,
    )


def _competition(team: _core.Team, plan: TeamPlan, memories: Memories) -> _core.Competition:
    return _core.Competition(
        team,
        [
            _core.Member(
                plan.first_rank + place,
                memories.of(plan.side(group).source),
                memories.of(plan.side(group).destination),
                plan.arrays.sources,
                plan.arrays.destinations,
            )
            for group, place in plan.members
        ],
        plan.sizes.array_bytes,
        plan.requested.element,
        plan.requested.pages,
    )


def samples_of(points: Iterable[Point], round_: int, taken: _core.CompetitionSlice) -> list[Sample]:
    """A sample of each point, with its own threads and the time in which all were at work.

    Empty where a thread made no iteration.

    Args:
        points: Points of one sampling pass, in the order of their threads: group A before B.
        round_: Number of the round.
        taken: Result of the native call, with the threads of all the points.
    """
    first, *others = points
    whole = to_sample(first.point, round_, taken.slice)
    left = [bare(thread) for thread in whole.threads]
    if len(left) < sum(point.threads for point in (first, *others)):
        return []
    found: list[Sample] = []
    for point in (first, *others):
        mine, left = left[: point.threads], left[point.threads :]
        found.append(
            msgspec.structs.replace(
                whole, point=point.point, threads=mine, window_ns=taken.window_ns
            )
        )
    return found


def bare(thread: ThreadSample) -> ThreadSample:
    """Without bytes, which are those of every iteration and stand in the point."""
    return msgspec.structs.replace(thread, read_bytes=0, write_bytes=0)


def probed_sample(point: str, round_: int, taken: _core.CompetitionSlice) -> Sample:
    """The sample of the probe alone.

    Args:
        point: Name of the point of the latency.
        round_: Number of the round.
        taken: Result of the native call; its first thread is the probe.
    """
    whole = to_sample(point, round_, taken.slice)
    probe, *others = whole.threads
    # Where another thread was switched out, the probe met another load than the one requested.
    switches = sum(thread.involuntary_switches for thread in [probe, *others])
    mine = msgspec.structs.replace(probe, involuntary_switches=switches)
    return msgspec.structs.replace(whole, threads=[mine], load_ns=taken.load_ns)
