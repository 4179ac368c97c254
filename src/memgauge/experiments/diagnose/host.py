"""Diagnosis: is a program limited by memory, by what of it, and what would help?

Question: by how much does the program slow down when memory answers later, gives less, or keeps
less of it in the cache; and what does another way to start it gain?

Method: the program runs again and again, in rounds, each time under another treatment, in random
order. Beside it, on CPUs that it does not use, generators apply a known pressure; reference loops
on the program's own CPU, just before and after each run, tell what that pressure does to latency,
bandwidth and cache there. The program's slowdown over that of a reference is the share of its time
for which it behaves like the reference. Other ways to start it (huge pages, numbers of threads,
CPUs, memory nodes, the user's own) are compared with the usual way in the same rounds. A process
that runs already is not started anew: under each pressure a command reads what it achieves.
Source: Eklov et al., Cache Pirating (ICPP 2011) and Bandwidth Bandit (CGO 2013); Casas and
Bronevetsky, Active Measurement (IPDPS 2014); Mars et al., Bubble-Up (MICRO 2011).

What would invalidate it: pressure that is too weak to tell (the references show it); virtual CPUs
that the host moves within a run; a program that does something else each time it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from memgauge.experiments.diagnose.bench import DiagnoseBench, Starts
from memgauge.experiments.diagnose.by_region.sampled import region_traffic_run
from memgauge.experiments.diagnose.by_region.timed import RegionTimes
from memgauge.experiments.diagnose.own_cpus import on_left, places_left
from memgauge.experiments.diagnose.parameters import (
    OF_A_PROCESS,
    DiagnoseParameters,
)
from memgauge.experiments.diagnose.places import Places, places, places_beside
from memgauge.experiments.diagnose.points import Diagnosed, opened, points_of
from memgauge.experiments.diagnose.pressure.limits import LimitGroup, limited, limits
from memgauge.experiments.diagnose.pressure.machinery import Machinery, memory_bytes
from memgauge.experiments.diagnose.pressure.steps import steps
from memgauge.experiments.diagnose.program.modelled_traffic import modelled, not_simulated
from memgauge.experiments.diagnose.program.process_runs import described
from memgauge.experiments.diagnose.program.run_counters import run_counters
from memgauge.experiments.diagnose.program.runs import runs_of
from memgauge.experiments.diagnose.program.working_set import working_set_run
from memgauge.experiments.diagnose.treatments import NotTried, Treatment, pressures
from memgauge.experiments.diagnose.variants.machine_settings import MachineSettings
from memgauge.experiments.diagnose.variants.memory_placements import in_stretches, with_room
from memgauge.experiments.diagnose.variants.offered import not_asked_for, require_commands, variants
from memgauge.experiments.diagnose.variants.threads import with_threads
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    BANDWIDTH,
    LATENCY,
    PROGRAM,
    SCATTERED,
    DiagnoseActual,
    DiagnoseRequested,
    point_name,
)
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import AnyRecord, MeasuredWeights, Point
from memgauge.model.system import System
from memgauge.system.environment.tlb import tlb_entries
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.programs.memory_seen import Viewpoint
from memgauge.system.topology.memory_nodes import nodes_with_memory

SHORT_RUN_S = 0.05
"""A program that takes less is run several times in each pass,"""
PASS_S = 0.1
"""for about so long."""
MOST_RUNS = 100


class DiagnoseGroup(Group, frozen=True, kw_only=True):
    """The program, under all treatments."""

    places: Places
    diagnosed: Diagnosed
    treatments: list[Treatment]
    not_tried: list[NotTried]
    viewpoint: Viewpoint
    """From where the program's memory is looked at: CPUs that it does not use."""
    core_of: dict[int, int]
    """Core of each CPU of the machine."""


class Diagnose(Experiment):
    """The `diagnose` experiment."""

    name: ClassVar[str] = "diagnose"
    parameters: ClassVar[type[DiagnoseParameters]] = DiagnoseParameters

    def __init__(self, weights: Sequence[MeasuredWeights] = ()) -> None:
        """A diagnosis of this machine.

        Args:
            weights: Of interleaved nodes, by the run that `--weights` names.
        """
        self._weights = weights

    def plan(self, parameters: DiagnoseParameters, system: System) -> list[DiagnoseGroup]:
        """One group: all treatments are compared in the same rounds."""
        parameters.check()
        if bool(parameters.words) == (parameters.pid is not None):
            raise RequestError(
                "diagnose: a command and --pid were given; give one of them"
                if parameters.words
                else "diagnose: no command was given; write it after --, or give --pid"
            )
        if parameters.pid is None:
            name, where = parameters.words[0], places(parameters, system)
        else:
            name, cpus = described(parameters.pid)
            where = places_beside(cpus, parameters, system)
        treatments: list[Treatment] = []
        not_tried: list[NotTried] = []
        if "interference" in parameters.only and where.pressure:
            treatments += pressures(where)
            treatments += steps(parameters.pressure_steps, treatments, where)
            if parameters.pid is None:  # a process that runs on stays in its control group
                offered = limits()
                treatments += limited(offered, treatments)
                not_tried += offered.not_tried
        elif "interference" in parameters.only:
            not_tried.append(NotTried("interference", "no CPU is left to generate pressure"))
        if parameters.pid is None:
            found, left_out = variants(parameters, where, system, self._weights)
            treatments += found
            not_tried += left_out
            if set(parameters.only) == {"traffic"} and not treatments:
                treatments = [Treatment(name=AS_IT_IS, kind="variant")]
        else:
            reason = (
                f"process {parameters.pid} runs already, and this needs its program to be started"
            )
            kinds = (kind for kind in parameters.only if kind != OF_A_PROCESS)
            not_tried += [NotTried(kind, reason) for kind in kinds]
        _require_any(treatments, not_tried)
        diagnosed = Diagnosed(
            rounds=parameters.rounds,
            pid=parameters.pid,
            process=name if parameters.pid is not None else "",
            metric_better=parameters.metric_better or "",
        )
        points = [
            point
            for treatment in treatments
            for point in points_of(
                treatment, where, diagnosed, references=[LATENCY, SCATTERED, BANDWIDTH]
            )
        ]
        return [
            DiagnoseGroup(
                name=name,
                points=points,
                bytes=memory_bytes(treatments, where),
                places=where,
                diagnosed=diagnosed,
                treatments=treatments,
                not_tried=[*not_tried, *not_asked_for(parameters.only, system.thp)],
                viewpoint=Viewpoint(
                    cpus=sorted(set(system.allowed_cpus) - set(where.program)),
                    by_node=len(nodes_with_memory(system)) > 1,
                ),
                core_of={cpu.cpu: cpu.core for cpu in system.cpus},
            )
        ]

    @contextmanager
    def open(
        self,
        group: DiagnoseGroup,
        parameters: DiagnoseParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Run the program once, untimed by any figure, and prepare generators and references.

        Args:
            group: The treatments with their CPUs.
            parameters: What `group` was planned with.
            memories: Not used: the program's memory is its own.
        """
        del memories
        with ExitStack() as stack:
            require_commands(group.treatments)
            is_counted = "traffic" in parameters.only and parameters.pid is None
            counters = stack.enter_context(run_counters(wanted=is_counted))
            regions = _regions(group, parameters, stack)
            runs = runs_of(
                parameters,
                group.places,
                group.viewpoint,
                stack,
                counters=counters.counters,
                regions=regions,
            )
            first = runs.run(Treatment(name="first run", kind="variant"), look=True, find_cpus=True)
            where = places_left(group.places, sorted(first.cpus), group.core_of)
            treatments, left_out = on_left(
                group.treatments, group.places, where, parameters.pressure_steps
            )
            treatments, no_room = with_room(treatments, first.resident_bytes)
            treatments = in_stretches(treatments, first.resident_bytes)
            first_s = (first.end_ns - first.begin_ns) * 1e-9
            tries_pages = any(one.pages_wanted for one in treatments)
            pages = working_set_run(
                runs, first_s, wanted=is_counted or tries_pages, base_pages=tries_pages
            )
            by_region = region_traffic_run(runs, regions, counters.counters, group.viewpoint.cpus)
            runs_in_a_pass = 1
            if first_s < SHORT_RUN_S:
                runs_in_a_pass = min(MOST_RUNS, max(2, round(PASS_S / max(first_s, 1e-4))))
            limit = LimitGroup.opened(treatments, stack)
            settings = MachineSettings.opened(limit.treatments, where.program, stack)
            treatments = settings.treatments
            left_out += [*no_room, *limit.not_tried, *settings.not_tried]
            _require_any(treatments, left_out)
            has_pressure = any(one.pressure for one in treatments)
            machinery = None
            if has_pressure:
                is_shared = parameters.pid is not None and where.reference in where.program
                machinery = Machinery(
                    where,
                    treatments,
                    limit,
                    stack,
                    program_bytes=first.resident_bytes,
                    is_shared=is_shared,
                )
            facts = DiagnoseActual(
                runs_in_a_pass=runs_in_a_pass,
                first_run_ns=first.end_ns - first.begin_ns,
                not_counted=counters.why_not,
                tlb_entries=tlb_entries(),
                region_marks=regions.marks if regions else None,
            ).recorded()
            references = machinery.references if machinery else None
            points = []
            for treatment in treatments:
                names = references.names if references and treatment.pressure else []
                made = points_of(treatment, where, group.diagnosed, references=names)
                own = machinery.facts(treatment) if machinery else {}
                points += [opened(point, references, {**facts, **own}) for point in made]
            left_out += [*pages.not_tried, *by_region.not_tried, *group.not_tried]
            left_out[:0] = regions.not_tried if regions else []
            points[0] = points[0].with_actual(_not_tried(left_out))
            leaders = {point_name(PROGRAM, treatment.name): treatment for treatment in treatments}
            starts = Starts(runs=runs, settings=settings, in_a_pass=runs_in_a_pass)
            bench = DiagnoseBench(points, leaders, starts, machinery)
            bench.counters = counters.sets
            bench.found = [*pages.found, *by_region.found]
            yield bench

    def simulate(
        self, points: Sequence[Point], parameters: DiagnoseParameters, system: System
    ) -> Iterable[AnyRecord]:
        """What one run would read and write by this machine's caches, once.

        Args:
            points: All points of the run.
            parameters: What was asked; `command`, `only` and `simulate_s` are used.
            system: This machine; the simulation finds its caches itself.
        """
        if "traffic" not in parameters.only or parameters.pid is not None:
            return []
        if parameters.region is not None:
            why = "that of a whole run does not tell that of a region"
            return [not_simulated(why, "leave out --region to have it")]
        program = next(
            one for one in points if DiagnoseRequested.of(one.requested).subject == PROGRAM
        )
        marks = DiagnoseActual.of(program.actual).region_marks
        words = with_threads(parameters.words, len(places(parameters, system).program))
        return modelled(words, program.point, parameters.simulate_s, marks or 0)


def _require_any(treatments: Sequence[Treatment], not_tried: Sequence[NotTried]) -> None:
    if not treatments:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in not_tried)
        raise NotPossibleHere(
            f"diagnose: there is nothing to compare here ({reasons}); give the program other "
            "CPUs with --program-cpus, or a variant with --try"
        )


def _regions(
    group: DiagnoseGroup, parameters: DiagnoseParameters, stack: ExitStack
) -> RegionTimes | None:
    """None: pressure is on no program that is started, or the user named what is timed."""
    has_pressure = any(one.pressure for one in group.treatments)
    if parameters.pid is not None or parameters.region is not None or not has_pressure:
        return None
    return RegionTimes(stack)


def _not_tried(found: Sequence[NotTried]) -> dict[str, Scalar]:
    lines = "\n".join(f"{one.name}: {one.reason}" for one in found)
    return DiagnoseActual(not_tried=lines).recorded()
