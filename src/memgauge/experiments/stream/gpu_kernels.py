"""Which kernels of STREAM run on a GPU, and what each of them is called."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memgauge import _core
from memgauge.experiments.stream.kernels import STREAM_KERNELS, Role
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.records import Scalar

_HINTS = {"default": "ca", "streaming": "cs", "no-allocate": "na"}


class GpuStreamKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of the run."""

    kernel: str
    variant: str
    spec: _core.GpuKernelSpec
    candidate: str | None = None
    """Of a search."""

    @property
    def words(self) -> list[str]:
        """What follows the device in the name of its points."""
        return [] if self.candidate is None else [self.candidate]

    @property
    def requested(self) -> dict[str, Scalar]:
        """What tells it from others, as points have it."""
        return {} if self.candidate is None else {"candidate": self.candidate}

    @property
    def facts(self) -> dict[str, Scalar]:
        """What runs; of the standard variant, that a thread does one element."""
        spec = self.spec
        facts: dict[str, Scalar] = {
            "isa": "one element a thread",
            "threads_per_block": spec.threads_per_block,
            "store": spec.hint,
        }
        if spec.variant == "standard":
            return facts
        return facts | {
            "isa": f"vectors of {spec.vector_bytes} B",
            "unroll": spec.unroll,
            "blocks_per_multiprocessor": spec.blocks_per_multiprocessor,
        }


def gpu_kernels_of(parameters: StreamParameters, role: Role) -> list[GpuStreamKernel]:
    """All that the device runs in that role."""
    return [
        one
        for variant in parameters.variant
        for kernel in parameters.kernel
        if role != "pass" or kernel in STREAM_KERNELS
        for one in _of(parameters, kernel, variant, role)
    ]


def _of(
    parameters: StreamParameters, kernel: str, variant: str, role: Role
) -> Iterator[GpuStreamKernel]:
    element = parameters.element
    if variant == "standard":
        own = _core.GpuKernelSpec(kernel, element)
    else:
        own = _core.gpu_default_tuned_spec(kernel, element)
    yield GpuStreamKernel(kernel=kernel, variant=variant, spec=own)
    if variant == "tuned" and parameters.autotune and role == "slice":
        for spec in _core.gpu_tuned_specs(kernel, element):
            yield GpuStreamKernel(
                kernel=kernel, variant=variant, spec=spec, candidate=gpu_label(spec)
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
