"""STREAM: how many bytes a second do simple loops over large arrays move?

Question: the sustainable bandwidth of copy, scale, add and triad (McCalpin's STREAM), and of
reading, writing and updating, over thread counts: as a plain loop gets it (`standard`) and as good
as it can be had (`tuned`: explicit vectors, non-temporal stores, prefetch, huge pages).

Method: three arrays, each at least four times the last-level caches used, cut into blocks; one
visit walks a block or two on every thread, after an untimed lead-in over as much data as the
last-level cache holds, so that dirty lines of whatever ran before are not charged to this kernel.
Beside these slices, whole passes are timed as STREAM times them, best of ten. Source: J. McCalpin,
"Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995, and the STREAM
run rules. Where counters are asked for, each kernel is also repeated alone while they are read: see
`stream_counted`.

What would invalidate it: arrays that fit in a cache; pages that went away; another program's
traffic; virtual CPUs moved by the host between two slices (distinguished by the ping-pong).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.base import Bench, Experiment, Group, Values
from memgauge.experiments.shared.counted import team_counters
from memgauge.experiments.shared.native import backing_facts, to_sample, to_validation
from memgauge.experiments.stream import search as stream_search
from memgauge.experiments.stream.counted import (
    CountedKernels,
    counted_kernels,
    counted_teams,
    traffic_facts,
)
from memgauge.experiments.stream.kernels import Role, StreamKernel, kernels_of
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.sizes import Layout, layout, rule_warnings
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import cpus_for, default_team_sizes

_ROLES: tuple[Role, ...] = ("slice", "pass")
_SUFFIXES: dict[Role, tuple[str, ...]] = {"slice": (), "pass": ("pass",), "counted": ("counted",)}


class _KernelPoint(msgspec.Struct, frozen=True):
    """A point and the kernel it runs."""

    point: Point
    spec: _core.KernelSpec


class StreamBench(Bench):
    """Arrays of one team with the kernels that walk them."""

    def __init__(
        self,
        arrays: _core.StreamArrays,
        cells: Sequence[_KernelPoint],
        shape: Layout,
        subject: str,
        counted: CountedKernels[_core.KernelSpec] | None = None,
    ) -> None:
        self._arrays = arrays
        self._cells = {cell.point.point: cell for cell in cells}
        self._shape = shape
        self._subject = subject
        self._next_block = 0
        self._counted = counted
        self.counters = [counted.set] if counted else []
        self.points = [cell.point for cell in cells]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Time one slice, or one pass over all arrays, or count repeated passes."""
        cell = self._cells[point]
        if self._counted is not None and cell.point.role == "counted":
            return [self._counted.measure(cell.spec, point, round_)]
        tagged = cell.point.threads > 1
        if cell.point.role == "pass":
            taken = self._arrays.run(cell.spec, blocks=self._shape.blocks, pingpong=tagged)
        else:
            taken = self._arrays.run(
                cell.spec,
                first_block=self._next_block,
                lead_in_blocks=self._shape.lead_in_blocks,
                pingpong=tagged,
            )
            self._next_block = (self._next_block + 1) % self._shape.blocks
        return [to_sample(point, round_, taken)]

    def validate(self) -> list[Validation]:
        """STREAM's check of all three arrays."""
        return [to_validation("stream", self._subject, self._arrays.validate())]


class Stream(Experiment):
    """The `stream` experiment."""

    name: ClassVar[str] = "stream"
    parameters: ClassVar[type[StreamParameters]] = StreamParameters

    def plan(self, parameters: StreamParameters, system: System) -> list[Group]:
        """One group for each team; its kernels share the arrays."""
        sizes = parameters.threads or default_team_sizes(system, parameters.cpus)
        counted = counted_teams(parameters, sizes)
        return [self._group(parameters, system, n, counted=n in counted) for n in sizes]

    def _group(
        self, parameters: StreamParameters, system: System, threads: int, *, counted: bool
    ) -> Group:
        cpus = cpus_for(parameters.cpus, threads, system)
        shape = layout(parameters, system, cpus)
        points = [
            _point(parameters, kernel, cpus, shape, role)
            for role in ((*_ROLES, "counted") if counted else _ROLES)
            for kernel in kernels_of(parameters, role)
        ]
        return Group(
            name=format_count(threads, "thread"),
            points=points,
            bytes=3 * shape.array_bytes,
        )

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: StreamParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, allocate and fill the arrays."""
        threads = group.points[0].threads
        cpus = cpus_for(parameters.cpus, threads, system)
        shape = layout(parameters, system, cpus)
        with ExitStack() as stack:
            team = _core.Team(cpus)
            arrays = _arrays(team, parameters, shape, memories.of(parameters.memory))
            stack.callback(arrays.close)
            counted = None
            if any(point.role == "counted" for point in group.points):
                events = find(parameters.counters or ())
                counters = team_counters(team, events, name=f"stream/{threads}t")
                counted = counted_kernels(arrays, shape.blocks, stack.enter_context(counters))
            got = backing_facts(arrays.backing(), parameters.pages)
            kernels = {
                _point(parameters, kernel, cpus, shape, role).point: kernel
                for role in _SUFFIXES
                for kernel in kernels_of(parameters, role)
            }
            cells = [
                _cell(point, kernels[point.point], arrays, shape, got) for point in group.points
            ]
            subject = f"{parameters.element}, {threads} threads"
            yield StreamBench(arrays, cells, shape, subject, counted)

    def eliminated(self, values: Values) -> set[str]:
        """Variants that a search has ruled out."""
        return stream_search.eliminated(values)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Arrays too small for the STREAM rule."""
        del samples, system
        return rule_warnings(point, "last-level caches used", point.actual["llc_bytes"])


def _arrays(
    team: _core.Team, parameters: StreamParameters, shape: Layout, memory: _core.Memory
) -> _core.StreamArrays:
    return _core.StreamArrays(
        team,
        elements=shape.elements,
        element=parameters.element,
        pages=parameters.pages,
        memory=memory,
        offset_bytes=parameters.array_offset or 0,
        blocks=shape.blocks,
    )


def _point(
    parameters: StreamParameters,
    kernel: StreamKernel,
    cpus: Sequence[int],
    shape: Layout,
    role: Role,
) -> Point:
    """A point before its arrays are there."""
    requested: dict[str, Scalar] = {
        "kernel": kernel.kernel,
        "variant": kernel.variant,
        "element": parameters.element,
        "threads": len(cpus),
        "memory": str(parameters.memory),
        "pages": parameters.pages,
        "array_bytes": parameters.array_bytes,
    }
    parts = ["stream", kernel.kernel, kernel.variant, parameters.element, f"{len(cpus)}t"]
    return Point(
        point="/".join([*parts, *kernel.words, *_SUFFIXES[role]]),
        experiment="stream",
        quantity="bandwidth",
        requested=requested | kernel.requested,
        actual={
            "cpus": format_cpu_list(cpus),
            "llc_bytes": shape.llc_bytes,
            "stream_conformant": shape.conformant,
        },
        threads=len(cpus),
        role=role,
    )


def _cell(
    point: Point,
    kernel: StreamKernel,
    arrays: _core.StreamArrays,
    shape: Layout,
    got: Mapping[str, Scalar],
) -> _KernelPoint:
    """Complete a planned point with what was laid out."""
    spec = kernel.spec
    element_bytes = shape.element_bytes
    elements = arrays.elements_per_block * point.threads
    if point.role != "slice":
        elements *= shape.blocks
    counted = spec.counted_read_bytes + spec.counted_write_bytes
    actual = point.actual | kernel.facts | dict(got)
    actual["array_bytes"] = arrays.elements * element_bytes
    if point.role == "counted":
        actual |= traffic_facts(spec, elements)
    return _KernelPoint(
        msgspec.structs.replace(
            point,
            actual=actual,
            bytes_counted=elements * counted,
            bytes_moved=elements * (counted + spec.write_allocate_bytes),
        ),
        spec,
    )
