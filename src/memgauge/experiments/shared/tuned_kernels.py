"""Tuned kernels to run where nothing is searched: chosen among those that the core lists."""

from __future__ import annotations

from memgauge import _core
from memgauge.experiments.shared.prefetch import Prefetch


def tuned_stores(kernel: str, element: str) -> set[str]:
    """Kinds of stores that tuned variants of this kernel have on this processor."""
    stores = {spec.store for spec in _core.tuned_specs(kernel, element)}
    return stores | ({"flushed"} if "temporal" in stores else set())


def tuned_kernel(kernel: str, element: str, store: str | None = None) -> _core.KernelSpec:
    """The default tuned kernel, or the one most like it among those with another kind of stores.

    Args:
        kernel: name of the operation.
        element: type of the array elements.
        store: one of `tuned_stores`; None for the default's own.
    """
    default = _core.default_tuned_spec(kernel, element)
    if store in {None, default.store}:
        return default
    # Flushed stores are temporal ones whose lines are then written back.
    compiled = "temporal" if store == "flushed" else store

    def unlikeness(spec: _core.KernelSpec) -> tuple[bool, int, int]:
        shape = abs(spec.unroll - default.unroll), abs(spec.streams - default.streams)
        return (spec.isa != default.isa, *shape)

    like = min(
        (spec for spec in _core.tuned_specs(kernel, element) if spec.store == compiled),
        key=unlikeness,
    )
    return _core.KernelSpec(
        kernel,
        element,
        "tuned",
        isa=like.isa,
        store=str(store),
        unroll=like.unroll,
        streams=like.streams,
    )


def prefetching(like: _core.KernelSpec, distance: Prefetch) -> _core.KernelSpec:
    """The same tuned kernel at another distance of prefetch.

    Args:
        like: A tuned kernel that reads something.
        distance: Near and far, in bytes.

    Raises:
        RequestError: it was not compiled with prefetch of this kind.
    """
    return _core.KernelSpec(
        like.operation,
        like.element,
        "tuned",
        isa=like.isa,
        store=like.store,
        unroll=like.unroll,
        streams=like.streams,
        prefetch_near_bytes=distance.near_bytes,
        prefetch_far_bytes=distance.far_bytes,
    )
