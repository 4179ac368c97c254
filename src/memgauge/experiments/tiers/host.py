"""Tiers: two kinds of memory used at once, by two groups of threads.

Question: how fast is each of two kinds of memory alone, what happens when both are used at once,
and how should threads be split over them?

Method: of T threads the last k are group B and the others group A; each group walks arrays in
source and destination memories of its own. All k from none to all are visited in turn, a thread
keeping its CPU. All threads start together and go on for a common time, so that none ever works
alone; each iteration is stamped, and bandwidth is what was done while all were at work and steady.
Beside that, one more thread may chase pointers through either memory meanwhile. With fixed
iterations every thread makes the same number of walks instead, and fast threads finish early.
Source: a study of NVDIMMs beside DRAM on a dual Xeon Gold 6130 (its tables 3 to 5), which had fixed
iterations and left out the first 25 and the last third of them by eye.

What would invalidate it: arrays that fit a cache; a file on no DAX file system, which is page cache
in DRAM; threads of both groups on one core; other programs' traffic; virtual CPUs moved by the host
between two visits (distinguished by the ping-pong).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar, Literal

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.host import TIMED_LOADS
from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES, MEMORY_WARM_HOPS
from memgauge.experiments.tiers.parameters import TiersParameters, cpu_order
from memgauge.experiments.tiers.plan import (
    PROBE_TOOK_CPU,
    SamplingPass,
    TeamPlan,
    planned_visits,
    team_plan,
    team_plans,
)
from memgauge.experiments.tiers.prepared import (
    Ready,
    WorkloadPreparer,
    active_members,
    completed,
    memory_facts,
    with_pages,
)
from memgauge.experiments.tiers.sides import sides
from memgauge.experiments.tiers.sizes import TierSizes, size_warnings
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import Point, Sample, ThreadSample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories

TRIES = 3
"""Of a visit, before a round goes without it: a thread that the system kept from its CPU until the
common end has made no iteration, and the others did not meet it."""


class TiersBench(Bench):
    """Arrays of every thread in either group, and rings for the probe."""

    def __init__(
        self,
        plan: TeamPlan,
        competition: _core.Competition,
        rings: Mapping[MemoryPlacement, _core.ChaseRing],
        visits: Sequence[tuple[SamplingPass, Ready]],
        iterations: int | None,
    ) -> None:
        self._plan = plan
        self._competition = competition
        self._rings = rings
        self._visits = {visit.leader.point: (visit, ready) for visit, ready in visits}
        self._iterations = iterations
        self.points = [point for visit, _ in visits for point in visit.points.values()]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Let both groups work: their bandwidths, or what the probe sees of a memory meanwhile."""
        visit, ready = self._visits[point]
        if visit.probe is not None:
            return [self._probed(visit, ready, visit.probe, round_)]
        for _ in range(TRIES):
            taken = self._compete(visit, ready)
            if sum(bool(thread.begin_ns) for thread in taken.slice.threads) == self._plan.threads:
                return samples_of(visit, round_, taken)
        return []

    def _compete(self, visit: SamplingPass, ready: Ready) -> _core.CompetitionSlice:
        return self._competition.run(
            active_members(self._plan, ready.specs, visit.k),
            ready.iteration_bytes,
            duration_ns=ready.visit_ns or 0.0,
            iterations=self._iterations or 0,
            lead_in_iterations=self._plan.sizes.lead_in_iterations,
            pingpong=len(self._plan.cpus) > 1,
        )

    def _probed(
        self, visit: SamplingPass, ready: Ready, of: Literal["a", "b"], round_: int
    ) -> Sample:
        taken = self._competition.run_probed(
            active_members(self._plan, ready.specs, visit.k),
            ready.iteration_bytes,
            self._rings[self._plan.side(of).source],
            HOPS,
            warm_hops=MEMORY_WARM_HOPS,
            timed_loads=TIMED_LOADS,
            lead_in_iterations=self._plan.sizes.lead_in_iterations,
            pingpong=True,
        )
        return probed_sample(visit.leader.point, round_, taken)

    def validate(self) -> list[Validation]:
        """Every element of every array that was worked on holds what it must."""
        return [to_validation("tiers", self._plan.name, self._competition.validate())]


def probed_sample(point: str, round_: int, taken: _core.CompetitionSlice) -> Sample:
    """Of the probe alone, which is the first thread."""
    whole = to_sample(point, round_, taken.slice)
    probe, *others = whole.threads
    # Where another thread was switched out, the probe met another load than the one asked for.
    switches = sum(thread.involuntary_switches for thread in [probe, *others])
    mine = msgspec.structs.replace(probe, involuntary_switches=switches)
    return msgspec.structs.replace(whole, threads=[mine], load_ns=taken.load_ns)


def samples_of(visit: SamplingPass, round_: int, taken: _core.CompetitionSlice) -> list[Sample]:
    """A sample of each group, each with its own threads and the time in which all were at work."""
    whole = to_sample(visit.leader.point, round_, taken.slice)
    found: list[Sample] = []
    left = [_bare(thread) for thread in whole.threads]
    for point in visit.points.values():
        mine, left = left[: point.threads], left[point.threads :]
        found.append(
            msgspec.structs.replace(
                whole, point=point.point, threads=mine, window_ns=taken.window_ns
            )
        )
    return found


def _bare(thread: ThreadSample) -> ThreadSample:
    """Without bytes, which are those of every iteration and stand in the point."""
    return msgspec.structs.replace(thread, read_bytes=0, write_bytes=0)


class Tiers(Experiment):
    """The `tiers` experiment."""

    name: ClassVar[str] = "tiers"
    parameters: ClassVar[type[TiersParameters]] = TiersParameters

    def plan(self, parameters: TiersParameters, system: System) -> list[Group]:
        """One group for each number of threads."""
        return [
            Group(
                name=plan.name,
                points=[p for visit in planned_visits(plan) for p in visit.points.values()],
                bytes=sum(plan.bytes_in.values()),
                bytes_in=plan.bytes_in,
            )
            for plan in team_plans(parameters, system)
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: TiersParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, fill the arrays of both groups, link the rings, try each work."""
        plan = _planned(group, parameters, system)
        with ExitStack() as stack:
            team = _core.Team(plan.cpus)
            rings = {
                placement: probe_ring(team, plan, parameters, memories.of(placement))
                for placement in plan.rings
            }
            for ring in rings.values():
                stack.callback(ring.close)
            competition = _competition(team, plan, parameters, memories)
            stack.callback(competition.close)
            readier = WorkloadPreparer(parameters, plan, team, competition)
            ready = {work.name: readier.ready(work) for work in plan.works}
            facts = memory_facts(plan, competition, parameters.pages)
            visits = [
                (completed(visit, ready[visit.work.name], facts), ready[visit.work.name])
                for visit in planned_visits(with_pages(plan, facts))
            ]
            yield TiersBench(plan, competition, rings, visits, parameters.fixed_iterations)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """What spoils the figures of a team, said once by the first of its points."""
        del samples, system
        if PROBE_TOOK_CPU not in point.actual:
            return []
        return size_warnings(point) + _pages_warnings(point) + probe_warnings(point)


def _planned(group: Group, parameters: TiersParameters, system: System) -> TeamPlan:
    """The plan of a group again, with the sizes that were known then."""
    first = group.points[0]
    order = cpu_order(parameters, system)
    cpus = order[: int(str(first.requested["threads"])) + parameters.latency]
    pair = sides(parameters, system, order)
    return team_plan(parameters, system, cpus, pair, TierSizes.of(first.actual))


def probe_ring(
    team: _core.Team, plan: TeamPlan, parameters: TiersParameters, memory: _core.Memory
) -> _core.ChaseRing:
    """What the probe walks: as large as it was planned, in that memory."""
    return _core.ChaseRing(
        team,
        plan.sizes.ring_bytes or BLOCK_BYTES,
        node_bytes=MEMORY_NODE_BYTES,
        block_bytes=BLOCK_BYTES,
        order="block-random",
        pages=parameters.pages,
        memory=memory,
    )


def _competition(
    team: _core.Team, plan: TeamPlan, parameters: TiersParameters, memories: Memories
) -> _core.Competition:
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
        parameters.element,
        parameters.pages,
    )


def _pages_warnings(point: Point) -> list[Warning]:
    """Translation that costs one group more than the other is no property of its memory."""
    a, b = (str(point.actual.get(f"pages_{group}")) for group in ("a", "b"))
    if a == b:
        return []
    return [
        Warning(
            code="pages-differ",
            message=(
                f"pages differ: {a} in group A, {b} in group B, so that part of the "
                "difference between their memories may be the cost of address translation"
            ),
            remedy="make both alike with --pages 4k",
            experiment="tiers",
        )
    ]


def probe_warnings(point: Point) -> list[Warning]:
    """That the probe took a CPU from the threads, of a point that says so."""
    if not point.actual[PROBE_TOOK_CPU]:
        return []
    return [
        Warning(
            code="probe-took-a-cpu",
            message=(
                f"CPU {point.actual['probe_cpu']} probes the latency, so that one CPU less than "
                f"there are loads the memory: {point.requested['threads']}"
            ),
            experiment="tiers",
        )
    ]
