"""STREAM on a GPU: how many bytes a second do simple loops over arrays in device memory move?

Question: that of `stream`, of a GPU's memory: as a plain kernel gets it (`standard`: a thread for
each element) and as good as it can be had (`tuned`: vectors of 16 bytes, several on their way at
once, hints to the caches).

Method: three arrays, each at least four times the second-level cache, and 1 GiB where that fits.
One sample is one launch that walks the whole arrays, between two events that the device stamps. A
slice is a walk after an untimed lead-in over as much as the cache holds, so that dirty lines of
whatever ran before are not charged to this kernel; a pass is a walk as STREAM times them, best of
ten. Every element is compared on the device in the end. Source: as of `stream`; T. Deakin et al.,
"Evaluating attainable memory bandwidth of parallel programming models via BabelStream", 2018, for
the plain kernels. Where counters are requested: see `gpu_counted`.

What would invalidate it: arrays that fit in the cache; small arrays, since launching a kernel is
then much of its time; other programs on the GPU; clocks lowered for heat or power.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from memgauge import _core
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.gpu import gpu_facts, refuse_host_options
from memgauge.experiments.stream.base import StreamBench, StreamExperiment
from memgauge.experiments.stream.counted import CountedKernels, requested_counters
from memgauge.experiments.stream.gpu_counted import counted_gpu_kernels
from memgauge.experiments.stream.kernels import Role, StreamKernel, chosen_kernels
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.plan import (
    KernelPoint,
    PlannedArrays,
    StreamGroup,
    kernel_points,
    prepared,
)
from memgauge.experiments.stream.sizes import GpuLayout, gpu_layout
from memgauge.model.points.stream import StreamActual
from memgauge.model.system import System
from memgauge.system.gpu.driver import opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

_HOST_OPTIONS = ("access", "store", "array_offset", "prefetch", "reserve")
_HINTS = {"default": "ca", "streaming": "cs", "no-allocate": "na"}


class GpuGroup(StreamGroup[_core.GpuKernelSpec], frozen=True, kw_only=True):
    """Kernels of one device."""

    shape: GpuLayout


class GpuStreamBench(StreamBench[_core.GpuKernelSpec]):
    """Arrays on one device with the kernels that walk them."""

    def __init__(
        self,
        arrays: _core.GpuStreamArrays,
        kernels: list[KernelPoint[_core.GpuKernelSpec]],
        lead_in_bytes: int,
        subject: str,
        counted: CountedKernels[_core.GpuKernelSpec] | None,
    ) -> None:
        super().__init__(kernels, arrays.validate, subject, counted)
        self._arrays = arrays
        self._lead_in_bytes = lead_in_bytes

    def walk(self, measured: KernelPoint[_core.GpuKernelSpec]) -> _core.Slice:
        """Time one walk over all arrays."""
        lead_in_bytes = self._lead_in_bytes if measured.point.role == "slice" else 0
        return self._arrays.run(measured.kernel.spec, lead_in_bytes=lead_in_bytes)


class GpuStream(StreamExperiment):
    """The `stream` experiment in a GPU's memory."""

    def plan(self, parameters: StreamParameters, system: System) -> list[GpuGroup]:
        """One group: all kernels share the arrays. Asks the driver what the device has."""
        del system
        parameters.check()
        refuse_host_options(parameters, _HOST_OPTIONS)
        gpu = opened_gpu(parameters.memory)
        shape = gpu_layout(parameters, gpu.facts, gpu.free_bytes)
        counters = requested_counters(parameters)
        kernels = kernel_points(
            parameters,
            gpu_kernels_of,
            PlannedArrays(actual=StreamActual(stream_conformant=shape.conformant), threads=None),
            counted=bool(counters),
        )
        return [
            GpuGroup(
                name=str(parameters.memory),
                points=[one.point for one in kernels],
                bytes=3 * shape.array_bytes,
                kernels=kernels,
                counters=counters,
                slice_elements=shape.elements,
                pass_elements=shape.elements,
                shape=shape,
            )
        ]

    @contextmanager
    def open(
        self,
        group: GpuGroup,
        parameters: StreamParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and fill the arrays, and compile all kernels in one go.

        Args:
            group: One that `plan` returned.
            parameters: Those that the group was planned with.
            memories: Not used; all arrays lie in the GPU's memory.
        """
        del memories
        gpu, shape = opened_gpu(parameters.memory), group.shape
        with ExitStack() as stack:
            arrays = _core.GpuStreamArrays(gpu, shape.elements, parameters.element)
            stack.callback(arrays.close)
            arrays.prepare([one.kernel.spec for one in group.kernels])
            counted = None
            if group.counters:
                counters = counted_gpu_kernels(
                    arrays, group.counters, parameters.memory, parameters.repetitions
                )
                counted = stack.enter_context(counters)
            laid_out = StreamActual(array_bytes=arrays.elements * shape.element_bytes)
            facts = gpu_facts(gpu) | laid_out.recorded()
            kernels = [prepared(one, arrays.elements, facts) for one in group.kernels]
            subject = f"{parameters.element}, {parameters.memory}"
            yield GpuStreamBench(arrays, kernels, shape.lead_in_bytes, subject, counted)


def gpu_kernels_of(
    parameters: StreamParameters, role: Role
) -> list[StreamKernel[_core.GpuKernelSpec]]:
    """All that the device runs in that role."""
    return chosen_kernels(parameters, role, _own, _candidates)


def _own(
    parameters: StreamParameters, kernel: str, variant: str
) -> Iterator[StreamKernel[_core.GpuKernelSpec]]:
    if variant == "standard":
        spec = _core.GpuKernelSpec(kernel, parameters.element)
    else:
        spec = _core.gpu_default_tuned_spec(kernel, parameters.element)
    yield StreamKernel(spec=spec, actual=_actual(spec))


def _candidates(
    parameters: StreamParameters, kernel: str
) -> Iterator[StreamKernel[_core.GpuKernelSpec]]:
    for spec in _core.gpu_tuned_specs(kernel, parameters.element):
        yield StreamKernel(spec=spec, actual=_actual(spec), candidate=gpu_label(spec))


def _actual(spec: _core.GpuKernelSpec) -> StreamActual:
    """What runs; of the standard variant, that a thread does one element."""
    tuned = spec.variant == "tuned"
    return StreamActual(
        isa=f"vectors of {spec.vector_bytes} B" if tuned else "one element a thread",
        store=spec.hint,
        threads_per_block=spec.threads_per_block,
        unroll=spec.unroll if tuned else None,
        blocks_per_multiprocessor=spec.blocks_per_multiprocessor if tuned else None,
    )


def gpu_label(spec: _core.GpuKernelSpec) -> str:
    """Name of a candidate, such as `v16-u4-cs-t256-b8`; b0: a block for each tile."""
    return "-".join(
        [
            f"v{spec.vector_bytes}",
            f"u{spec.unroll}",
            _HINTS.get(spec.hint, spec.hint),
            f"t{spec.threads_per_block}",
            f"b{spec.blocks_per_multiprocessor}",
        ]
    )
