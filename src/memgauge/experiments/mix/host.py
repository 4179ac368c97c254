"""Mix: what does bandwidth become as reads make way for writes?

Question: the bandwidth of one thread, of some, of all, over the share of reads from all reads to
all writes, with ordinary stores (which read a line before they write it) and with stores that pass
the caches by.

Method: every thread makes the mix itself, in instructions: whole-line loads and stores that
alternate as evenly as their ratio allows. A sampling pass issues a fixed number of bytes on every
thread, after an untimed lead-in of the same mix over as much as the last-level caches hold, so that
dirty lines of whatever ran before are not charged to it. All mixes of a team share its memory.
Source: Intel Memory Latency Checker's read-write ratios and the mixes of Mess (Esmaili-Dokht et
al., MICRO 2024), there made by whole threads or by blocks of instructions.

What would invalidate it: memory that fits in a cache; another program's traffic; processors that
recognise whole-line stores and leave the read before them out (bytes moved are a model).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Annotated, ClassVar, Self

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.experiments.shared.read_write_mix import (
    ORDERS,
    STORES,
    TWO_TO_ONE,
    Load,
    Stores,
    issued_share,
    left_out,
    loads,
    warnings_of,
)
from memgauge.experiments.shared.traffic_sizes import TrafficSizes, size_warnings, traffic_sizes
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.option import choices_option, shares_option
from memgauge.model.parameters import CommonParameters
from memgauge.model.points.mix import MixActual, MixRequested
from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import cpus_for, default_team_sizes

ALWAYS = (1.0, 0.75, TWO_TO_ONE, 0.5, 0.0)
"""All reads, 3:1, 2:1, 1:1, all writes."""

FINE_SHARES = (0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1)

LEAST_MIXES = 3
"""Of a sweep over shares of reads."""

SLICE_BYTES = 16 << 20
"""Issued by each thread in one sampling pass: half a millisecond or more, as in `stream`."""


class MixParameters(CommonParameters, frozen=True, kw_only=True):
    """What `mix` takes."""

    read_share: Annotated[
        tuple[float, ...] | None,
        shares_option(
            "further shares of reads, in addition to 100%, 75%, 66.7%, 50% and 0%",
            automatic="none; fine: in steps of 10%",
        ),
    ] = None
    store: Stores = STORES
    order: Annotated[
        tuple[str, ...], choices_option("order of the accesses within memory", ORDERS)
    ] = ("sequential",)

    @property
    def read_shares(self) -> tuple[float, ...]:
        """All shares of reads; those of `ALWAYS` first."""
        return (*ALWAYS, *(self.read_share or (FINE_SHARES if self.is_fine else ())))

    @property
    def loads(self) -> list[Load]:
        """The mixes, from all reads to all writes; of two with one name, that of `ALWAYS`."""
        found = loads(self.read_shares, self.store, {False: self.order, True: self.order})
        return sorted(found, key=lambda load: -load.read_share)


class MixGroup(Group, frozen=True, kw_only=True):
    """The mixes of one team, or of a GPU: they share its memory."""

    cpus: Sequence[int] = ()
    """Of the team; empty: the whole GPU."""
    loads: list[Load]
    """One for each point."""
    sizes: TrafficSizes
    slice_bytes: int
    """Issued by each thread, or by the GPU, in one sampling pass."""
    is_end: bool = True
    """Whether this is one thread, the whole machine or a GPU, and no team between."""

    def parts(self) -> list[Part]:
        """A sweep over shares of reads for each kind of stores; all reads belong to one."""
        threads = max(1, len(self.cpus))
        issued_bytes = threads * (self.slice_bytes + self.sizes.lead_in_bytes)
        first = next((load.store for load in self.loads if load.store), None)
        sweeps: dict[tuple[str | None, str], list[str]] = {}
        for point, load in zip(self.points, self.loads, strict=True):
            sweeps.setdefault((load.store or first, load.order), []).append(point.point)
        work = Work(bytes=2 * issued_bytes, threads=threads)
        return [
            Part(
                importance=Importance.MIXES if self.is_end else Importance.TEAMS,
                points=names,
                works=[work] * len(names),
                least=LEAST_MIXES,
            )
            for names in sweeps.values()
        ]

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer mixes."""
        kept = [
            pair for pair in zip(self.points, self.loads, strict=True) if pair[0].point in names
        ]
        return msgspec.structs.replace(
            self, points=[point for point, _ in kept], loads=[load for _, load in kept]
        )


class MixBench(Bench):
    """Memory of one team or GPU, and the mixes that walk over it."""

    def __init__(
        self,
        traffic: _core.Traffic | _core.GpuTraffic,
        loads: Sequence[Load],
        points: list[Point],
        issue: Callable[[Load], _core.Slice],
        subject: str,
    ) -> None:
        """Take one load for each point; `issue` makes one, `subject` names whose memory it is."""
        self._traffic = traffic
        self._loads = {point.point: load for point, load in zip(points, loads, strict=True)}
        self._issue = issue
        self._subject = subject
        self.points = points

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Issue a slice of the mix."""
        return [to_sample(point, round_, self._issue(self._loads[point]))]

    def validate(self) -> list[Validation]:
        """All that was written holds what it must."""
        return [to_validation("mix", self._subject, self._traffic.validate())]


class Mix(Experiment):
    """The `mix` experiment."""

    name: ClassVar[str] = "mix"
    parameters: ClassVar[type[MixParameters]] = MixParameters

    def plan(self, parameters: MixParameters, system: System) -> list[MixGroup]:
        """One group for each team; its mixes share the memory."""
        sizes = parameters.threads or default_team_sizes(system, parameters.cpus)
        ends = sizes if parameters.threads else (sizes[0], sizes[-1])
        return [_group(parameters, system, n, is_end=n in ends) for n in sizes]

    @contextmanager
    def open(
        self,
        group: MixGroup,
        parameters: MixParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, allocate and fill its memory, and see what each mix really issues.

        Args:
            group: All mixes of one team.
            parameters: What `group` was planned with; `pages` and `memory` are used.
            memories: Sources that the team takes its memory from.
        """
        team = _core.Team(group.cpus)
        with closing(
            _core.Traffic(
                team,
                group.sizes.region_bytes,
                pages=parameters.pages,
                memory=memories.of(parameters.memory),
            )
        ) as traffic:
            backing = backing_facts(traffic.backing(), parameters.pages)
            issued = [
                MixActual(read_share_issued=issued_share(traffic, load)) for load in group.loads
            ]
            points = [
                point.with_actual(backing | actual.recorded())
                for point, actual in zip(group.points, issued, strict=True)
            ]
            issue = partial(_issue, traffic, group)
            yield MixBench(traffic, group.loads, points, issue, f"{len(group.cpus)} threads")

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Warnings about what spoils the figures of a team, or was left out of them.

        Args:
            point: Only the first point of a team records such facts.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return warnings_of(point) + size_warnings(point)


def _issue(traffic: _core.Traffic, group: MixGroup, load: Load) -> _core.Slice:
    """Issue a slice on every thread."""
    return traffic.run(
        load.spec(),
        group.slice_bytes,
        lead_in_bytes=group.sizes.lead_in_bytes,
        pingpong=len(group.cpus) > 1,
    )


def _group(parameters: MixParameters, system: System, threads: int, *, is_end: bool) -> MixGroup:
    cpus = cpus_for(parameters.cpus, threads, system)
    sizes = traffic_sizes(cpus, system)
    loads = parameters.loads
    first, *others = (_point(parameters, load, cpus, sizes) for load in loads)
    notes = left_out(parameters.store) | sizes.notes
    return MixGroup(
        name=format_count(threads, "thread"),
        points=[first.with_actual(notes), *others],
        bytes=sizes.total_bytes,
        cpus=cpus,
        loads=loads,
        sizes=sizes,
        slice_bytes=SLICE_BYTES,
        is_end=is_end,
    )


def _point(
    parameters: MixParameters, load: Load, cpus: Sequence[int], sizes: TrafficSizes
) -> Point:
    requested = MixRequested(
        threads=len(cpus), memory=str(parameters.memory), pages=parameters.pages
    )
    counted, moved = load.bytes_of(len(cpus) * SLICE_BYTES // load.spec().line_bytes)
    return Point(
        point=f"mix/{load.name}/{len(cpus)}t",
        experiment="mix",
        quantity="bandwidth",
        requested=load.requested | requested.recorded(),
        actual=sizes.facts | MixActual(cpus=format_cpu_list(cpus)).recorded(),
        bytes_counted=counted,
        bytes_moved=moved,
        threads=len(cpus),
    )
