"""What the threads of both groups do: a kernel, or a mix of reads and writes with pauses."""

from __future__ import annotations

from itertools import product
from typing import Literal

import msgspec

from memgauge import _core
from memgauge.experiments.shared.read_write_mix import Load, loads
from memgauge.experiments.shared.tuned_kernels import tuned_kernel, tuned_stores
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.sides import Side
from memgauge.model.errors import RequestError
from memgauge.model.points.tiers import TiersActual, TiersWork
from memgauge.model.record_kinds.fields import Scalar

GroupName = Literal["a", "b"]
GROUPS: tuple[GroupName, ...] = ("a", "b")
Spec = _core.KernelSpec | _core.TrafficSpec


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """The same for all threads, but for the pauses of their group and where their memory is."""

    kernel: str = ""
    """Empty: a mix."""
    access: str = "direct"
    """To elements in a pool."""
    load: Load | None = None
    """The mix; None: a kernel."""
    delay_a_ns: int = 0
    delay_b_ns: int = 0

    @property
    def name(self) -> str:
        """Such as `copy`, `copy-translated`, `75r` or `75r/d0-200`."""
        return self.requested("a").name

    @property
    def has_pauses(self) -> bool:
        """Whether threads of any group pause."""
        return self.requested("a").has_pauses

    def delay_ns(self, group: GroupName) -> int:
        """Requested pause of a group's threads after every 16 lines."""
        return self.delay_a_ns if group == "a" else self.delay_b_ns

    def requested(self, group: GroupName) -> TiersWork:
        """What points record as requested of a group."""
        if self.load is None:
            return TiersWork(kernel=self.kernel, access=self.access)
        return TiersWork(
            read_share=self.load.read_share,
            reads=self.load.reads,
            writes=self.load.writes,
            delay_ns=self.delay_ns(group),
            delay_a_ns=self.delay_a_ns,
            delay_b_ns=self.delay_b_ns,
        )


def works(parameters: TiersParameters) -> list[Workload]:
    """Everything that groups do, kernels first; mixes with every pair of pauses."""
    kernels = [
        Workload(kernel=kernel, access=access)
        for kernel in parameters.kernels
        for access in parameters.access
    ]
    store = parameters.store or "temporal"
    mixes = loads(
        parameters.read_share or (), (store,), {False: ("sequential",), True: ("sequential",)}
    )
    return kernels + [
        Workload(load=load, delay_a_ns=a_ns, delay_b_ns=b_ns)
        for load in mixes
        for a_ns, b_ns in product(parameters.delay_a, parameters.delay_b)
    ]


def spec_of(parameters: TiersParameters, work: Workload, side: Side, delay_units: int = 0) -> Spec:
    """What one thread of a group is given to do.

    Args:
        parameters: Requested variant, element type and kind of stores.
        work: A kernel or a mix.
        side: Memory of the thread's group; a kernel translates addresses only in a pool.
        delay_units: Pause after every 16 lines of a mix, in units of `_core.pause_ns`; 0: none.

    Raises:
        RequestError: this processor has no such stores.
    """
    if work.load is not None:
        return work.load.spec(delay_units)
    element, store = parameters.element, parameters.store
    if parameters.loop == "tuned":
        return _tuned(work.kernel, element, store)
    access = _access(work, side)
    return _core.KernelSpec(work.kernel, element, store=store or "temporal", access=access)


def _tuned(kernel: str, element: str, store: str | None) -> _core.KernelSpec:
    """The tuned kernel to run, with other stores where those were requested."""
    if store is not None and store not in tuned_stores(kernel, element):
        raise RequestError(
            f"--store {store}: kernel {kernel} has no stores of this kind on this processor; use "
            "--store temporal"
        )
    return tuned_kernel(kernel, element, store)


def _access(work: Workload, side: Side) -> str:
    """How a group reaches the arrays that the kernel uses: translated where they are in a pool."""
    if work.access == "direct":
        return "direct"
    sources, destinations = _core.arrays_needed(_core.KernelSpec(work.kernel))
    in_pool = (
        sources > 0 and side.source.kind == "pmemobj",
        destinations > 0 and side.destination.kind == "pmemobj",
    )
    used = (sources > 0, destinations > 0)
    if in_pool == used:
        return "translated"
    return {
        (True, False): "translated-source",
        (False, True): "translated-destination",
        (False, False): "direct",
    }[in_pool]


def spec_facts(spec: Spec) -> dict[str, Scalar]:
    """What runs."""
    if isinstance(spec, _core.TrafficSpec):
        store = spec.store if spec.writes else ""
        return TiersActual(store=store, delay_units=spec.delay).recorded()
    tuned = spec.variant == "tuned"
    return TiersActual(
        variant=spec.variant,
        store=spec.store,
        access=spec.access,
        isa=spec.isa,
        unroll=spec.unroll if tuned else None,
        streams=spec.streams if tuned else None,
    ).recorded()


def require_pool(parameters: TiersParameters, *groups: Side) -> None:
    """Translated access needs a pool.

    Raises:
        RequestError: it was requested, and no memory is one.
    """
    pools = [one for side in groups for one in (side.source, side.destination)]
    if "translated" in parameters.access and not any(one.kind == "pmemobj" for one in pools):
        raise RequestError(
            "--access translated: addresses are translated in a pool only, and neither group "
            "uses one; name one with --b pmemobj:PATH"
        )
