"""What is known of a team's works once buffers and threads are there: pauses, bytes and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import linear_regression

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.host import CALIBRATION_UNITS
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.plan import SamplingPass, TeamPlan, with_notes
from memgauge.experiments.tiers.workloads import (
    GROUPS,
    GroupName,
    Spec,
    Workload,
    spec_facts,
    spec_of,
)
from memgauge.model.points.shared import Backing
from memgauge.model.points.tiers import TiersActual
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point

PASS_NS = 10e6
"""Least duration of a sampling pass: some twenty iterations of one thread. In much more time there
is hardly a pass in which no thread was switched out;"""
LONGEST_PASS_NS = 250e6
"""the longest, where memory is so slow that it takes longer,"""
LEAST_ITERATIONS = 8
"""for so many iterations of the slowest thread."""

TRIAL_ITERATIONS = 3
"""The quickest of them shows how long a thread takes: in others it may have been switched out."""

Recorded = dict[str, Scalar]


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """One work, ready to be run."""

    specs: dict[GroupName, Spec]
    iteration_bytes: int
    """As the threads are given it: of each array, or of all accesses of a mix."""
    bytes_of: dict[GroupName, tuple[int, int]]
    """Counted and moved by one iteration of one thread, of groups that are ever at work."""
    duration_ns: float | None
    """Of a sampling pass; None: as long as a fixed number of iterations take."""
    facts: dict[GroupName, Recorded]


def prepare(
    plan: TeamPlan, parameters: TiersParameters, team: _core.Team, competition: _core.Competition
) -> dict[str, Ready]:
    """The works of a team by name, made ready by short trials.

    Args:
        plan: The team.
        parameters: Requested variant, element type and kind of stores.
        team: The team's threads, on which the pauses of mixes are calibrated.
        competition: Filled arrays of all members of the plan, on which each work is tried.
    """
    delayed = any(work.has_pauses for work in plan.works)
    ns_per_unit = _ns_per_unit(team, plan.first_rank) if delayed else 1.0
    return {
        work.name: _ready(plan, parameters, competition, work, ns_per_unit) for work in plan.works
    }


def _ready(
    plan: TeamPlan,
    parameters: TiersParameters,
    competition: _core.Competition,
    work: Workload,
    ns_per_unit: float,
) -> Ready:
    """Run a few iterations with most threads in A, then with most in B."""
    units = {group: round(work.delay_ns(group) / ns_per_unit) for group in GROUPS}
    specs = {group: spec_of(parameters, work, plan.side(group), units[group]) for group in GROUPS}
    is_fixed = plan.requested.fixed_iterations is not None
    iteration_bytes = plan.sizes.iteration_bytes * (2 if work.load else 1)
    bytes_of: dict[GroupName, tuple[int, int]] = {}
    slowest_ns = 0
    for k in (plan.splits[0], plan.splits[-1]):
        threads = competition.run(
            active_members(plan, specs, k),
            iteration_bytes,
            iterations=1 if is_fixed else TRIAL_ITERATIONS,
            lead_in_iterations=0 if is_fixed else 1,
        ).slice.threads
        for group in plan.groups(k):
            thread = threads[plan.first_rank + plan.places(group, k)[0]]
            bytes_of[group] = _bytes_of(specs[group], thread)
        slowest_ns = max(slowest_ns, *(_iteration_ns(one) for one in threads if one.begin_ns))
    duration_ns = min(LONGEST_PASS_NS, max(PASS_NS, LEAST_ITERATIONS * slowest_ns))
    return Ready(
        specs=specs,
        iteration_bytes=iteration_bytes,
        bytes_of=bytes_of,
        duration_ns=None if is_fixed else duration_ns,
        facts={
            group: spec_facts(specs[group]) | _pause_facts(work, group, units[group] * ns_per_unit)
            for group in GROUPS
        },
    )


def _pause_facts(work: Workload, group: GroupName, pause_ns: float) -> Recorded:
    known = round(pause_ns, 2) if work.delay_ns(group) else None
    return TiersActual(delay_ns=known).recorded()


def active_members(
    plan: TeamPlan, specs: Mapping[GroupName, Spec], k: int
) -> list[tuple[int, Spec]]:
    """Who works, as indices into the members of the plan, and what each does.

    Args:
        plan: The team.
        specs: What each thread of a group does.
        k: Number of threads in group B.
    """
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


def completed(
    passes: Sequence[SamplingPass],
    ready: Mapping[str, Ready],
    memory: Mapping[GroupName, Recorded],
) -> list[SamplingPass]:
    """The passes with points whose actual facts are known.

    Args:
        passes: Those of the team, as planned.
        ready: Works by name, as `prepare` returns them.
        memory: What backs the arrays of each group, as `memory_facts` returns it.
    """
    pages = [Backing.of(memory[group]).pages for group in GROUPS]
    notes = TiersActual(pages_a=pages[0], pages_b=pages[1]) if all(pages) else TiersActual()
    return with_notes([_completed(one, ready[one.work.name], memory) for one in passes], notes)


def _completed(
    planned: SamplingPass, ready: Ready, memory: Mapping[GroupName, Recorded]
) -> SamplingPass:
    duration_ns = None if planned.probe is not None else ready.duration_ns
    lasts = TiersActual(pass_ns=None if duration_ns is None else round(duration_ns)).recorded()
    return msgspec.structs.replace(
        planned,
        points={
            group: with_bytes(
                point.with_actual({**ready.facts[group], **memory[group], **lasts}),
                ready.bytes_of.get(group),
            )
            for group, point in planned.points.items()
        },
    )


def with_bytes(point: Point, of_iteration: tuple[int, int] | None) -> Point:
    """The point with what one iteration of one thread counts and moves; not of a latency."""
    if point.quantity == "latency" or of_iteration is None:
        return point
    counted, moved = of_iteration
    return msgspec.structs.replace(point, bytes_counted=counted, bytes_moved=moved)


def memory_facts(plan: TeamPlan, competition: _core.Competition) -> dict[GroupName, Recorded]:
    """What backs each group's arrays: their size, pages and nodes."""
    by_group: dict[GroupName, list[list[_core.Backing]]] = {"a": [], "b": []}
    for (group, _), backings in zip(plan.members, competition.backing(), strict=True):
        by_group[group].append(backings)
    cut = plan.arrays.sources
    return {
        group: TiersActual(array_bytes=competition.array_bytes).recorded()
        | _side_facts(
            [one for member in members for one in member[:cut]],
            [one for member in members for one in member[cut:]],
            plan.requested.pages,
        )
        for group, members in by_group.items()
    }


def _side_facts(
    sources: Sequence[_core.Backing], destinations: Sequence[_core.Backing], requested_pages: str
) -> Recorded:
    source, destination = (
        Backing.of(backing_facts(one, requested_pages)) for one in (sources, destinations)
    )
    return (
        backing_facts([*sources, *destinations], requested_pages)
        | TiersActual(
            source_pages=source.pages,
            source_node=source.node,
            destination_pages=destination.pages,
            destination_node=destination.node,
        ).recorded()
    )
