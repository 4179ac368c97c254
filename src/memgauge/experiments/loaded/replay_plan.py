"""What a replayed profile measures: its steps as loads, and the points of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Self

import msgspec

from memgauge.experiments.loaded.parameters import (
    LARGEST_DELAY,
    LoadedParameters,
    cpu_order,
    generator_counts,
)
from memgauge.experiments.loaded.pauses import Setting
from memgauge.experiments.loaded.plan import Curve, Pair, PreparedTeam, TeamPlan, team_plan
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.read_write_mix import Load, possible_stores, ratio
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.points.loaded import ReplayActual, ReplayRequested
from memgauge.model.record_kinds.replayed import Replayed, ReplayStep
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.units import counts_text

BUDGET_SHARE = 0.07
"""Of the budget, that one replay may take: with what goes before and after it, and the preparation,
the rest is enough for"""
LEAST_REPLAYS = 8
"""replays, of which a median has an interval even if two of them are spoiled."""

WALK_HOPS = 5_000
"""Dependent loads that are stamped together: half a millisecond or more."""
PASS_S = 0.003
"""Of a native call. A step is as many of them as it lasts: between two, Ctrl-C is noticed, and a
thread that was switched out spoils only one."""
UNLOADED_SHARE = 0.05
"""Of a replay, that the memory is measured without load before it, and again after it:"""
LEAST_UNLOADED, MOST_UNLOADED = 2, 20
"""passes at least and at most, for on a busy machine each takes many times as long."""

WRITES_TOO_MANY = 1e-9
"""Rounding of the share of writes."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One step as it is asked of the generators."""

    number: int
    """From 1; 0: nothing is replayed."""
    step: ReplayStep | None
    load: Load

    @property
    def gb_per_s(self) -> float:
        """That memory is to move."""
        return 0.0 if self.step is None else self.step.gb_per_s


class ReplayPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A team, and what it replays."""

    team: TeamPlan
    levels: list[Level]
    """In order of time; the first is that without load."""
    replay_s: float
    compression: float
    """Seconds of the profile in one of the replay."""
    prefix: str
    """Of the names of its points."""

    @property
    def unloaded_passes(self) -> int:
        """Before a replay, and again after it."""
        wanted = round(UNLOADED_SHARE * self.replay_s / PASS_S)
        return max(LEAST_UNLOADED, min(MOST_UNLOADED, wanted))

    def seconds_of(self, level: Level) -> float:
        """How long a step is replayed."""
        return 0.0 if level.step is None else level.step.duration_s / self.compression


class ReplayGroup(Group, frozen=True, kw_only=True):
    """The only group of a replay."""

    plan: ReplayPlan

    def parts(self) -> list[Part]:
        """All of it, which takes as long as a replay."""
        work = Work(seconds=self.plan.replay_s, threads=self.plan.team.generators)
        names = [point.point for point in self.leaders]
        return [Part(importance=Importance.ESSENTIAL, points=names, works=[work] * len(names))]

    def keeping(self, names: Collection[str]) -> Self:
        """All of it: a replay has no part that makes sense alone."""
        del names
        return self


def replay_plan(replayed: Replayed, parameters: LoadedParameters, system: System) -> ReplayPlan:
    """The loads of a profile's steps, by one team.

    Args:
        replayed: The profile's steps.
        parameters: Of the run.
        system: The machine, restricted to the NUMA nodes that the parameters select.

    Raises:
        RequestError: an option has no meaning for a replay, or too few CPUs for the threads.
        NotPossibleHere: there is no CPU for a second thread.
    """
    _refuse(parameters)
    order = (parameters.order or ("sequential",))[0]
    reads = Load(read_share=1.0, reads=1, writes=0, store=None, order=order)
    levels = [Level(number=0, step=None, load=reads)]
    for number, step in enumerate(replayed.steps, start=1):
        share = step.read_share
        load = reads if share is None else load_of(share, parameters.store, order)
        levels.append(Level(number=number, step=step, load=load))
    loads = {level.load.name: level.load for level in levels}
    count = generator_counts(parameters, system)[-1]
    cpus = cpu_order(parameters, system)[: count + 1]
    curves = [Curve(load=load, delays=(), further=0) for load in loads.values()]
    return ReplayPlan(
        team=team_plan(parameters, system, cpus, curves),
        levels=levels,
        replay_s=replayed.replay_s,
        compression=replayed.compression,
        prefix=f"loaded/like-{replayed.run_id}",
    )


def _refuse(parameters: LoadedParameters) -> None:
    if parameters.delay is not None:
        raise RequestError(
            "--delay: does not apply to --like, whose profile sets the pauses; leave it out"
        )
    if parameters.threads is not None and len(parameters.threads) > 1:
        raise RequestError(
            f"--threads {counts_text(parameters.threads)}: --like replays with one number of "
            "threads; give one"
        )
    if parameters.order is not None and len(parameters.order) > 1:
        raise RequestError("--order: --like replays in one order; give sequential or random")


def load_of(moved_read_share: float, stores: Sequence[str], order: str) -> Load:
    """The mix of accesses for which memory moves this share of reads, or the nearest possible.

    Ordinary stores read a line before they write it, so with them at least half of what memory
    moves is read. The first kind of store that reaches the share is used.

    Args:
        moved_read_share: Of the bytes that memory moves.
        stores: Kinds of stores, the preferred first; those that this processor lacks are left out.
        order: Of the accesses.

    Raises:
        RequestError: this processor has none of the stores.
    """
    nearest: tuple[float, Load] | None = None
    for store in possible_stores(stores):
        writes = _write_share(moved_read_share, _allocated(store))
        if writes <= 1 + WRITES_TOO_MANY:
            return _load(1 - min(1.0, writes), store, order)
        load = _load(0.0, store, order)
        off = abs(moved_share(load) - moved_read_share)
        nearest = (off, load) if nearest is None or off < nearest[0] else nearest
    if nearest is None:
        raise RequestError("--store: names no kind of store")
    return nearest[1]


def moved_share(load: Load) -> float:
    """Share of reads in the bytes that memory moves for a load, by the model of write-allocate."""
    allocated = _allocated(load.store) if load.store else 0.0
    read = load.reads + allocated * load.writes
    return read / (read + load.writes)


def _write_share(moved_read_share: float, allocated: float) -> float:
    """Writes among the accesses; above 1 where no accesses move so few reads."""
    written = 1 - moved_read_share
    left = 1 - allocated * written
    return written / left if left > 0 else 2.0


def _allocated(store: str) -> float:
    """Lines read before each line written."""
    spec = Load(read_share=0.0, reads=0, writes=1, store=store, order="sequential").spec()
    return spec.write_allocate_bytes / spec.line_bytes


def _load(share: float, store: str, order: str) -> Load:
    reads, writes = ratio(share)
    kind = store if writes else None
    return Load(read_share=share, reads=reads, writes=writes, store=kind, order=order)


def replay_points(pairs: Sequence[Pair]) -> list[Point]:
    """Latency and traffic of each pair; the first leads all others."""
    return [point for one in pairs for point in (one.latency, one.traffic)]


def replay_pairs(
    plan: ReplayPlan,
    prepared: PreparedTeam | None = None,
    settings: Sequence[Setting] | None = None,
) -> list[Pair]:
    """The two points of each level, the first of which leads all others.

    Args:
        plan: What is replayed.
        prepared: Facts of the opened team; None: it is not opened yet.
        settings: Of the generators at each level; None: they are not known yet.
    """
    unknown = Setting(delay=LARGEST_DELAY)
    known = settings or [unknown] * len(plan.levels)
    pairs = [
        _pair(plan, level, setting, prepared)
        for level, setting in zip(plan.levels, known, strict=True)
    ]
    first = pairs[0].latency.with_actual(plan.team.notes)
    return [msgspec.structs.replace(pairs[0], latency=first), *pairs[1:]]


def _pair(plan: ReplayPlan, level: Level, setting: Setting, prepared: PreparedTeam | None) -> Pair:
    leader = f"{plan.prefix}/unloaded"
    width = len(str(len(plan.levels) - 1))
    step = f"{plan.prefix}/{level.number:0{width}}-of-{len(plan.levels) - 1}"
    name = step if level.number else leader
    requested = _requested(plan, level).recorded()
    actual = plan.team.sizes.facts | _actual(plan, level, setting, prepared).recorded()
    counted, moved = level.load.bytes_of(level.load.reads + level.load.writes)
    latency = Point(
        point=name,
        experiment="loaded",
        quantity="latency",
        requested=requested,
        actual=actual | ({} if prepared is None else dict(prepared.ring)),
        accesses=WALK_HOPS,
        role="slice" if level.number else "run",
        measured_with=leader if level.number else None,
    )
    traffic = Point(
        point=f"{name}/traffic",
        experiment="loaded",
        quantity="bandwidth",
        requested=requested,
        actual=actual | ({} if prepared is None else dict(prepared.traffic)),
        bytes_counted=counted,
        bytes_moved=moved,
        threads=plan.team.generators,
        work="counted",
        measured_with=leader,
    )
    spec = level.load.spec(setting.delay)
    return Pair(latency=latency, traffic=traffic, load=level.load, delay=setting.delay, spec=spec)


def _requested(plan: ReplayPlan, level: Level) -> ReplayRequested:
    step = level.step
    return ReplayRequested(
        step=level.number,
        begin_s=None if step is None else round(step.begin_s, 6),
        end_s=None if step is None else round(step.end_s, 6),
        moved_gb_per_s=None if step is None else step.gb_per_s,
        moved_read_share=None if step is None else step.read_share,
        generators=plan.team.generators,
        memory=plan.team.memory,
        pages=plan.team.pages,
    )


def _actual(
    plan: ReplayPlan, level: Level, setting: Setting, prepared: PreparedTeam | None
) -> ReplayActual:
    team, load = plan.team, level.load
    return ReplayActual(
        cpus=format_cpu_list(team.cpus),
        probe_cpu=team.cpus[0],
        generator_cpus=format_cpu_list(team.cpus[1:]),
        footprint_bytes=team.ring_bytes,
        reads=load.reads,
        writes=load.writes,
        store=load.store or "",
        order=load.order,
        delay_ns=None if prepared is None else round(setting.delay * prepared.ns_per_unit, 2),
        most_gb_per_s=setting.most,
        least_gb_per_s=setting.least,
        read_share_issued=None if prepared is None else prepared.issued_shares[load.name],
        passes=None if level.number else 2 * LEAST_REPLAYS * plan.unloaded_passes,
    )
