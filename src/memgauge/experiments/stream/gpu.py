"""STREAM on a GPU: how many bytes a second do simple loops over arrays in device memory move?

Question: that of `stream`, of a GPU's memory: as a plain kernel gets it (`standard`: a thread for
each element) and as good as it can be had (`tuned`: vectors of 16 bytes, several on their way at
once, hints to the caches).

Method: three arrays, each at least four times the second-level cache, and 1 GiB where that fits.
One visit is one launch that walks the whole arrays, between two events that the device stamps. A
slice is a walk after an untimed lead-in over as much as the cache holds, so that dirty lines of
whatever ran before are not charged to this kernel; a pass is a walk as STREAM times them, best of
ten. Every element is compared on the device in the end. Source: as of `stream`; T. Deakin et al.,
"Evaluating attainable memory bandwidth of parallel programming models via BabelStream", 2018, for
the plain kernels. Where counters are asked for: see `gpu_stream_counted`.

What would invalidate it: arrays that fit in the cache; small arrays, since launching a kernel is
then much of its time; other programs on the GPU; clocks lowered for heat or power.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group, Values
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.stream import search as stream_search
from memgauge.experiments.stream.counted import CountedKernels
from memgauge.experiments.stream.gpu_counted import (
    counted_gpu_kernels,
    gpu_traffic_facts,
    is_counted,
)
from memgauge.experiments.stream.gpu_kernels import GpuStreamKernel, gpu_kernels_of
from memgauge.experiments.stream.gpu_sizes import GpuLayout, gpu_layout
from memgauge.experiments.stream.kernels import Role
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.sizes import rule_warnings
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

_SUFFIXES: dict[Role, tuple[str, ...]] = {"slice": (), "pass": ("pass",), "counted": ("counted",)}
_HOST_OPTIONS = ("access", "store", "array_offset")


class GpuStreamBench(Bench):
    """Arrays on one device with the kernels that walk them."""

    def __init__(
        self,
        arrays: _core.GpuStreamArrays,
        cells: Mapping[str, tuple[Point, _core.GpuKernelSpec]],
        shape: GpuLayout,
        subject: str,
        counted: CountedKernels[_core.GpuKernelSpec] | None = None,
    ) -> None:
        self._arrays = arrays
        self._cells = cells
        self._shape = shape
        self._subject = subject
        self._counted = counted
        self.counters = [counted.set] if counted else []
        self.points = [point for point, _ in cells.values()]

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Time one walk over all arrays, or count repeated ones."""
        planned, spec = self._cells[point]
        if self._counted is not None and planned.role == "counted":
            return [self._counted.measure(spec, point, round_)]
        lead_in_bytes = self._shape.lead_in_bytes if planned.role == "slice" else 0
        taken = self._arrays.run(spec, lead_in_bytes=lead_in_bytes)
        return [to_sample(point, round_, taken)]

    def validate(self) -> list[Validation]:
        """Every element of all three arrays."""
        return [to_validation("stream", self._subject, self._arrays.validate())]


class GpuStream(Experiment):
    """The `stream` experiment in a GPU's memory."""

    name: ClassVar[str] = "stream"
    parameters: ClassVar[type[StreamParameters]] = StreamParameters

    def plan(self, parameters: StreamParameters, system: System) -> list[Group]:
        """One group: all kernels share the arrays. Asks the driver what the device has."""
        del system
        refuse_host_options(parameters, _HOST_OPTIONS)
        gpu = opened_gpu(parameters.memory)
        shape = gpu_layout(parameters, gpu.facts, gpu.free_bytes)
        roles: tuple[Role, ...] = ("slice", "pass")
        if is_counted(parameters.counters):
            roles = (*roles, "counted")
        return [
            Group(
                name=str(parameters.memory),
                points=[
                    _point(parameters, kernel, shape, role)
                    for role in roles
                    for kernel in gpu_kernels_of(parameters, role)
                ],
                bytes=3 * shape.array_bytes,
            )
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: StreamParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and fill the arrays, and compile all kernels in one go."""
        del system, memories
        gpu = opened_gpu(parameters.memory)
        shape = _shape_of(group, parameters, gpu.facts)
        kernels = {
            _point(parameters, kernel, shape, role).point: kernel
            for role in _SUFFIXES
            for kernel in gpu_kernels_of(parameters, role)
        }
        with ExitStack() as stack:
            arrays = _core.GpuStreamArrays(gpu, shape.elements, parameters.element)
            stack.callback(arrays.close)
            arrays.prepare([kernels[point.point].spec for point in group.points])
            counted = None
            if any(point.role == "counted" for point in group.points):
                requested = parameters.counters or ()
                counters = counted_gpu_kernels(arrays, requested, parameters.memory)
                counted = stack.enter_context(counters)
            facts = gpu_facts(gpu)
            cells = {
                point.point: _cell(point, kernels[point.point], arrays.elements, facts)
                for point in group.points
            }
            subject = f"{parameters.element}, {parameters.memory}"
            yield GpuStreamBench(arrays, cells, shape, subject, counted)

    def eliminated(self, values: Values) -> set[str]:
        """Variants that a search has ruled out."""
        return stream_search.eliminated(values)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Arrays too small for the STREAM rule."""
        del samples, system
        return rule_warnings(point, "GPU's second-level cache", point.actual["l2_bytes"])


def _shape_of(group: Group, parameters: StreamParameters, facts: _core.GpuFacts) -> GpuLayout:
    """As planned: what is free has changed by now."""
    planned = parameters.replace(array_bytes=group.bytes // 3)
    return gpu_layout(planned, facts, 0)


def _point(
    parameters: StreamParameters, kernel: GpuStreamKernel, shape: GpuLayout, role: Role
) -> Point:
    """A point before its arrays are there."""
    memory = parameters.memory
    parts = ["stream", kernel.kernel, kernel.variant, parameters.element, str(memory)]
    requested: dict[str, Scalar] = {
        "kernel": kernel.kernel,
        "variant": kernel.variant,
        "element": parameters.element,
        "memory": str(memory),
        "array_bytes": parameters.array_bytes,
    }
    return Point(
        point="/".join([*parts, *kernel.words, *_SUFFIXES[role]]),
        experiment="stream",
        quantity="bandwidth",
        requested=requested | kernel.requested,
        actual={"stream_conformant": shape.conformant},
        role=role,
    )


def _cell(
    point: Point, kernel: GpuStreamKernel, elements: int, facts: Mapping[str, Scalar]
) -> tuple[Point, _core.GpuKernelSpec]:
    """Complete a planned point with what was laid out."""
    spec = kernel.spec
    element_bytes = 4 if spec.element == "float" else 8
    counted = spec.counted_read_bytes + spec.counted_write_bytes
    actual = {**point.actual, **facts, **kernel.facts}
    actual["array_bytes"] = elements * element_bytes
    if point.role == "counted":
        actual |= gpu_traffic_facts(spec, elements)
    return (
        msgspec.structs.replace(
            point,
            actual=actual,
            bytes_counted=elements * counted,
            bytes_moved=elements * (counted + spec.write_allocate_bytes),
        ),
        spec,
    )
