"""NUMA matrices: how fast is each memory node from each CPU node?

Question: bandwidth and latency of every pair of a CPU node and a memory node (nodes without CPUs
are memory nodes too), each pair alone and all of them at once: what does remote memory cost, is the
machine symmetric, and what do links and controllers give when everybody uses them?

Method: one thread on each core of a CPU node walks arrays on the memory node, for a common time, so
that no thread runs alone; bandwidth is what was done while all were at work and steady. All at
once: each CPU node's threads are split over all memory nodes equally, and all start together.
Latency: one thread of the node chases pointers through the memory node, block by block in random
order, as `latency` does.
Source: the matrices of Intel Memory Latency Checker and of Lameter, "NUMA: An Overview", ACM Queue
11(7), 2013; the window as in `tiers`.

What would invalidate it: arrays that fit in a cache; other programs' traffic on any node or link;
pages that the kernel put elsewhere (read back, and warned of); snoop filters and directories that
make a first access slower than later ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.numa.parameters import NumaParameters
from memgauge.experiments.numa.plan import (
    HOPS,
    PASS_NS,
    RING_ORDER,
    BandwidthGroup,
    LatencyGroup,
    NumaGroup,
    Pair,
    Plan,
    SamplingPass,
    bandwidth_group,
    latency_group,
    plan_of,
    warnings_about,
)
from memgauge.experiments.numa.sizes import Sizes
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.native import (
    backing_facts,
    huge_pages_missing,
    to_sample,
    to_validation,
)
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES, MEMORY_WARM_HOPS
from memgauge.model.memory import on_node
from memgauge.model.points.numa import NumaActual
from memgauge.model.records import Point, Sample, ThreadSample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import Touching

LONGEST_PASS_NS = 250e6
"""Of a sampling pass, where memory is so slow that `PASS_NS` is too short"""
LEAST_ITERATIONS = 8
"""for so many iterations of the slowest thread."""
TRIAL_ITERATIONS = 2


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A sampling pass with what is known of it once arrays are there."""

    planned: SamplingPass
    """With points whose `actual` is filled in."""
    active: list[tuple[int, _core.KernelSpec]]
    """Members by index, and what each does."""
    duration_ns: float


class BandwidthBench(Bench):
    """Arrays of every thread on every memory node."""

    def __init__(
        self, sizes: Sizes, competition: _core.Competition, ready: Sequence[Ready]
    ) -> None:
        self._sizes = sizes
        self._competition = competition
        self._ready = {one.planned.leader.point: one for one in ready}
        self.points = [point for one in ready for point in one.planned.points.values()]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Let all threads of the sampling pass walk for a common time."""
        ready = self._ready[point]
        taken = self._competition.run(
            ready.active,
            self._sizes.iteration_bytes,
            duration_ns=ready.duration_ns,
            lead_in_iterations=self._sizes.lead_in_iterations,
            pingpong=False,
        )
        return samples_of(ready.planned, round_, taken)

    def validate(self) -> list[Validation]:
        """Every element of every array that was worked on holds what it must."""
        return [to_validation("numa", "all pairs", self._competition.validate())]


def samples_of(planned: SamplingPass, round_: int, taken: _core.CompetitionSlice) -> list[Sample]:
    """A sample of each pair; none if a thread completed no iteration.

    The samples belong together: where a thread was switched out, the others met less traffic than
    they should, so each sample carries the switches of all threads.

    Args:
        planned: Sampling pass, with its pairs of nodes and the threads that walk for each pair.
        round_: Number of the round that the pass belongs to.
        taken: What the native call returned; its threads are in the order of their ranks.
    """
    whole = to_sample(planned.leader.point, round_, taken.slice)
    ranks = sorted(rank for walkers in planned.walks.values() for rank in walkers)
    if len(whole.threads) < len(ranks):
        return []  # a thread came to no iteration: nothing was done together
    of_rank = dict(zip(ranks, whole.threads, strict=True))
    switches = sum(thread.involuntary_switches for thread in whole.threads)
    return [
        msgspec.structs.replace(
            whole,
            point=point.point,
            threads=_disturbed([of_rank[rank] for rank in planned.walks[pair]], switches),
            window_ns=taken.window_ns,
        )
        for pair, point in planned.points.items()
    ]


def _disturbed(threads: Sequence[ThreadSample], switches: int) -> list[ThreadSample]:
    """The first with the switches of all; bytes are those of the point's iterations."""
    bare = [msgspec.structs.replace(one, read_bytes=0, write_bytes=0) for one in threads]
    return [msgspec.structs.replace(bare[0], involuntary_switches=switches), *bare[1:]]


class LatencyBench(Bench):
    """Rings of one CPU node, one on each memory node."""

    def __init__(
        self, team: _core.Team, rings: Mapping[str, _core.ChaseRing], points: list[Point]
    ) -> None:
        self._team = team
        self._rings = rings
        self.points = points

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a little further, and take the core's clock beside it."""
        taken = self._rings[point].run(HOPS, MEMORY_WARM_HOPS)
        cycles = self._team.core_cycles_per_ns()
        return [to_sample(point, round_, taken, cycles_per_ns=cycles)]


class Numa(Experiment):
    """The `numa` experiment."""

    name: ClassVar[str] = "numa"
    parameters: ClassVar[type[NumaParameters]] = NumaParameters

    def plan(self, parameters: NumaParameters, system: System) -> list[NumaGroup]:
        """One group for the bandwidth of all pairs, one for the latency from each CPU node."""
        plan = plan_of(parameters, system)
        touching = Touching(system)
        return [bandwidth_group(plan), *(latency_group(plan, one, touching) for one in plan.cpus)]

    @contextmanager
    def open(
        self,
        group: NumaGroup,
        parameters: NumaParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin threads, place and fill arrays or link rings.

        Args:
            group: Bandwidth of all pairs, or latency from one CPU node; each holds the plan.
            parameters: Not used: the plan holds them.
            memories: Sources of each node's memory.
        """
        del parameters
        with ExitStack() as stack:
            if isinstance(group, BandwidthGroup):
                yield _bandwidth_bench(stack, group, memories)
            else:
                yield _latency_bench(stack, group, memories)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about pages that are not what or where they should be, and about all pairs.

        Args:
            point: Only the first bandwidth point records what holds of all pairs.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return huge_pages_missing(point) + warnings_about(point)


def _bandwidth_bench(stack: ExitStack, group: BandwidthGroup, memories: Memories) -> BandwidthBench:
    plan = group.plan
    members = [
        _core.Member(rank, memories.of(on_node(node)), memories.of(on_node(node)), *plan.arrays)
        for rank, node in plan.members
    ]
    competition = _core.Competition(
        _core.Team(plan.team), members, plan.sizes.array_bytes, pages=plan.parameters.pages
    )
    stack.callback(competition.close)
    backings = dict(zip(plan.members, competition.backing(), strict=True))
    ready = [_ready(plan, competition, one, backings) for one in group.passes]
    return BandwidthBench(plan.sizes, competition, ready)


def _ready(
    plan: Plan,
    competition: _core.Competition,
    planned: SamplingPass,
    backings: Mapping[tuple[int, int], Sequence[_core.Backing]],
) -> Ready:
    """By a short trial: what an iteration moves, and how long the slowest thread takes for it."""
    spec = _core.default_tuned_spec(planned.kernel)
    places = {member: index for index, member in enumerate(plan.members)}
    active = [
        (places[rank, node], spec) for (_, node), ranks in planned.walks.items() for rank in ranks
    ]
    taken = competition.run(active, plan.sizes.iteration_bytes, iterations=TRIAL_ITERATIONS)
    threads = [thread for thread in taken.slice.threads if thread.begin_ns]
    slowest_ns = max(
        end - begin for one in threads for begin, end in zip(one.begin_ns, one.end_ns, strict=True)
    )
    duration_ns = round(min(LONGEST_PASS_NS, max(PASS_NS, LEAST_ITERATIONS * slowest_ns)))
    counted = threads[0].read_bytes + threads[0].write_bytes
    of_element = spec.counted_read_bytes + spec.counted_write_bytes
    moved = counted + counted * spec.write_allocate_bytes // of_element
    run = NumaActual(isa=spec.isa, store=spec.store, pass_ns=duration_ns).recorded()

    def completed(pair: Pair, point: Point) -> Point:
        backing = [one for rank in planned.walks[pair] for one in backings[rank, pair[1]]]
        facts = run | backing_facts(backing, plan.parameters.pages)
        return msgspec.structs.replace(
            point.with_actual(facts), bytes_counted=counted, bytes_moved=moved
        )

    points = {pair: completed(pair, point) for pair, point in planned.points.items()}
    return Ready(
        planned=msgspec.structs.replace(planned, points=points),
        active=active,
        duration_ns=duration_ns,
    )


def _latency_bench(stack: ExitStack, group: LatencyGroup, memories: Memories) -> LatencyBench:
    plan = group.plan
    team = _core.Team([group.cpu])
    rings: dict[str, _core.ChaseRing] = {}
    points: list[Point] = []
    for node, point in zip(plan.nodes, group.points, strict=True):
        ring = _core.ChaseRing(
            team,
            plan.sizes.ring_bytes,
            node_bytes=MEMORY_NODE_BYTES,
            block_bytes=BLOCK_BYTES,
            order=RING_ORDER,
            pages=plan.parameters.pages,
            memory=memories.of(on_node(node)),
            linkers=_core.Team(group.linkers[node]),
        )
        stack.callback(ring.close)
        rings[point.point] = ring
        points.append(point.with_actual(backing_facts([ring.backing()], plan.parameters.pages)))
    return LatencyBench(team, rings, points)
