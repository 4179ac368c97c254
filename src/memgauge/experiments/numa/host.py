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
from memgauge.experiments.numa.parameters import CpuNode, NumaParameters
from memgauge.experiments.numa.plan import (
    HOPS,
    Pair,
    Plan,
    SamplingPass,
    latency_point,
    plan_of,
    visits,
    warnings_about,
    with_facts,
)
from memgauge.experiments.numa.sizes import Sizes, bytes_on, sizes
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import (
    backing_facts,
    huge_pages_missing,
    to_sample,
    to_validation,
)
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES, MEMORY_WARM_HOPS
from memgauge.model.memory import on_node
from memgauge.model.records import Point, Sample, Scalar, ThreadSample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories

BANDWIDTH = "bandwidth"
VISIT_NS = 5e6
"""What a visit lasts at least,"""
LONGEST_VISIT_NS = 250e6
"""and at most, where memory is so slow that it takes longer"""
LEAST_ITERATIONS = 8
"""for so many iterations of the slowest thread."""
TRIAL_ITERATIONS = 2


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A visit with what is known of it once arrays are there."""

    visit: SamplingPass
    active: list[tuple[int, _core.KernelSpec]]
    """Members by index, and what each does."""
    visit_ns: float


class BandwidthBench(Bench):
    """Arrays of every thread on every memory node."""

    def __init__(
        self, sizes: Sizes, competition: _core.Competition, ready: Sequence[Ready]
    ) -> None:
        self._sizes = sizes
        self._competition = competition
        self._ready = {one.visit.leader.point: one for one in ready}
        self.points = [point for one in ready for point in one.visit.points.values()]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Let all threads of the visit walk for a common time."""
        ready = self._ready[point]
        taken = self._competition.run(
            ready.active,
            self._sizes.iteration_bytes,
            duration_ns=ready.visit_ns,
            lead_in_iterations=self._sizes.lead_in_iterations,
            pingpong=False,
        )
        return samples_of(ready.visit, round_, taken)

    def validate(self) -> list[Validation]:
        """Every element of every array that was worked on holds what it must."""
        return [to_validation("numa", "all pairs", self._competition.validate())]


def samples_of(visit: SamplingPass, round_: int, taken: _core.CompetitionSlice) -> list[Sample]:
    """A sample of each pair.

    They belong together: where a thread was switched out, the others met less traffic than they
    should, so each sample carries the switches of all.
    """
    whole = to_sample(visit.leader.point, round_, taken.slice)
    ranks = sorted(rank for walkers in visit.walks.values() for rank in walkers)
    if len(whole.threads) < len(ranks):
        return []  # a thread came to no iteration: nothing was done together
    of_rank = dict(zip(ranks, whole.threads, strict=True))
    switches = sum(thread.involuntary_switches for thread in whole.threads)
    return [
        msgspec.structs.replace(
            whole,
            point=point.point,
            threads=_disturbed([of_rank[rank] for rank in visit.walks[pair]], switches),
            window_ns=taken.window_ns,
        )
        for pair, point in visit.points.items()
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

    def plan(self, parameters: NumaParameters, system: System) -> list[Group]:
        """One group for the bandwidth of all pairs, one for the latency from each CPU node."""
        plan = plan_of(parameters, system)
        of_all = _sizes(plan, system)
        taken = bytes_on(of_all, plan.cpus, plan.nodes, sum(_arrays(parameters)))
        rings = dict.fromkeys(plan.nodes, of_all.ring_bytes)
        return [
            _group(BANDWIDTH, [p for v in visits(plan, of_all) for p in v.points.values()], taken),
            *(
                _group(
                    _latency_name(one),
                    [latency_point(plan, of_all, one, node, {}) for node in plan.nodes],
                    rings,
                )
                for one in plan.cpus
            ),
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: NumaParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin threads, place and fill arrays or link rings."""
        plan = plan_of(parameters, system)
        of_all = _sizes(plan, system)
        with ExitStack() as stack:
            if group.name == BANDWIDTH:
                yield _bandwidth_bench(stack, plan, of_all, memories)
            else:
                one = next(one for one in plan.cpus if _latency_name(one) == group.name)
                yield _latency_bench(stack, plan, of_all, one, memories)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Pages that are not what or where they were to be, and what holds of all pairs."""
        del samples, system
        return huge_pages_missing(point) + warnings_about(point)


def _latency_name(one: CpuNode) -> str:
    return f"latency, node {one.node}"


def _arrays(parameters: NumaParameters) -> tuple[int, int]:
    """Sources and destinations that the kernels need."""
    needed = [_core.arrays_needed(_core.default_tuned_spec(name)) for name in parameters.kernel]
    return max(one for one, _ in needed), max(one for _, one in needed)


def _sizes(plan: Plan, system: System) -> Sizes:
    return sizes(plan.parameters, system, plan.cpus, plan.nodes, sum(_arrays(plan.parameters)))


def _group(name: str, points: list[Point], taken: Mapping[int, int]) -> Group:
    return Group(
        name=name,
        points=points,
        bytes=sum(taken.values()),
        bytes_in={on_node(node): size for node, size in taken.items()},
    )


def _bandwidth_bench(
    stack: ExitStack, plan: Plan, of_all: Sizes, memories: Memories
) -> BandwidthBench:
    sources, destinations = _arrays(plan.parameters)
    members = [
        _core.Member(
            rank, memories.of(on_node(node)), memories.of(on_node(node)), sources, destinations
        )
        for rank, node in plan.members
    ]
    competition = _core.Competition(
        _core.Team(plan.team), members, of_all.array_bytes, pages=plan.parameters.pages
    )
    stack.callback(competition.close)
    backings = dict(zip(plan.members, competition.backing(), strict=True))
    ready = [_ready(plan, of_all, competition, one, backings) for one in visits(plan, of_all)]
    return BandwidthBench(of_all, competition, ready)


def _ready(
    plan: Plan,
    of_all: Sizes,
    competition: _core.Competition,
    visit: SamplingPass,
    backings: Mapping[tuple[int, int], Sequence[_core.Backing]],
) -> Ready:
    """By a short trial: what an iteration moves, and how long the slowest thread takes for it."""
    spec = _core.default_tuned_spec(visit.kernel)
    places = {member: index for index, member in enumerate(plan.members)}
    active = [
        (places[rank, node], spec) for (_, node), ranks in visit.walks.items() for rank in ranks
    ]
    taken = competition.run(active, of_all.iteration_bytes, iterations=TRIAL_ITERATIONS)
    threads = [thread for thread in taken.slice.threads if thread.begin_ns]
    slowest_ns = max(
        end - begin for one in threads for begin, end in zip(one.begin_ns, one.end_ns, strict=True)
    )
    visit_ns = round(min(LONGEST_VISIT_NS, max(VISIT_NS, LEAST_ITERATIONS * slowest_ns)))
    counted = threads[0].read_bytes + threads[0].write_bytes
    of_element = spec.counted_read_bytes + spec.counted_write_bytes
    moved = counted + counted * spec.write_allocate_bytes // of_element
    done: dict[str, Scalar] = {"isa": spec.isa, "store": spec.store, "visit_ns": visit_ns}

    def completed(pair: Pair, point: Point) -> Point:
        backing = [one for rank in visit.walks[pair] for one in backings[rank, pair[1]]]
        got = backing_facts(backing, plan.parameters.pages)
        return msgspec.structs.replace(
            with_facts(point, {**done, **got}), bytes_counted=counted, bytes_moved=moved
        )

    points = {pair: completed(pair, point) for pair, point in visit.points.items()}
    return Ready(
        visit=msgspec.structs.replace(visit, points=points), active=active, visit_ns=visit_ns
    )


def _latency_bench(
    stack: ExitStack, plan: Plan, of_all: Sizes, one: CpuNode, memories: Memories
) -> LatencyBench:
    team = _core.Team([one.cpus[0]])
    rings: dict[str, _core.ChaseRing] = {}
    points: list[Point] = []
    for node in plan.nodes:
        ring = _core.ChaseRing(
            team,
            of_all.ring_bytes,
            node_bytes=MEMORY_NODE_BYTES,
            block_bytes=BLOCK_BYTES,
            order="block-random",
            pages=plan.parameters.pages,
            memory=memories.of(on_node(node)),
        )
        stack.callback(ring.close)
        got = backing_facts([ring.backing()], plan.parameters.pages)
        point = latency_point(plan, of_all, one, node, got)
        rings[point.point] = ring
        points.append(point)
    return LatencyBench(team, rings, points)
