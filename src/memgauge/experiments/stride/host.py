"""Stride: what does an access cost by its size, by the distance to the next and by order?

Question: how long does an access wait that needs the one before (latency), and how often can
accesses be made that do not (throughput); where do the prefetchers stop helping, and what does a
core gain by keeping accesses in flight?

Method: accesses of a given size, at exact distances, over memory far larger than the caches, slot
after slot or every slot once in a scrambled order. Dependent and independent accesses execute the
same loads, one word of each line: only in the first the address is known no sooner than all lines
of the access before have arrived. Addresses are computed, not stored, so that all patterns share
one buffer. Before each sample the lines it will read are flushed from all caches: a wide stride has
so few lines in any footprint that a cache would hold them all from pass to pass, and patterns would
find what the others had brought.
Source: the strides of Saavedra and Smith (1995); dependent against independent, as in latency and
throughput of the processors' own manuals.

What would invalidate it: base pages, where wide strides and random order also pay for translation;
a hypervisor that backs huge pages by small ones does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.experiments.stride.plan import (
    Pattern,
    StrideParameters,
    footprint_of,
    patterns,
)
from memgauge.model.points.stride import StrideActual, StrideRequested
from memgauge.model.records import Point, Sample
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import cpus_for, line_bytes_of

LEAST_STRIDES = 2
"""Of a sweep over strides: its ends."""
MOVED_BYTES = 512
"""In the time of one access, flushed before, nearly."""


class StrideGroup(Group, frozen=True, kw_only=True):
    """All patterns, by the names of their points."""

    cpu: int
    patterns: dict[str, Pattern]

    def parts(self) -> list[Part]:
        """A sweep over strides for each kind, order and size of access."""
        sweeps: dict[tuple[str, str, int], list[Pattern]] = {}
        for name in (point.point for point in self.points):
            one = self.patterns[name]
            sweeps.setdefault((one.kind, one.order, one.access_bytes), []).append(one)
        return [
            Part(
                importance=Importance.SHAPES,
                points=[one.name for one in swept],
                works=[Work(bytes=sum(one.accesses) * MOVED_BYTES) for one in swept],
                least=LEAST_STRIDES,
            )
            for swept in sweeps.values()
        ]


class StrideBench(Bench):
    """One buffer that all patterns walk."""

    def __init__(
        self, points: list[Point], patterns: Mapping[str, Pattern], buffer: _core.AccessBuffer
    ) -> None:
        self.points = points
        self._patterns = patterns
        self._buffer = buffer

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Flush what comes, then walk on from where this pattern was."""
        pattern = self._patterns[point]
        accesses, warm_accesses = pattern.accesses
        taken = self._buffer.run(
            pattern.kind,
            pattern.order,
            pattern.access_bytes,
            pattern.stride_bytes,
            pattern.slots,
            accesses,
            warm_accesses=warm_accesses,
            flush=True,
        )
        return [to_sample(point, round_, taken)]


class Stride(Experiment):
    """The `stride` experiment."""

    name: ClassVar[str] = "stride"
    parameters: ClassVar[type[StrideParameters]] = StrideParameters

    def plan(self, parameters: StrideParameters, system: System) -> list[StrideGroup]:
        """One group: all patterns share the buffer."""
        parameters.refuse_teams("patterns are walked by one core")
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        found = patterns(parameters, system, cpu)
        footprint = footprint_of(parameters, system, cpu)
        line_bytes = line_bytes_of(cpu, system)
        return [
            StrideGroup(
                name=f"{len(found)} patterns over {format_bytes(footprint)}",
                points=[_point(one, parameters, footprint, cpu, line_bytes) for one in found],
                bytes=footprint,
                cpu=cpu,
                patterns={one.name: one for one in found},
            )
        ]

    @contextmanager
    def open(
        self,
        group: StrideGroup,
        parameters: StrideParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and touch the buffer.

        Args:
            group: All patterns, with the CPU that walks them.
            parameters: What `group` was planned with; `pages` and `memory` are used.
            memories: Sources that the buffer takes its memory from.
        """
        buffer = _core.AccessBuffer(
            _core.Team([group.cpu]),
            group.bytes,
            pages=parameters.pages,
            memory=memories.of(parameters.memory),
        )
        with closing(buffer):
            backing = backing_facts([buffer.backing()], parameters.pages)
            points = [point.with_actual(backing) for point in group.points]
            yield StrideBench(points, group.patterns, buffer)


def _point(
    pattern: Pattern, parameters: StrideParameters, footprint_bytes: int, cpu: int, line_bytes: int
) -> Point:
    return Point(
        point=pattern.name,
        experiment="stride",
        quantity="latency",
        requested=StrideRequested(
            kind=pattern.kind,
            order=pattern.order,
            access_bytes=pattern.access_bytes,
            stride_bytes=pattern.stride_bytes,
            footprint_bytes=footprint_bytes,
            memory=str(parameters.memory),
            pages=parameters.pages,
        ).recorded(),
        actual=StrideActual(
            cpus=str(cpu),
            slots=pattern.slots,
            walked_bytes=pattern.slots * pattern.stride_bytes,
            line_bytes=line_bytes,
            lines_per_access=pattern.lines(line_bytes),
            moved_bytes_per_access=pattern.moved_bytes(line_bytes),
            flushed_before=True,
        ).recorded(),
        accesses=pattern.accesses[0],
    )
