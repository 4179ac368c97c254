"""What cache misses cost: saxpy where its data sits, in three orders, against each level's latency.

Question: what does one element of y += a * x cost when x and y sit in L1, L2, the last level or
memory, walked in order, a line at a time, or at random; and how much of a miss is hidden by overlap
and prefetch?

Method: x and y together have the footprint. Walks: every float in order; one float of each line, in
order; one float of each line in a scrambled order that is known ahead; and, in memory only, one
float of each 4 KiB, which touches so few lines that caches hold them. Before each sample, what
should sit in a cache is read in order, untimed, eight times, and then walked until the level above
has forgotten that. In memory as much is walked first as the last level holds, so that each line
that comes in pushes a changed one out, as in a long walk; and where a line is walked at a time, the
lines to be timed are flushed, whichever walk brought them. Other footprints and strides are made
where they are asked for (`cases`). Beside them each level's latency is
taken by dependent loads, so that the average memory access time (AMAT) of the model can be set
against what was measured; counters of the core, where it has some, are read around the timed walks.
Source: Hennessy and Patterson, "Computer Architecture: A Quantitative Approach", for AMAT; the
kernel is of the BLAS.

What would invalidate it: a level shared with neighbours, who evict what should sit in it; base
pages, whose translation the model does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Annotated, ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.misses.cases import Case, cases_option, walks_of
from memgauge.experiments.misses.plan import (
    MARGIN_BYTES,
    WORD_BYTES,
    Ring,
    Walk,
    flushed,
    memory_footprint,
    rings,
    walks,
)
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.core_counters import (
    Automatic,
    CoreCounters,
    core_counters,
    counted_call,
)
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.experiments.shared.rings import SWEEPS
from memgauge.model.counting.event_names import AUTOMATIC, events_option
from memgauge.model.option import size_option
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.points.misses import MissesActual, MissesRequested
from memgauge.model.records import Point, Sample
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import LINE_BYTES, caches_of, cpus_for

EVENTS = (
    "perf:cycles",
    "perf:instructions",
    "perf:cache-references",
    "perf:cache-misses",
    "perf:llc-loads",
    "perf:llc-load-misses",
)
"""What `auto` counts here: what the published profile of this kernel counted."""
BESIDE = ("perf:amd_l3/l3_cache_accesses/", "perf:amd_l3/l3_misses/")
"""Counted too where the processor has them: AMD counts its last level apart from the cores."""

_counters_option = events_option(
    "core counters to read around what is timed: cycles, instructions, and what the last cache "
    "level answers and misses, if they can be opened (auto), none, or named ones"
)


class MissesParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `misses` takes."""

    largest_bytes: Annotated[
        int | None,
        size_option(
            "footprint of both arrays in memory; rounded down to a power of two",
            automatic="a power of two: three times the last-level cache, at least twice where "
            "memory is scarce",
        ),
    ] = None
    cases: Annotated[tuple[Case, ...] | None, cases_option] = None
    counters: Annotated[tuple[str, ...], _counters_option] = (AUTOMATIC,)


class MissesGroup(Group, frozen=True, kw_only=True):
    """All rings and walks, by the names of their points; walks share one buffer."""

    cpu: int
    rings: dict[str, Ring]
    walks: dict[str, Walk]
    buffer_bytes: int

    def parts(self) -> list[Part]:
        """All at once: the model needs each level's latency beside the walks."""
        names = [point.point for point in self.points]
        return [
            Part(
                importance=Importance.SHAPES,
                points=names,
                works=[self._work(name) for name in names],
            )
        ]

    def _work(self, name: str) -> Work:
        walk = self.walks.get(name)
        if walk is None:
            ring = self.rings[name]
            return Work(bytes=SWEEPS * ring.bytes)
        swept = walk.sweeps * walk.footprint_bytes
        return Work(bytes=swept + walk.warm_accesses * 2 * LINE_BYTES)


class MissesBench(Bench):
    """One buffer that all walks share, and a ring for each cache level."""

    def __init__(
        self,
        points: list[Point],
        buffer: _core.AccessBuffer,
        walked: Mapping[str, Walk],
        ringed: Mapping[str, tuple[Ring, _core.ChaseRing]],
        counted: CoreCounters | None,
    ) -> None:
        self.points = points
        self.counters = [counted.set] if counted else []
        self._counted = counted
        self._buffer = buffer
        self._walked = walked
        self._ringed = ringed

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Bring the data where it should sit, then walk a little further."""
        if point in self._ringed:
            ring, opened = self._ringed[point]
            return [to_sample(point, round_, opened.run(ring.hops, ring.warm_hops, sweeps=SWEEPS))]
        walk = self._walked[point]
        self._warm(walk)
        taken, reading = counted_call(self._counted, lambda: self._timed(walk))
        return [msgspec.structs.replace(to_sample(point, round_, taken), reading=reading)]

    def _warm(self, walk: Walk) -> None:
        if walk.sweeps:
            slots = walk.lines_of_each
            self._buffer.run(
                "saxpy", "sequential", WORD_BYTES, LINE_BYTES, slots, walk.sweeps * slots
            )
        if walk.warm_accesses:
            self._run(walk, walk.warm_accesses, flush=False)

    def _timed(self, walk: Walk) -> _core.Slice:
        return self._run(walk, walk.accesses, flush=walk.flush)

    def _run(self, walk: Walk, accesses: int, *, flush: bool) -> _core.Slice:
        return self._buffer.run(
            walk.kind,
            walk.order,
            WORD_BYTES,
            walk.stride_bytes,
            walk.slots,
            accesses,
            spread_lines=walk.spread_lines,
            flush=flush,
        )


class Misses(Experiment):
    """The `misses` experiment."""

    name: ClassVar[str] = "misses"
    parameters: ClassVar[type[MissesParameters]] = MissesParameters

    def plan(self, parameters: MissesParameters, system: System) -> list[MissesGroup]:
        """One group: walks and levels belong together."""
        parameters.refuse_teams("what a miss costs is asked of one core")
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        caches, pages = caches_of(cpu, system), parameters.pages
        largest = memory_footprint(caches, parameters.largest_bytes, system.available_bytes)
        saxpy = walks(caches, largest, fine=parameters.is_fine)
        memory = flushed(saxpy)
        if parameters.cases:
            saxpy = walks_of(parameters.cases, caches, system.available_bytes)
        found = {walk.name: walk for walk in (memory, *saxpy)}
        levels = {ring.name: ring for ring in rings(caches)}
        buffer_bytes = max(walk.footprint_bytes for walk in found.values()) + MARGIN_BYTES
        return [
            MissesGroup(
                name="saxpy",
                points=[
                    *(_ring_point(ring, pages, cpu) for ring in levels.values()),
                    *(_walk_point(walk, pages, cpu) for walk in found.values()),
                ],
                bytes=sum(ring.bytes for ring in levels.values()) + buffer_bytes,
                cpu=cpu,
                rings=levels,
                walks=found,
                buffer_bytes=buffer_bytes,
            )
        ]

    @contextmanager
    def open(
        self,
        group: MissesGroup,
        parameters: MissesParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate the arrays and link the rings.

        Args:
            group: All rings and walks, with the CPU that makes them.
            parameters: What `group` was planned with; `pages`, `memory` and `counters` are used.
            memories: Sources that the arrays and the rings take their memory from.
        """
        team = _core.Team([group.cpu])
        pages, memory = parameters.pages, memories.of(parameters.memory)
        with ExitStack() as stack:
            buffer = _core.AccessBuffer(team, group.buffer_bytes, pages=pages, memory=memory)
            stack.callback(buffer.close)
            backing = dict.fromkeys(group.walks, backing_facts([buffer.backing()], pages))
            ringed: dict[str, tuple[Ring, _core.ChaseRing]] = {}
            for name, ring in group.rings.items():
                opened = _core.ChaseRing(team, ring.bytes, pages=pages, memory=memory)
                stack.callback(opened.close)
                ringed[name] = (ring, opened)
                backing[name] = backing_facts([opened.backing()], pages)
            points = [point.with_actual(backing[point.point]) for point in group.points]
            counters = core_counters(
                team, parameters.counters, name="misses", automatic=Automatic(EVENTS, BESIDE)
            )
            counted = stack.enter_context(counters)
            yield MissesBench(points, buffer, group.walks, ringed, counted)


def _ring_point(ring: Ring, pages: str, cpu: int) -> Point:
    requested = MissesRequested(
        pattern="dependent", level=ring.level, footprint_bytes=ring.bytes, pages=pages
    )
    actual = MissesActual(cpus=str(cpu), capacity_bytes=ring.capacity_bytes)
    return _point(ring.name, requested, actual, ring.hops)


def _walk_point(walk: Walk, pages: str, cpu: int) -> Point:
    requested = MissesRequested(
        pattern=walk.pattern,
        level=walk.level,
        footprint_bytes=walk.footprint_bytes,
        stride_bytes=walk.stride_bytes,
        pages=pages,
    )
    actual = MissesActual(cpus=str(cpu), slots=walk.slots, touched_bytes=walk.touched_bytes)
    return _point(walk.name, requested, actual, walk.accesses)


def _point(name: str, requested: MissesRequested, actual: MissesActual, accesses: int) -> Point:
    return Point(
        point=name,
        experiment="misses",
        quantity="latency",
        requested=requested.recorded(),
        actual=actual.recorded(),
        accesses=accesses,
    )
