"""Traffic: what should a kernel read and write, what would caches make of it, and what is counted?

Question: bytes that GEMV, GEMM, STREAM's kernels, strided and transposed copies and the re-sorting
routines of a distributed 3-D FFT move between caches and memory, by size: expected in closed form,
simulated with the caches of named machines, measured with counters. Where do they part?

Method: loop nests as they stand, by one thread or by one on each core with arrays of its own; GEMV
and GEMM by an installed BLAS library too, which each thread calls for itself. Each execution finds
nothing of the one before in the caches: sets of arrays are used in turn (see `cold`). A *region* is
as many executions as last long beside what reading counters takes; before it the caches are brought
into the state they have within it, and before some regions all sleep, which shows the traffic of
others. Without counters the same regions are timed. Source:
D. Barry and others, "Memory Traffic and Complete Application Profiling with PAPI Multi-Component
Measurements"; the cache model is the core's, see cache_model.hpp.

What would invalidate it: other programs' traffic, which is counted too; counters that are dead or
mis-scaled (`memgauge counters verify` finds these); so little memory that sets are used again while
caches hold them, which is warned of. Simulated figures are a model's, and name its machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.counted import team_counters, unless_refused
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.traffic.bench import TrafficBench
from memgauge.experiments.traffic.cold import sets_for
from memgauge.experiments.traffic.cost import Preparation
from memgauge.experiments.traffic.machines import Machines, machines_of, part_of, sockets_of
from memgauge.experiments.traffic.memory import MeasuredSize, Room, TrafficGroup, packed
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import (
    Team,
    cap_of,
    planned_size,
    planned_sizes,
    spec_for,
    spec_of,
    teams_of,
)
from memgauge.experiments.traffic.shapes import probe_size
from memgauge.experiments.traffic.simulation import Job, estimated_s, simulate
from memgauge.model.cache_machine import THIS
from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.points.traffic import TrafficActual, TrafficRequested
from memgauge.model.records import AnyRecord, Point, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories


class Traffic(Experiment):
    """The `traffic` experiment."""

    name: ClassVar[str] = "traffic"
    parameters: ClassVar[type[TrafficParameters]] = TrafficParameters

    def plan(self, parameters: TrafficParameters, system: System) -> list[TrafficGroup]:
        """Sizes of a team in one group, as far as memory holds their arrays at once."""
        parameters.check()
        machines = machines_of(parameters, system)
        teams = teams_of(parameters, system, machines)
        _refuse_too_many(parameters, machines, teams)
        cap = cap_of(parameters, machines, teams)
        planned = [(team, planned_sizes(parameters, machines, team, cap)) for team in teams]
        if parameters.simulate_only:
            return [
                TrafficGroup(
                    name=team.name, points=[one.point for one in sizes], bytes=0, team=team
                )
                for team, sizes in planned
            ]
        room = Room(system.available_bytes, remedy="--simulate-only needs no memory")
        groups: list[TrafficGroup] = []
        for team, sizes in planned:
            measured = [
                MeasuredSize(
                    planned=one, sets=sets_for(one.array_bytes, team.threads, team.cpus, system)
                )
                for one in sizes
            ]
            probe = planned_size(parameters, machines, team, probe_size(parameters), cap)
            groups += packed(parameters, team, measured, probe, room)
        return groups

    @contextmanager
    def open(
        self,
        group: TrafficGroup,
        parameters: TrafficParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, open its counters, and allocate arrays for what its time allows.

        Args:
            group: One that `plan` returned; without sizes nothing is run.
            parameters: Those that the group was planned with.
            memories: Memory opened for the run, from which the arrays take their pages.
        """
        if not group.sizes:
            unmeasured = TrafficActual(regions=0).recorded()
            yield TrafficBench([point.with_actual(unmeasured) for point in group.points])
            return
        memory = memories.of(parameters.memory)
        with ExitStack() as stack:
            team = _core.Team(group.team.cpus)
            name = f"traffic/{group.name}"
            counters, why_not = unless_refused(
                parameters.counters,
                lambda names: stack.enter_context(team_counters(team, find(names), name=name)),
            )
            preparation = Preparation(
                group=group,
                parameters=parameters,
                allocate=lambda spec, copies: _core.LoopNest(
                    team,
                    spec,
                    copies,
                    pages=parameters.pages,
                    memory=memory,
                    blas=group.team.blas,
                ),
                backing=lambda nest: backing_facts(nest.backing(), parameters.pages),
            )
            points, ready = preparation.prepare(stack)
            yield TrafficBench(points, ready, counters, why_not)

    def simulate(
        self, points: Sequence[Point], parameters: TrafficParameters, system: System
    ) -> Iterable[AnyRecord]:
        """Each point on each machine, the cheapest first, as far as the time for it reaches.

        What a library computes is left out: its loops are not known.

        Args:
            points: All points of this experiment in the run, measured or left out.
            parameters: Those that the points were planned with.
            system: The machine that runs the simulation; also the one simulated as `this`.
        """
        jobs, refused = self._jobs(points, parameters, system)
        if refused:
            why = "; ".join(refused)
            yield Warning(code="machine-not-simulated", message=why, experiment=self.name)
        probe = _probe(parameters)
        yield from simulate(jobs, probe, parameters.simulate_s, len(system.allowed_cpus))

    def simulation_s(
        self, points: Sequence[Point], parameters: TrafficParameters, system: System
    ) -> float:
        """About how long simulating all points takes if nothing limits it, in s.

        Args:
            points: All points of this experiment in the run.
            parameters: Those that the points were planned with.
            system: The machine that runs the simulation; also the one simulated as `this`.
        """
        jobs, _ = self._jobs(points, parameters, system)
        return estimated_s(jobs, _probe(parameters))

    def _jobs(
        self, points: Sequence[Point], parameters: TrafficParameters, system: System
    ) -> tuple[list[Job], Iterable[str]]:
        """What is simulated, and why some machines are not."""
        machines = machines_of(parameters, system)
        nests = [point for point in points if not TrafficRequested.of(point.requested).blas]
        jobs: list[Job] = []
        refused = {} if machines.missing is None else {machines.missing: None}
        for machine in machines.of:
            for point in nests:
                try:
                    part = part_of(machine, _per_socket(point, system))
                except RequestError as error:
                    refused[str(error)] = None
                else:
                    jobs.append(Job(point=point, spec=spec_of(point), part=part))
        return jobs, refused

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Sizes that would take too long, and sets of arrays that caches may still hold.

        Args:
            point: The point of one size.
            elapsed_ns: Not used; the facts of the point suffice.
            system: Not used either.
        """
        del elapsed_ns, system
        return list(noticed(point))


def noticed(point: Point) -> Iterator[Warning]:
    """What time left out of the sizes and runs, and sets that caches may still hold."""
    actual, requested = TrafficActual.of(point.actual), TrafficRequested.of(point.requested)
    subject = f"N = {requested.size}" + f" by {requested.blas}" * bool(requested.blas)
    if actual.regions and actual.regions < (actual.regions_requested or 0):
        yield Warning(
            code="fewer-runs",
            message=(
                f"{subject}: {actual.regions} runs of the {actual.regions_requested} requested fit "
                f"the time"
            ),
            remedy="increase --budget or --size-budget",
            experiment="traffic",
            point=point.point,
        )
    if actual.left_out:
        yield Warning(
            code="too-long-to-measure",
            message=actual.left_out,
            remedy="increase --budget or --size-budget",
            experiment="traffic",
            point=point.point,
        )
    if (actual.copies or 0) < (actual.copies_wanted or 0):
        yield Warning(
            code="sets-in-caches",
            message=(
                f"{subject}: {actual.copies or 0} sets of "
                f"arrays are used in turn, {actual.copies_wanted} would let twice what the caches "
                f"hold pass between two uses: repetitions may find data in caches"
            ),
            remedy="free memory, or use fewer threads"
            if actual.cpus
            else "leave out such small sizes, or end what else uses the GPU's memory",
            experiment="traffic",
            point=point.point,
        )


def _refuse_too_many(
    parameters: TrafficParameters, machines: Machines, teams: Sequence[Team]
) -> None:
    """Threads that were requested, of which none of the machines named has as many cores.

    Where some has, the others are reported as not simulated; and so is this machine, as long as
    threads run on it.
    """
    named = [m for m in machines.of if parameters.simulate_only or m.name != THIS]
    if parameters.threads is None or not named:
        return
    for team in teams:
        if team.threads > max(machine.machine_cores for machine in named):
            part_of(named[0], [team.threads])


def _probe(parameters: TrafficParameters) -> _core.NestSpec:
    """A small nest of the kernel."""
    small = probe_size(parameters)
    return spec_for(parameters, small, small)


def _per_socket(point: Point, system: System) -> list[int]:
    cpus = TrafficActual.of(point.actual).cpus
    return sockets_of(parse_cpu_list(cpus), system) if cpus else [point.threads]
