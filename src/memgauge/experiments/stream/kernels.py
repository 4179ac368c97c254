"""Which kernels a team runs, and what each of them is called.

A point without further words is its variant's own: elements accessed directly, and stores as the
variant does them (of the plain loop ordinary ones, of tuned kernels what was found best). Another
way to access or to store is a point beside it, visited in the same rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from memgauge import _core
from memgauge.experiments.shared.tuned_kernels import tuned_kernel, tuned_stores
from memgauge.experiments.stream import search as stream_search
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.errors import RequestError
from memgauge.model.records import Scalar

STREAM_KERNELS = ("copy", "scale", "add", "triad")
DIRECT, TRANSLATED = "direct", "translated"

Role = Literal["slice", "pass", "counted"]


class StreamKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of the run."""

    kernel: str
    variant: str
    spec: _core.KernelSpec
    candidate: str | None = None
    """Of a search."""
    access: str | None = None
    """None: direct."""
    store: str | None = None
    """None: as the variant does it."""

    @property
    def words(self) -> list[str]:
        """What follows the team in the name of its points."""
        return [word for word in (self.candidate, self.access, self.store) if word is not None]

    @property
    def requested(self) -> dict[str, Scalar]:
        """What tells it from others, as points have it; left out where it goes without saying."""
        facts = {"candidate": self.candidate, "access": self.access, "store": self.store}
        return {key: fact for key, fact in facts.items() if fact is not None}

    @property
    def facts(self) -> dict[str, Scalar]:
        """What runs: of the standard variant, that it is a plain loop."""
        spec = self.spec
        facts: dict[str, Scalar] = {"isa": spec.isa, "store": spec.store}
        if spec.variant == "standard":
            facts["isa"] = "generic"
        else:
            facts |= {
                "unroll": spec.unroll,
                "streams": spec.streams,
                "prefetch_near_bytes": spec.prefetch_near_bytes,
                "prefetch_far_bytes": spec.prefetch_far_bytes,
            }
        if spec.access != DIRECT:
            facts["access"] = spec.access
        if spec.store == "flushed":
            facts["write_back"] = _core.write_back_instruction()
        return facts


def kernels_of(parameters: StreamParameters, role: Role) -> list[StreamKernel]:
    """All that one team runs in that role.

    Raises:
        RequestError: what was asked for does not exist, for any of the kernels or at all.
    """
    _require_possible(parameters)
    chosen = [
        one
        for variant in parameters.variant
        for kernel in parameters.kernel
        if role != "pass" or kernel in STREAM_KERNELS
        for one in _of(parameters, kernel, variant, role)
    ]
    if not chosen and role == "slice":
        stores, variants = ",".join(parameters.store or ()), ",".join(parameters.variant)
        raise RequestError(
            f"--access {','.join(parameters.access)} with --store {stores or 'as it is'} and "
            f"--variant {variants} is no kernel: the plain loops of standard have temporal and "
            "flushed stores, tuned kernels direct access; choose others"
        )
    return chosen


def _require_possible(parameters: StreamParameters) -> None:
    if TRANSLATED not in parameters.access:
        return
    if parameters.memory.kind != "pmemobj":
        raise RequestError(
            f"--access translated: only objects in a pool are translated, and --memory "
            f"{parameters.memory} is none; write --memory pmemobj:PATH"
        )
    if "standard" not in parameters.variant:
        raise RequestError(
            "--access translated: only the plain loops of --variant standard translate the "
            "address of every element; add that variant"
        )


def _of(
    parameters: StreamParameters, kernel: str, variant: str, role: Role
) -> Iterator[StreamKernel]:
    element = parameters.element
    if variant == "standard":
        own = _core.KernelSpec(kernel, element)
    else:
        own = tuned_kernel(kernel, element)
    for access in parameters.access:
        for store in _stores(parameters, own):
            if variant == "standard" or access == DIRECT:
                yield StreamKernel(
                    kernel=kernel,
                    variant=variant,
                    spec=_changed(own, access, store),
                    access=None if access == DIRECT else access,
                    store=None if store == own.store else store,
                )
    if variant == "tuned" and parameters.autotune and role == "slice":
        for candidate in stream_search.candidates(kernel, element):
            yield StreamKernel(
                kernel=kernel,
                variant=variant,
                spec=candidate,
                candidate=stream_search.label(candidate),
            )


def _stores(parameters: StreamParameters, own: _core.KernelSpec) -> list[str]:
    """What of the kinds asked for this kernel has; one that stores nothing is as it is."""
    if parameters.store is None or not own.counted_write_bytes:
        return [own.store]
    if own.variant == "standard":
        return [store for store in parameters.store if store != "non-temporal"]
    possible = tuned_stores(own.operation, own.element)
    return [store for store in parameters.store if store in possible]


def _changed(own: _core.KernelSpec, access: str, store: str) -> _core.KernelSpec:
    if own.variant == "tuned":
        return tuned_kernel(own.operation, own.element, store)
    return _core.KernelSpec(own.operation, own.element, store=store, access=access)
