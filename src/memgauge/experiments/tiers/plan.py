"""What `tiers` measures with one team: its sampling passes, and the points of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.shared.base import Group
from memgauge.experiments.tiers.parameters import (
    TiersParameters,
    cpu_order,
    splits,
    team_sizes,
)
from memgauge.experiments.tiers.sides import Side, sides
from memgauge.experiments.tiers.sizes import TierSizes, tier_sizes
from memgauge.experiments.tiers.workloads import (
    GROUPS,
    GroupName,
    Workload,
    require_pool,
    spec_of,
    works,
)
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import MemoryPlacement
from memgauge.model.points.tiers import TiersActual, TiersRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count

Member = tuple[GroupName, int]
"""A thread with arrays: its group, and its place among the team's threads."""


class Arrays(msgspec.Struct, frozen=True, kw_only=True):
    """Of one thread in one group: how many of each kind it needs for all that it does."""

    sources: int
    destinations: int


class TeamPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One number of threads, with all that is measured with it."""

    cpus: list[int]
    """The probe's first, where there is one."""
    splits: tuple[int, ...]
    """Numbers of threads in group B."""
    works: list[Workload]
    a: Side
    b: Side
    members: list[Member]
    """A thread may be in both groups."""
    arrays: Arrays
    rings: list[MemoryPlacement]
    """Memory whose latency is probed: what A reads, and what B reads if that is another."""
    array_counts: dict[MemoryPlacement, int]
    """How many arrays lie in each memory."""
    sizes: TierSizes
    requested: TiersRequested
    """Of all points alike."""
    probe_took_cpu: bool
    """It has a thread less, because its latency is probed."""

    @property
    def probed(self) -> bool:
        """Whether latency is measured too, by a thread more."""
        return bool(self.rings)

    @property
    def threads(self) -> int:
        """Of both groups together."""
        return len(self.cpus) - self.probed

    @property
    def first_rank(self) -> int:
        """Of the team's threads that load the memory."""
        return int(self.probed)

    @property
    def name(self) -> str:
        """Of its group."""
        return format_count(self.threads, "thread")

    def side(self, group: GroupName) -> Side:
        """Memory of a group."""
        return self.a if group == "a" else self.b

    def places(self, group: GroupName, k: int) -> range:
        """Threads of a group, where `k` are in B: those with the last CPUs."""
        first_b = self.threads - k
        return range(first_b) if group == "a" else range(first_b, self.threads)

    def groups(self, k: int) -> list[GroupName]:
        """Those that have a thread then."""
        return [group for group in GROUPS if self.places(group, k)]

    def group_cpus(self, group: GroupName, k: int) -> list[int]:
        """Where they run."""
        return [self.cpus[self.first_rank + place] for place in self.places(group, k)]

    @property
    def bytes_in(self) -> dict[MemoryPlacement, int]:
        """What it allocates, by placement."""
        needed = {one: n * self.sizes.array_bytes for one, n in self.array_counts.items()}
        for one in self.rings:
            needed[one] = needed.get(one, 0) + (self.sizes.ring_bytes or 0)
        return needed


def team_plans(parameters: TiersParameters, system: System) -> list[TeamPlan]:
    """Every team to measure with.

    Raises:
        RequestError: see `sides`, `splits` and `team_sizes`.
        NotPossibleHere: there is one tier, or one CPU.
    """
    order = cpu_order(parameters, system)
    pair = sides(parameters, system, order)
    require_pool(parameters, *pair)
    return [
        team_plan(parameters, system, order[: threads + parameters.latency], pair)
        for threads in team_sizes(parameters, system)
    ]


def team_plan(
    parameters: TiersParameters, system: System, cpus: list[int], pair: tuple[Side, Side]
) -> TeamPlan:
    """One team, with arrays of sizes for which there is room.

    Args:
        parameters: As requested, for all teams.
        system: The machine, whose caches and available memory determine the sizes.
        cpus: One for each thread; with `parameters.latency` the first is the probe's.
        pair: Memory of group A, then of group B.
    """
    a, b = pair
    threads = len(cpus) - parameters.latency
    chosen = splits(parameters, threads)
    members = _members(threads, chosen)
    arrays = _arrays(parameters, a, b)
    rings = list(dict.fromkeys((a.source, b.source))) if parameters.latency else []
    counts = _array_counts(members, a, b, arrays)
    return TeamPlan(
        cpus=cpus,
        splits=chosen,
        works=works(parameters),
        a=a,
        b=b,
        members=members,
        arrays=arrays,
        rings=rings,
        array_counts=counts,
        sizes=tier_sizes(parameters, system, cpus[int(parameters.latency) :], counts, rings),
        requested=TiersRequested(
            threads=threads,
            pages=parameters.pages,
            element=parameters.element,
            store=parameters.store or "",
            fixed_iterations=parameters.fixed_iterations,
        ),
        probe_took_cpu=parameters.latency and parameters.threads is None,
    )


def _members(threads: int, chosen: Sequence[int]) -> list[Member]:
    """All threads that are ever in a group, of so many."""
    return [
        *(("a", place) for place in range(threads - min(chosen))),
        *(("b", place) for place in range(threads - max(chosen), threads)),
    ]


def _arrays(parameters: TiersParameters, *pair: Side) -> Arrays:
    needed = [
        _core.arrays_needed(spec_of(parameters, work, side))
        for work in works(parameters)
        for side in pair
    ]
    return Arrays(
        sources=max(sources for sources, _ in needed),
        destinations=max(destinations for _, destinations in needed),
    )


def _array_counts(
    members: Sequence[Member], a: Side, b: Side, arrays: Arrays
) -> dict[MemoryPlacement, int]:
    counts: Counter[MemoryPlacement] = Counter()
    for group, _ in members:
        side = a if group == "a" else b
        counts[side.source] += arrays.sources
        counts[side.destination] += arrays.destinations
    return {placement: count for placement, count in counts.items() if count}


class SamplingPass(msgspec.Struct, frozen=True, kw_only=True):
    """One native call: so many threads in B, and the points it gives samples of."""

    work: Workload
    k: int
    probe: GroupName | None = None
    """Whose source is probed meanwhile; None: no probe, and the groups' bandwidth is measured."""
    points: dict[GroupName, Point]
    """By group; of a probe the one of its latency."""

    @property
    def leader(self) -> Point:
        """The point that is measured; the other is measured with it."""
        return next(iter(self.points.values()))


class TiersGroup(Group, frozen=True, kw_only=True):
    """One number of threads."""

    plan: TeamPlan
    passes: list[SamplingPass]


def planned_group(plan: TeamPlan) -> TiersGroup:
    """All that is measured with a team."""
    passes = sampling_passes(plan)
    return TiersGroup(
        name=plan.name,
        points=[point for one in passes for point in one.points.values()],
        bytes=sum(plan.bytes_in.values()),
        bytes_in=plan.bytes_in,
        plan=plan,
        passes=passes,
    )


def sampling_passes(plan: TeamPlan) -> list[SamplingPass]:
    """Before anything is opened: names, what is requested, and where it will run."""
    passes: list[SamplingPass] = []
    for work in plan.works:
        for k in plan.splits:
            passes.append(_bandwidth_pass(plan, work, k))
            passes += [
                SamplingPass(
                    work=work, k=k, probe=group, points={group: _latency(plan, work, k, group)}
                )
                for group in GROUPS[: len(plan.rings)]
            ]
    return with_notes(passes, TiersActual(probe_took_cpu=plan.probe_took_cpu))


def with_notes(passes: Sequence[SamplingPass], notes: TiersActual) -> list[SamplingPass]:
    """With further facts of the first point: what a reader is warned of once."""
    first, *others = passes
    (group, point), *more = first.points.items()
    points = {group: point.with_actual(notes.recorded()), **dict(more)}
    return [msgspec.structs.replace(first, points=points), *others]


def _bandwidth_pass(plan: TeamPlan, work: Workload, k: int) -> SamplingPass:
    there = plan.groups(k)
    leader = _name(plan, work, k, there[0])
    points = {
        group: Point(
            point=(name := _name(plan, work, k, group)),
            experiment="tiers",
            quantity="bandwidth",
            requested=_recorded(plan, work, k, group),
            actual=_actual(plan, k, group),
            threads=len(plan.places(group, k)),
            work="window",
            measured_with=None if name == leader else leader,
        )
        for group in there
    }
    return SamplingPass(work=work, k=k, points=points)


def _latency(plan: TeamPlan, work: Workload, k: int, group: GroupName) -> Point:
    """Of the memory that a group reads, while both groups are at work."""
    return Point(
        point=_name(plan, work, k, f"latency-{group}"),
        experiment="tiers",
        quantity="latency",
        requested=_recorded(plan, work, k, group),
        actual=_actual(plan, k, group),
        accesses=HOPS,
    )


def _name(plan: TeamPlan, work: Workload, k: int, what: str) -> str:
    return f"tiers/{work.name}/{plan.threads}t/k{k}/{what}"


def _recorded(plan: TeamPlan, work: Workload, k: int, group: GroupName) -> dict[str, Scalar]:
    requested = requested_of(plan, work, group, len(plan.places(group, k)))
    return msgspec.structs.replace(requested, b_threads=k).recorded()


def requested_of(
    plan: TeamPlan, work: Workload, group: GroupName, group_threads: int
) -> TiersRequested:
    """What is requested of the threads of a group, however others are split.

    Args:
        plan: The team.
        work: What the threads of both groups do.
        group: `a` or `b`.
        group_threads: How many of the team's threads are in the group.
    """
    side = plan.side(group)
    return msgspec.structs.replace(
        plan.requested,
        **msgspec.structs.asdict(work.requested(group)),
        group=group,
        group_threads=group_threads,
        source=str(side.source),
        destination=str(side.destination),
        memory=str(side.source) if side.source == side.destination else "",
    )


def _actual(plan: TeamPlan, k: int, group: GroupName) -> dict[str, Scalar]:
    where = TiersActual(
        cpus=format_cpu_list(plan.cpus),
        probe_cpu=plan.cpus[0] if plan.probed else None,
        group_cpus=format_cpu_list(plan.group_cpus(group, k)),
    )
    return where.recorded() | plan.sizes.facts


def probe_warnings(point: Point) -> list[Warning]:
    """That the probe took a CPU from the threads, of a point that records it."""
    actual = TiersActual.of(point.actual)
    if not actual.probe_took_cpu:
        return []
    return [
        Warning(
            code="probe-took-a-cpu",
            message=(
                f"CPU {actual.probe_cpu} probes the latency, so that one CPU less than "
                f"there are loads the memory: {TiersRequested.of(point.requested).threads}"
            ),
            experiment="tiers",
        )
    ]
