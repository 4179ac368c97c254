"""Traffic: what should a kernel read and write, what would caches make of it, and what is counted?

Question: bytes that GEMV, GEMM, STREAM's kernels, strided and transposed copies and the re-sorting
routines of a distributed 3-D FFT move between caches and memory, by size: expected in closed form,
simulated with the caches of named machines, measured with counters. Where do they part?

Method: loop nests as they stand, by one thread or by one on each core with arrays of its own. Each
execution finds nothing of the one before in the caches: sets of arrays are used in turn (see
`nest_traffic_cold`). A *region* is as many executions as last long beside what reading counters
takes; before it the caches are brought into the state they have within it, and before some regions
all sleep, which tells the traffic of others. Without counters the same regions are timed. Source:
D. Barry and others, "Memory Traffic and Complete Application Profiling with PAPI Multi-Component
Measurements"; the cache model is the core's, see cache_model.hpp.

What would invalidate it: other programs' traffic, which is counted too; counters that are dead or
mis-scaled (`memgauge counters verify` tells); so little memory that sets are used again while
caches hold them, which is said. Simulated figures are a model's, and say of which machine.

The experiment is `traffic`; its files are `nest_traffic*`, for `traffic_loads` and `traffic_sizes`
are of the known traffic that other experiments make.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.base import REGIONS_FACT, Bench, Experiment, Group
from memgauge.experiments.shared.counted import TeamCounters, team_counters
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.traffic.bench import TrafficBench
from memgauge.experiments.traffic.cost import Preparation
from memgauge.experiments.traffic.machines import (
    Machines,
    machines_of,
    part_of,
    sockets_of,
)
from memgauge.experiments.traffic.memory import name_of, packed, sets_of
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import (
    LEFT_OUT,
    Team,
    points_of,
    small_spec,
    spec_of,
    teams_of,
    with_facts,
)
from memgauge.experiments.traffic.shapes import probe_size
from memgauge.experiments.traffic.simulation import Job, simulate
from memgauge.experiments.traffic.sizes import SizeRange
from memgauge.model.cache_machine import THIS
from memgauge.model.counting.event_names import AUTOMATIC, NONE
from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.records import AnyRecord, Point, Sample, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories

NOT_COUNTED = "not_counted"
"""Fact of a team's first point: why there are no counters."""


class Traffic(Experiment):
    """The `traffic` experiment."""

    name: ClassVar[str] = "traffic"
    parameters: ClassVar[type[TrafficParameters]] = TrafficParameters

    def plan(self, parameters: TrafficParameters, system: System) -> list[Group]:
        """Sizes of a team in one group, as far as memory holds their arrays at once."""
        parameters.check()
        machines = machines_of(parameters, system)
        teams = teams_of(parameters, system, machines)
        _refuse_too_many(parameters, machines, teams)
        groups = []
        for team, points in zip(teams, points_of(parameters, machines, teams), strict=True):
            if parameters.simulate_only:
                groups.append(Group(name=name_of(team), points=points, bytes=0))
            else:
                groups += packed(parameters, team, points, system)
        return groups

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: TrafficParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, open its counters, and allocate arrays for what its time allows."""
        if parameters.simulate_only:
            yield TrafficBench([with_facts(point, {REGIONS_FACT: 0}) for point in group.points])
            return
        cpus = parse_cpu_list(str(group.points[0].actual["cpus"]))
        memory = memories.of(parameters.memory)
        with ExitStack() as stack:
            team = _core.Team(cpus)

            def allocate(point: Point, copies: int) -> _core.LoopNest:
                spec = spec_of(point)
                return _core.LoopNest(team, spec, copies, pages=parameters.pages, memory=memory)

            counters, why_not = _counters(stack, team, parameters, f"traffic/{group.name}")
            total_s = (parameters.size_budget_s or 0.0) * len(group.points)
            preparation = Preparation(
                allocate=allocate,
                sets=lambda point: sets_of(point, cpus, system),
                backing=lambda nest: backing_facts(nest.backing(), parameters.pages),
                repetitions=parameters.repetitions,
                total_s=total_s,
            )
            probe = _probe(parameters, system, group.points[0])
            points, ready = preparation.prepare(stack, group.points, probe)
            points[0] = with_facts(points[0], {NOT_COUNTED: why_not})
            yield TrafficBench(points, ready, counters)

    def simulate(
        self, points: Sequence[Point], parameters: TrafficParameters, system: System
    ) -> Iterable[AnyRecord]:
        """Each point on each machine, the cheapest first, as far as the time for it reaches."""
        machines = machines_of(parameters, system)
        jobs: list[Job] = []
        refused = {} if machines.missing is None else {machines.missing: None}
        for machine in machines.of:
            for point in points:
                try:
                    part = part_of(machine, _per_socket(point, system))
                except RequestError as error:
                    refused[str(error)] = None
                else:
                    jobs.append(Job(point=point, spec=spec_of(point), part=part))
        if refused:
            why = "; ".join(refused)
            yield Warning(code="machine-not-simulated", message=why, experiment=self.name)
        probe = small_spec(parameters)
        yield from simulate(jobs, probe, parameters.simulate_s, len(system.allowed_cpus))

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Sizes that would take too long, and sets of arrays that caches may still hold."""
        del samples, system
        return list(noticed(point))


def noticed(point: Point) -> Iterator[Warning]:
    """Sizes that were left out for want of time, and sets of arrays that caches may still hold."""
    facts = point.actual
    left_out = facts.get(LEFT_OUT)
    if left_out is not None:
        yield Warning(
            code="too-long-to-measure",
            message=str(left_out),
            remedy="give more with --budget or --size-budget",
            experiment="traffic",
            point=point.point,
        )
    if int(str(facts.get("copies") or 0)) < int(str(facts.get("copies_wanted") or 0)):
        yield Warning(
            code="sets-in-caches",
            message=(
                f"N = {point.requested['size']}: {facts['copies']} sets of arrays are used in "
                f"turn, {facts['copies_wanted']} would let twice what the caches hold pass between "
                f"two uses: repetitions may find data in caches"
            ),
            remedy="free memory, or use fewer threads"
            if "cpus" in facts
            else "leave out such small sizes, or end what else uses the GPU's memory",
            experiment="traffic",
            point=point.point,
        )


def _refuse_too_many(
    parameters: TrafficParameters, machines: Machines, teams: Sequence[Team]
) -> None:
    """Threads that were asked for, of which none of the machines named has as many cores.

    Where some has, the others are reported as not simulated; and so is this machine, as long as
    threads run on it.
    """
    named = [m for m in machines.of if parameters.simulate_only or m.name != THIS]
    if parameters.threads is None or not named:
        return
    for team in teams:
        if team.threads > max(machine.machine_cores for machine in named):
            part_of(named[0], [team.threads])


def _per_socket(point: Point, system: System) -> list[int]:
    cpus = point.actual.get("cpus")
    return [point.threads] if cpus is None else sockets_of(parse_cpu_list(str(cpus)), system)


def _probe(parameters: TrafficParameters, system: System, first: Point) -> Point | None:
    """A small size that tells the speed, where the first is not small itself."""
    small = probe_size(parameters)
    if int(str(first.requested["size"])) <= small:
        return None
    requested = parameters.replace(sizes=(SizeRange(small, small),))
    machines = machines_of(requested, system)
    teams = teams_of(requested, system, machines)
    found = [point for of_team in points_of(requested, machines, teams) for point in of_team]
    return next(point for point in found if point.threads == first.threads)


def _counters(
    stack: ExitStack, team: _core.Team, parameters: TrafficParameters, name: str
) -> tuple[TeamCounters | None, str | None]:
    """Counters as asked; where nothing was, those of memory traffic, or why there are none.

    Raises:
        CounterRefused: counters were asked for and may not be opened.
    """
    requested = parameters.counters
    if requested == (NONE,):
        return None, "--counters none"
    try:
        events = find(requested or (AUTOMATIC,))
        return stack.enter_context(team_counters(team, events, name=name)), None
    except CounterRefused as error:
        if requested is not None:
            raise
        return None, str(error)
