"""Which kernels a team runs, and what each of them is called.

A point without further suffixes is its variant's own: elements accessed directly, and stores as the
variant does them (of the plain loop ordinary ones, of tuned kernels what was found best). Another
way to access or to store is a point beside it, measured in the same rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Literal, TypeVar

import msgspec

from memgauge import _core
from memgauge.experiments.shared.prefetch import Prefetch, distance_label
from memgauge.experiments.shared.tuned_kernels import prefetching, tuned_kernel, tuned_stores
from memgauge.experiments.stream import search as stream_search
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.errors import RequestError
from memgauge.model.points.stream import StreamActual

STREAM_KERNELS = ("copy", "scale", "add", "triad")
DIRECT, TRANSLATED = "direct", "translated"

Role = Literal["slice", "pass", "counted"]
Spec = TypeVar("Spec", bound=_core.KernelSpec | _core.GpuKernelSpec)
"""Of a kernel, for CPUs or for a GPU."""


class StreamKernel(msgspec.Struct, Generic[Spec], frozen=True, kw_only=True):
    """A kernel of the run."""

    spec: Spec
    actual: StreamActual
    """What its points record about it."""
    candidate: str = ""
    """Of a search."""
    access: str = ""
    """Empty: direct."""
    store: str = ""
    """Empty: as the variant does it."""
    prefetch: Prefetch | None = None
    """None: as the variant does it."""

    @property
    def suffixes(self) -> list[str]:
        """What follows the team or the GPU in the name of its points."""
        distance = "" if self.prefetch is None else distance_label(self.prefetch)
        parts = (self.candidate, self.access, self.store, distance)
        return [suffix for suffix in parts if suffix]


def chosen_kernels(
    parameters: StreamParameters,
    role: Role,
    own: Callable[[StreamParameters, str, str], Iterator[StreamKernel[Spec]]],
    searched: Callable[[StreamParameters, str], Iterator[StreamKernel[Spec]]],
) -> list[StreamKernel[Spec]]:
    """All kernels that run in a role, on a team or on a GPU.

    Args:
        parameters: Requested kernels, variants and element type, and whether to search.
        role: `pass` runs STREAM's four kernels only; only `slice` runs the candidates of a search.
        own: Gives the requested forms of a kernel, from parameters, kernel and variant.
        searched: Gives the tuned candidates of a search, from parameters and kernel.
    """
    found: list[StreamKernel[Spec]] = []
    for variant in parameters.variant:
        for kernel in parameters.kernel:
            if role != "pass" or kernel in STREAM_KERNELS:
                found += own(parameters, kernel, variant)
            if variant == "tuned" and parameters.autotune and role == "slice":
                found += searched(parameters, kernel)
    return found


def kernels_of(parameters: StreamParameters, role: Role) -> list[StreamKernel[_core.KernelSpec]]:
    """All that one team runs in that role.

    Raises:
        RequestError: what was requested does not exist, for any of the kernels or at all.
    """
    _require_possible(parameters)
    chosen = chosen_kernels(parameters, role, _own, _candidates)
    if not chosen and role == "slice":
        stores, variants = ",".join(parameters.store or ()), ",".join(parameters.variant)
        raise RequestError(
            f"no kernel combines --access {','.join(parameters.access)}, --store "
            f"{stores or 'of any kind'} and --variant {variants}: standard loops have temporal and "
            "flushed stores, tuned kernels only direct access; choose others"
        )
    return chosen


def _require_possible(parameters: StreamParameters) -> None:
    if TRANSLATED not in parameters.access:
        return
    if parameters.memory.kind != "pmemobj":
        raise RequestError(
            "--access translated: only objects in a pool are translated, and --memory "
            f"{parameters.memory} is not a pool; write --memory pmemobj:PATH"
        )
    if "standard" not in parameters.variant:
        raise RequestError(
            "--access translated: only the plain loops of --variant standard translate the "
            "address of every element; add that variant"
        )


def _own(
    parameters: StreamParameters, kernel: str, variant: str
) -> Iterator[StreamKernel[_core.KernelSpec]]:
    """Every requested access with every requested kind of stores that the kernel has."""
    element = parameters.element
    if variant == "standard":
        own = _core.KernelSpec(kernel, element)
    else:
        own = tuned_kernel(kernel, element)
    for access in parameters.access:
        for store in _stores(parameters, own):
            if variant == "standard" or access == DIRECT:
                for distance in _distances(parameters, own):
                    spec = _changed(own, access, store, distance)
                    yield StreamKernel(
                        spec=spec,
                        actual=_actual(spec),
                        access="" if access == DIRECT else access,
                        store="" if store == own.store else store,
                        prefetch=None if distance == _distance_of(own) else distance,
                    )


def _distances(parameters: StreamParameters, own: _core.KernelSpec) -> Sequence[Prefetch]:
    """Those requested; one that reads nothing, or a plain loop, is as it is."""
    is_fixed = own.variant == "standard" or not own.counted_read_bytes
    if parameters.prefetch is None or is_fixed:
        return [_distance_of(own)]
    return parameters.prefetch


def _distance_of(spec: _core.KernelSpec) -> Prefetch:
    return Prefetch(spec.prefetch_near_bytes, spec.prefetch_far_bytes)


def _candidates(
    parameters: StreamParameters, kernel: str
) -> Iterator[StreamKernel[_core.KernelSpec]]:
    distances = parameters.prefetch or stream_search.DISTANCES
    for spec in stream_search.candidates(kernel, parameters.element, distances):
        yield StreamKernel(spec=spec, actual=_actual(spec), candidate=stream_search.label(spec))


def _actual(spec: _core.KernelSpec) -> StreamActual:
    """What runs: of the standard variant, what its plain loop was compiled for."""
    tuned = spec.variant == "tuned"
    return StreamActual(
        isa=spec.isa,
        store=spec.store,
        unroll=spec.unroll if tuned else None,
        streams=spec.streams if tuned else None,
        prefetch_near_bytes=spec.prefetch_near_bytes if tuned else None,
        prefetch_far_bytes=spec.prefetch_far_bytes if tuned else None,
        access="" if spec.access == DIRECT else spec.access,
        write_back=_core.write_back_instruction() if spec.store == "flushed" else "",
    )


def _stores(parameters: StreamParameters, own: _core.KernelSpec) -> list[str]:
    """What of the requested kinds this kernel has; one that stores nothing is as it is."""
    if parameters.store is None or not own.counted_write_bytes:
        return [own.store]
    if own.variant == "standard":
        return [store for store in parameters.store if store != "non-temporal"]
    possible = tuned_stores(own.operation, own.element)
    return [store for store in parameters.store if store in possible]


def _changed(
    own: _core.KernelSpec, access: str, store: str, distance: Prefetch
) -> _core.KernelSpec:
    if own.variant == "tuned":
        like = tuned_kernel(own.operation, own.element, store)
        return like if distance == _distance_of(like) else prefetching(like, distance)
    return _core.KernelSpec(own.operation, own.element, store=store, access=access)
