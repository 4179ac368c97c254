"""What `loaded` measures with one team: its curves, and the two points of each pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Self

import msgspec

from memgauge import _core
from memgauge.experiments.loaded.parameters import (
    LoadedParameters,
    cpu_order,
    generator_counts,
    siblings,
)
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.native import to_sample
from memgauge.experiments.shared.read_write_mix import Load, left_out, warnings_of
from memgauge.experiments.shared.rings import SLICE_HOPS, memory_footprint
from memgauge.experiments.shared.traffic_sizes import TrafficSizes, size_warnings, traffic_sizes
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.points.loaded import LoadedActual, LoadedRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Sample, ThreadSample, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.topology.placement import Touching

RING_LEAST_BYTES = 128 << 20
"""Half of what `latency` walks at least, and measured to be as good: before each curve all lines of
the ring leave the caches."""

HOPS = SLICE_HOPS["DRAM"]
"""Dependent loads of one pass, timed as a whole; as many as `latency` times, because a quantile
over longer walks would be another figure."""

Recorded = Mapping[str, Scalar]


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One load at several delays."""

    load: Load
    delays: tuple[int, ...]
    further: int
    """So many delays may be added where it bends."""


class TeamPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One number of generators with the curves it is measured on."""

    cpus: list[int]
    """The probe's first."""
    linkers: list[int]
    """CPUs that link the probe's ring together."""
    curves: list[Curve]
    sizes: TrafficSizes
    ring_bytes: int
    memory: str
    pages: str
    notes: dict[str, Scalar]
    """Facts of its first point: what a reader is warned of once."""

    @property
    def generators(self) -> int:
        """Threads that load the memory."""
        return len(self.cpus) - 1

    @property
    def total_bytes(self) -> int:
        """Memory that is allocated for it."""
        return self.sizes.total_bytes + self.ring_bytes

    @property
    def name(self) -> str:
        """Of its group."""
        return format_count(self.generators, "generator")


def team_plans(parameters: LoadedParameters, system: System) -> list[TeamPlan]:
    """Every team to measure with; all curves for the largest, and for each that was asked for.

    The others show where adding threads stops paying: all reads, at both ends of the curve.
    """
    counts = generator_counts(parameters, system)
    full = [
        Curve(load=load, delays=parameters.delays, further=parameters.further_points)
        for load in parameters.loads
    ]
    reads = Load(read_share=1.0, reads=1, writes=0, store=None, order="sequential")
    ends = tuple(dict.fromkeys((parameters.delays[0], parameters.delays[-1])))
    ends_only = [Curve(load=reads, delays=ends, further=0)]
    return [
        team_plan(
            parameters,
            system,
            cpu_order(parameters, system)[: count + 1],
            full if parameters.threads is not None or count == counts[-1] else ends_only,
        )
        for count in counts
    ]


def team_plan(
    parameters: LoadedParameters, system: System, cpus: list[int], curves: list[Curve]
) -> TeamPlan:
    """One team.

    Args:
        parameters: What is requested of it.
        system: The machine, restricted to the NUMA nodes that the parameters select.
        cpus: The probe's first.
        curves: Loads that it makes, with their delays.
    """
    sizes = traffic_sizes(cpus[1:], system)
    return TeamPlan(
        cpus=cpus,
        linkers=Touching(system).cpus(cpus[0], parameters.memory.node),
        curves=curves,
        sizes=sizes,
        ring_bytes=memory_footprint(system, RING_LEAST_BYTES),
        memory=str(parameters.memory),
        pages=parameters.pages,
        notes={
            **(left_out(parameters.store) if any(c.load.writes for c in curves) else {}),
            **sizes.notes,
            **LoadedActual(
                probe_shares_core=bool(set(siblings(cpus[0], system)) & set(cpus[1:]))
            ).recorded(),
        },
    )


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The two points of a sampling pass, and what the generators are set to in it."""

    latency: Point
    traffic: Point
    load: Load
    delay: int
    spec: _core.TrafficSpec


class PreparedTeam(msgspec.Struct, frozen=True, kw_only=True):
    """What is known once buffers and threads are there."""

    ns_per_unit: float
    """Of the generators' pause."""
    issued_shares: dict[str, float | None]
    """Reads among the accesses really made, by name of the load."""
    ring: Recorded
    traffic: Recorded


LEAST_DELAYS = 4
"""Of a curve: its ends, and two between which its bend lies."""
LOADED_SLOWDOWN = 3
"""How much longer a load takes under load, nearly."""


class LoadedGroup(Group, frozen=True, kw_only=True):
    """One number of generators."""

    plan: TeamPlan
    is_largest: bool = True
    """Whether no team of the plan has more generators."""

    def parts(self) -> list[Part]:
        """A sweep for each curve: that of reads in order first."""
        pairs = pairs_of(self.plan)
        return [
            _part(self, curve, [one for one in pairs if one.load == curve.load])
            for curve in self.plan.curves
        ]

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer delays."""
        curves = [_thinned(curve, self.plan, names) for curve in self.plan.curves]
        plan = msgspec.structs.replace(
            self.plan, curves=[curve for curve in curves if curve.delays]
        )
        return msgspec.structs.replace(self, points=points_of(pairs_of(plan)), plan=plan)


def _thinned(curve: Curve, plan: TeamPlan, names: Collection[str]) -> Curve:
    delays = tuple(one for one in curve.delays if point_name(plan, curve.load, one) in names)
    return msgspec.structs.replace(curve, delays=delays)


def _part(group: LoadedGroup, curve: Curve, pairs: Sequence[Pair]) -> Part:
    load = curve.load
    importance = Importance.CURVES if load.writes == 0 else Importance.MIXES
    if load.writes == 0 and load.order == "sequential":
        importance = Importance.ESSENTIAL
    if not group.is_largest:
        importance = Importance.TEAMS
    lead_in_bytes = group.plan.sizes.lead_in_bytes * group.plan.generators
    work = Work(
        bytes=2 * lead_in_bytes, loads=LOADED_SLOWDOWN * HOPS, threads=group.plan.generators
    )
    return Part(
        importance=importance,
        points=[one.latency.point for one in pairs],
        works=[work] * len(pairs),
        least=LEAST_DELAYS,
    )


def groups(plans: Sequence[TeamPlan]) -> list[LoadedGroup]:
    """Points of each team before anything is opened."""
    most = max(plan.generators for plan in plans)
    return [
        LoadedGroup(
            name=plan.name,
            points=points_of(pairs_of(plan)),
            bytes=plan.total_bytes,
            plan=plan,
            is_largest=plan.generators == most,
        )
        for plan in plans
    ]


def point_name(plan: TeamPlan, load: Load, delay: int) -> str:
    """Of the latency at one delay.

    Args:
        plan: Team that measures it.
        load: Mix of reads and writes.
        delay: Pause of the generators, in its units.
    """
    return f"loaded/{load.name}/{plan.generators}g/d{delay}"


def pairs_of(plan: TeamPlan, prepared: PreparedTeam | None = None) -> list[Pair]:
    """All pairs of a team; with what is known of it once it is prepared."""
    first, *others = (
        pair(plan, curve.load, delay, prepared) for curve in plan.curves for delay in curve.delays
    )
    noted = first.latency.with_actual(plan.notes)
    return [msgspec.structs.replace(first, latency=noted), *others]


def points_of(pairs: Sequence[Pair]) -> list[Point]:
    """Latency and traffic of each pair."""
    return [point for one in pairs for point in (one.latency, one.traffic)]


def pair(plan: TeamPlan, load: Load, delay: int, prepared: PreparedTeam | None = None) -> Pair:
    """The latency point and the traffic point of one load at one delay.

    Args:
        plan: Team that measures them: CPUs, sizes, page policy and placement.
        load: Mix of reads and writes that the generators issue.
        delay: Pause after every 16 lines, as a number of dependent multiplications.
        prepared: Facts of the opened team, added to both points; None: it is not opened yet.
    """
    name = point_name(plan, load, delay)
    requested = (
        load.requested
        | LoadedRequested(
            generators=plan.generators, delay=delay, memory=plan.memory, pages=plan.pages
        ).recorded()
    )
    actual = (
        plan.sizes.facts
        | LoadedActual(
            cpus=format_cpu_list(plan.cpus),
            probe_cpu=plan.cpus[0],
            generator_cpus=format_cpu_list(plan.cpus[1:]),
            footprint_bytes=plan.ring_bytes,
            delay_ns=None if prepared is None else round(delay * prepared.ns_per_unit, 2),
            read_share_issued=None if prepared is None else prepared.issued_shares[load.name],
        ).recorded()
    )
    counted, moved = load.bytes_of(load.reads + load.writes)
    latency = Point(
        point=name,
        experiment="loaded",
        quantity="latency",
        requested=requested,
        actual=actual | ({} if prepared is None else dict(prepared.ring)),
        accesses=HOPS,
    )
    traffic = Point(
        point=f"{name}/traffic",
        experiment="loaded",
        quantity="bandwidth",
        requested=requested,
        actual=actual | ({} if prepared is None else dict(prepared.traffic)),
        bytes_counted=counted,
        bytes_moved=moved,
        threads=plan.generators,
        work="counted",
        measured_with=name,
    )
    return Pair(latency=latency, traffic=traffic, load=load, delay=delay, spec=load.spec(delay))


def warnings_about(point: Point) -> list[Warning]:
    """What spoils the points of a team, said once, by the first of them."""
    found = warnings_of(point) + size_warnings(point)
    actual = LoadedActual.of(point.actual)
    if actual.probe_shares_core:
        found.append(
            Warning(
                code="probe-shares-core",
                message=(
                    f"a generator runs on a hardware thread of the core of CPU "
                    f"{actual.probe_cpu}, which probes: its latency includes that"
                ),
                remedy="use fewer --threads, or --cpus cores",
                experiment=point.experiment,
                point=point.point,
            )
        )
    return found


def samples_of(pair: Pair, round_: int, taken: _core.LoadedSlice) -> list[Sample]:
    """The latency sample and the traffic sample of one sampling pass.

    Both belong together: where a thread was switched out, the others met another load than the one
    requested, so either sample carries the switches of all threads.

    Args:
        pair: The two points that were measured in the pass.
        round_: Number of the round that the pass belongs to.
        taken: What the native call returned; its first thread is the probe.
    """
    whole = to_sample(pair.latency.point, round_, taken.slice)
    probe, *generators = whole.threads
    switches = sum(thread.involuntary_switches for thread in whole.threads)
    return [
        msgspec.structs.replace(whole, threads=_switched([probe], switches), load_ns=taken.load_ns),
        msgspec.structs.replace(
            whole, point=pair.traffic.point, threads=_switched(generators, switches)
        ),
    ]


def _switched(threads: Sequence[ThreadSample], switches: int) -> list[ThreadSample]:
    first, *others = threads
    return [msgspec.structs.replace(first, involuntary_switches=switches), *others]
