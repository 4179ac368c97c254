"""What `tiers` measures with one team: its visits, and the points of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.plan import HOPS
from memgauge.experiments.tiers.parameters import (
    TiersParameters,
    cpu_order,
    splits,
    team_sizes,
)
from memgauge.experiments.tiers.sides import Side, sides
from memgauge.experiments.tiers.sizes import TierSizes, tier_sizes
from memgauge.experiments.tiers.workloads import Group, Workload, require_pool, spec_of, works
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import Point, Scalar
from memgauge.model.system import System
from memgauge.model.units import format_count

PROBE_TOOK_CPU = "probe_took_cpu"
"""Fact of a team's first point: it has a thread less, because its latency is probed."""


class Arrays(msgspec.Struct, frozen=True, kw_only=True):
    """Of one thread in one group: how many of each kind it needs for all that it does."""

    sources: int
    destinations: int


class TeamPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One number of threads, with all that is measured with it."""

    cpus: list[int]
    """The probe's first, where there is one."""
    probed: bool
    splits: tuple[int, ...]
    """Numbers of threads in group B."""
    works: list[Workload]
    a: Side
    b: Side
    arrays: Arrays
    sizes: TierSizes
    requested: dict[str, Scalar]
    """Of all points."""
    notes: dict[str, Scalar]
    """Facts of its first point: what a reader is warned of once."""

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

    @property
    def members(self) -> list[tuple[Group, int]]:
        """Group and place of every thread that has arrays; a thread may be in both groups."""
        return [
            *(("a", place) for place in range(self.threads - min(self.splits))),
            *(("b", place) for place in range(self.threads - max(self.splits), self.threads)),
        ]

    def side(self, group: Group) -> Side:
        """Memory of a group."""
        return self.a if group == "a" else self.b

    def places(self, group: Group, k: int) -> range:
        """Threads of a group, where `k` are in B: those with the last CPUs."""
        first_b = self.threads - k
        return range(first_b) if group == "a" else range(first_b, self.threads)

    def groups(self, k: int) -> list[Group]:
        """Those that have a thread then."""
        both: tuple[Group, ...] = ("a", "b")
        return [group for group in both if self.places(group, k)]

    def group_cpus(self, group: Group, k: int) -> list[int]:
        """Where they run."""
        return [self.cpus[self.first_rank + place] for place in self.places(group, k)]

    @property
    def rings(self) -> list[MemoryPlacement]:
        """Memory whose latency is probed: what A reads, and what B reads if that is another."""
        return list(dict.fromkeys((self.a.source, self.b.source))) if self.probed else []

    @property
    def bytes_in(self) -> dict[MemoryPlacement, int]:
        """What it allocates, by placement."""
        counts = _array_counts(self.members, self.a, self.b, self.arrays)
        needed = Counter({one: n * self.sizes.array_bytes for one, n in counts.items()})
        for placement in self.rings:
            needed[placement] += self.sizes.ring_bytes or 0
        return dict(needed)


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
    parameters: TiersParameters,
    system: System,
    cpus: list[int],
    pair: tuple[Side, Side],
    sizes: TierSizes | None = None,
) -> TeamPlan:
    """One team; of the sizes given, which it was planned with before, else as there is room."""
    a, b = pair
    threads = len(cpus) - parameters.latency
    plan = TeamPlan(
        cpus=cpus,
        probed=parameters.latency,
        splits=splits(parameters, threads),
        works=works(parameters),
        a=a,
        b=b,
        arrays=_arrays(parameters, a, b),
        sizes=sizes or _UNSIZED,
        requested={
            "threads": threads,
            "pages": parameters.pages,
            "element": parameters.element,
            "store": parameters.store,
            "fixed_iterations": parameters.fixed_iterations,
        },
        notes={PROBE_TOOK_CPU: parameters.latency and parameters.threads is None},
    )
    if sizes is not None:
        return plan
    counts = _array_counts(plan.members, a, b, plan.arrays)
    fitting = tier_sizes(parameters, system, cpus[plan.first_rank :], counts, plan.rings)
    return msgspec.structs.replace(plan, sizes=fitting)


_UNSIZED = TierSizes(
    array_bytes=0, iteration_bytes=0, lead_in_iterations=0, ring_bytes=None, llc_bytes=None
)


def _arrays(parameters: TiersParameters, *groups: Side) -> Arrays:
    needed = [
        _core.arrays_needed(spec_of(parameters, work, side))
        for work in works(parameters)
        for side in groups
    ]
    return Arrays(
        sources=max(sources for sources, _ in needed),
        destinations=max(destinations for _, destinations in needed),
    )


def _array_counts(
    members: Sequence[tuple[Group, int]], a: Side, b: Side, arrays: Arrays
) -> Counter[MemoryPlacement]:
    """How many arrays lie in each memory."""
    counts: Counter[MemoryPlacement] = Counter()
    for group, _ in members:
        side = a if group == "a" else b
        counts[side.source] += arrays.sources
        counts[side.destination] += arrays.destinations
    return Counter({placement: count for placement, count in counts.items() if count})


class SamplingPass(msgspec.Struct, frozen=True, kw_only=True):
    """One native call: so many threads in B, and the points it gives samples of."""

    work: Workload
    k: int
    probe: Group | None = None
    """Whose source is probed meanwhile; None: no probe, and the groups' bandwidth is measured."""
    points: dict[Group, Point]
    """By group; of a probe the one of its latency."""

    @property
    def leader(self) -> Point:
        """The point that is visited."""
        return next(iter(self.points.values()))


def planned_visits(plan: TeamPlan) -> list[SamplingPass]:
    """Before anything is opened: names, what is asked, and where it will run."""
    visits: list[SamplingPass] = []
    for work in plan.works:
        for k in plan.splits:
            visits.append(_bandwidth_visit(plan, work, k))
            visits += [
                SamplingPass(
                    work=work, k=k, probe=group, points={group: _latency(plan, work, k, group)}
                )
                for group in _probed_groups(plan)
            ]
    first, *others = visits
    (group, point), *more = first.points.items()
    noted = {group: with_facts(point, plan.notes), **dict(more)}
    return [msgspec.structs.replace(first, points=noted), *others]


def _probed_groups(plan: TeamPlan) -> tuple[Group, ...]:
    groups: tuple[Group, ...] = ("a", "b")
    return groups[: len(plan.rings)]


def _bandwidth_visit(plan: TeamPlan, work: Workload, k: int) -> SamplingPass:
    there = plan.groups(k)
    leader = _name(plan, work, k, there[0])
    points = {
        group: Point(
            point=(name := _name(plan, work, k, group)),
            experiment="tiers",
            quantity="bandwidth",
            requested=_requested(plan, work, k, group),
            actual=_actual(plan, k, group),
            threads=len(plan.places(group, k)),
            work="window",
            measured_with=None if name == leader else leader,
        )
        for group in there
    }
    return SamplingPass(work=work, k=k, points=points)


def _latency(plan: TeamPlan, work: Workload, k: int, group: Group) -> Point:
    """Of the memory that a group reads, while both groups are at work."""
    return Point(
        point=_name(plan, work, k, f"latency-{group}"),
        experiment="tiers",
        quantity="latency",
        requested=_requested(plan, work, k, group),
        actual=_actual(plan, k, group),
        accesses=HOPS,
    )


def _name(plan: TeamPlan, work: Workload, k: int, what: str) -> str:
    return f"tiers/{work.name}/{plan.threads}t/k{k}/{what}"


def _requested(plan: TeamPlan, work: Workload, k: int, group: Group) -> dict[str, Scalar]:
    side = plan.side(group)
    return {
        **work.requested(group),
        **plan.requested,
        "group": group,
        "group_threads": len(plan.places(group, k)),
        "b_threads": k,
        "source": str(side.source),
        "destination": str(side.destination),
        "memory": str(side.source) if side.source == side.destination else None,
    }


def _actual(plan: TeamPlan, k: int, group: Group) -> dict[str, Scalar]:
    probe: dict[str, Scalar] = {"probe_cpu": plan.cpus[0]} if plan.probed else {}
    return {
        "cpus": format_cpu_list(plan.cpus),
        **probe,
        "group_cpus": format_cpu_list(plan.group_cpus(group, k)),
        **plan.sizes.facts,
    }


def with_facts(point: Point, facts: Mapping[str, Scalar]) -> Point:
    """The point with further facts about what was got."""
    return msgspec.structs.replace(point, actual={**point.actual, **facts})
