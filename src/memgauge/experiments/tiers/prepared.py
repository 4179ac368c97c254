"""What is known of a team's work once buffers and threads are there: pauses, bytes, time, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import linear_regression

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.host import CALIBRATION_UNITS
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import SamplingPass, TeamPlan, with_facts
from memgauge.experiments.tiers.workloads import Group, Spec, Workload, spec_facts, spec_of
from memgauge.model.records import Point, Scalar

VISIT_NS = 10e6
"""What a visit lasts at least: some twenty iterations of one thread. In much more time there is
hardly a visit in which no thread was switched out;"""
LONGEST_VISIT_NS = 250e6
"""at most, where memory is so slow that it takes longer,"""
LEAST_ITERATIONS = 8
"""for so many iterations of the slowest thread."""

TRIAL_ITERATIONS = 3
"""The quickest of them tells how long a thread takes: in others it may have been switched out."""

Facts = Mapping[str, Scalar]


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """One work, ready to be run."""

    specs: dict[Group, Spec]
    iteration_bytes: int
    """As the threads are given it: of each array, or of all accesses of a mix."""
    bytes_of: dict[Group, tuple[int, int]]
    """Counted and moved by one iteration of one thread, of groups that are ever at work."""
    visit_ns: float | None
    """How long a visit lasts; None: as long as a fixed number of iterations take."""
    facts: dict[Group, dict[str, Scalar]]


class WorkloadPreparer:
    """Turns the works of a team into ready ones, by short trials."""

    def __init__(
        self,
        parameters: TiersParameters,
        plan: TeamPlan,
        team: _core.Team,
        competition: _core.Competition,
    ) -> None:
        self._parameters = parameters
        self._plan = plan
        self._competition = competition
        delayed = any((*parameters.delay_a, *parameters.delay_b))
        self._ns_per_unit = _ns_per_unit(team, plan.first_rank) if delayed else 1.0
        self._fixed = parameters.fixed_iterations is not None

    def ready(self, work: Workload) -> Ready:
        """Run a few iterations with most threads in A, then with most in B."""
        plan = self._plan
        specs: dict[Group, Spec] = {group: self._spec(work, group) for group in ("a", "b")}
        iteration_bytes = plan.sizes.iteration_bytes * (2 if work.load else 1)
        bytes_of: dict[Group, tuple[int, int]] = {}
        slowest_ns = 0
        for k in (plan.splits[0], plan.splits[-1]):
            threads = self._trial(active_members(plan, specs, k), iteration_bytes)
            for group in plan.groups(k):
                thread = threads[plan.first_rank + plan.places(group, k)[0]]
                bytes_of[group] = _bytes_of(specs[group], thread)
            slowest_ns = max(slowest_ns, *(_iteration_ns(one) for one in threads if one.begin_ns))
        visit_ns = min(LONGEST_VISIT_NS, max(VISIT_NS, LEAST_ITERATIONS * slowest_ns))
        return Ready(
            specs=specs,
            iteration_bytes=iteration_bytes,
            bytes_of=bytes_of,
            visit_ns=None if self._fixed else visit_ns,
            facts={group: self._facts(work, specs[group], group) for group in ("a", "b")},
        )

    def _trial(self, active: list[tuple[int, Spec]], size: int) -> list[_core.ThreadSlice]:
        return self._competition.run(
            active,
            size,
            iterations=1 if self._fixed else TRIAL_ITERATIONS,
            lead_in_iterations=0 if self._fixed else 1,
        ).slice.threads

    def _spec(self, work: Workload, group: Group) -> Spec:
        units = round(work.delay_ns(group) / self._ns_per_unit)
        return spec_of(self._parameters, work, self._plan.side(group), units)

    def _facts(self, work: Workload, spec: Spec, group: Group) -> dict[str, Scalar]:
        facts = spec_facts(spec)
        if isinstance(spec, _core.TrafficSpec) and work.delay_ns(group):
            facts["delay_ns"] = round(spec.delay * self._ns_per_unit, 2)
        return facts


def active_members(plan: TeamPlan, specs: Mapping[Group, Spec], k: int) -> list[tuple[int, Spec]]:
    """Who works where `k` threads are in B, and what each does."""
    return [
        (index, specs[group])
        for index, (group, place) in enumerate(plan.members)
        if place in plan.places(group, k)
    ]


def _ns_per_unit(team: _core.Team, rank: int) -> float:
    """Of the pause of a mix."""
    times_ns = [_core.pause_ns(team, units, rank=rank) for units in CALIBRATION_UNITS]
    return linear_regression(CALIBRATION_UNITS, times_ns, proportional=True).slope


def _iteration_ns(thread: _core.ThreadSlice) -> int:
    return min(end - begin for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True))


def _bytes_of(spec: Spec, thread: _core.ThreadSlice) -> tuple[int, int]:
    """Counted by one iteration, and moved with the lines that ordinary stores read first."""
    counted = thread.read_bytes + thread.write_bytes
    if isinstance(spec, _core.TrafficSpec):
        allocated = thread.write_bytes * spec.write_allocate_bytes // spec.line_bytes
    else:
        of_element = spec.counted_read_bytes + spec.counted_write_bytes
        allocated = counted * spec.write_allocate_bytes // of_element
    return counted, counted + allocated


def completed(visit: SamplingPass, ready: Ready, memory: Mapping[Group, Facts]) -> SamplingPass:
    """A visit whose points say what was got."""
    lasts: dict[str, Scalar] = {}
    if ready.visit_ns is not None and visit.probe is None:
        lasts["visit_ns"] = round(ready.visit_ns)
    return msgspec.structs.replace(
        visit,
        points={
            group: _with_bytes(
                with_facts(point, {**ready.facts[group], **memory[group], **lasts}),
                ready.bytes_of.get(group),
            )
            for group, point in visit.points.items()
        },
    )


def _with_bytes(point: Point, of_iteration: tuple[int, int] | None) -> Point:
    if point.quantity == "latency" or of_iteration is None:
        return point
    counted, moved = of_iteration
    return msgspec.structs.replace(point, bytes_counted=counted, bytes_moved=moved)


def memory_facts(
    plan: TeamPlan, competition: _core.Competition, requested_pages: str
) -> dict[Group, dict[str, Scalar]]:
    """What backs each group's arrays: their size, pages and nodes."""
    by_group: dict[Group, list[list[_core.Backing]]] = {"a": [], "b": []}
    for (group, _), backings in zip(plan.members, competition.backing(), strict=True):
        by_group[group].append(backings)
    cut = plan.arrays.sources
    return {
        group: {"array_bytes": competition.array_bytes}
        | _side_facts(
            [one for member in members for one in member[:cut]],
            [one for member in members for one in member[cut:]],
            requested_pages,
        )
        for group, members in by_group.items()
    }


def with_pages(plan: TeamPlan, memory: Mapping[Group, Facts]) -> TeamPlan:
    """With the pages of both groups among what is said once; none of a group without arrays."""
    pages = {f"pages_{group}": memory[group].get("pages") for group in {g for g, _ in plan.members}}
    both = pages if len(pages) > 1 and None not in pages.values() else {}
    return msgspec.structs.replace(plan, notes={**plan.notes, **both})


def _side_facts(
    sources: Sequence[_core.Backing], destinations: Sequence[_core.Backing], requested_pages: str
) -> dict[str, Scalar]:
    facts = backing_facts([*sources, *destinations], requested_pages)
    for role, backings in (("source", sources), ("destination", destinations)):
        of_role = backing_facts(backings, requested_pages)
        facts |= {f"{role}_pages": of_role.get("pages"), f"{role}_node": of_role.get("node")}
    return facts
