"""Loop nests as loads of `counters compare`: the study's GEMM and GEMV, by size.

Each thread of a place executes the nest on arrays of its own in that place's memory. As in
`traffic`, each execution finds nothing of the one before in the caches: sets of arrays are used in
turn, and before each region as many executions are made as let the caches' bytes pass once, within
`LEAD_IN_REGIONS` times the region.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial

import msgspec

from memgauge import _core
from memgauge.experiments.counters_verify.bench import Amount, Load, Moved
from memgauge.experiments.counters_verify.loads import Place
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.traffic.cold import LEAD_IN_REGIONS, Sets, sets_for
from memgauge.experiments.traffic.cost import execution_s
from memgauge.experiments.traffic.plan import Element, element_traffic
from memgauge.experiments.traffic.sizes import SizeRange, expand
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.memory import on_node
from memgauge.model.nests import KINDS, extents_of
from memgauge.model.points.counters_verify import VerifyActual, VerifyRequested
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.units import format_bytes

NO_KERNEL = "none"
KERNELS = (
    *(name for name, kind in KINDS.items() if not kind.is_resort and "stride" not in kind.extents),
    NO_KERNEL,
)
DEFAULT_KERNELS = ("gemm", "gemv")
"""The study's."""
_SIZES = {"gemm": (128, 512), "gemv": (512, 4096), "transpose": (512, 2048)}
_STREAM_SIZES = (1 << 16, 1 << 21)
"""Of each kernel a small and a large size, neither of which takes longer than a second."""
MOST_REPETITIONS = 8192


class PlannedNest(msgspec.Struct, frozen=True, kw_only=True):
    """A loop nest of one size, by all threads of a place."""

    place: Place
    nodes: list[int]
    """That its memory is bound to; empty where there is only one."""
    spec: _core.NestSpec
    once: Element
    """What one execution by one thread moves, if caches keep nothing of the one before."""
    sets: Sets
    point: Point

    def moved(self, repetitions: int) -> Moved:
        """What a region moves by its elements."""
        times = repetitions * len(self.place.cpus)
        return Moved(
            load=VerifyRequested.of(self.point.requested).load,
            place=self.place,
            read_bytes=self.once.read_bytes * times,
            write_bytes=self.once.write_bytes * times,
            allocate_bytes=self.once.allocate_bytes * times,
        )


class NestLoads(msgspec.Struct, frozen=True, kw_only=True):
    """Which loop nests are loads."""

    kernels: tuple[str, ...]
    """Some of `KERNELS`."""
    sizes: tuple[SizeRange, ...] | None
    """Sizes N of all of them; None: two of each."""
    experiment: str
    """With which names of points begin."""
    pages: str
    """Of the arrays, as `--pages` takes them."""

    def of_kernel(self, kernel: str) -> list[int]:
        """Its sizes, rising."""
        return expand(self.sizes) if self.sizes else [*_SIZES.get(kernel, _STREAM_SIZES)]


def planned_nests(
    places: Sequence[tuple[Place, list[int]]], loads: NestLoads, system: System
) -> list[PlannedNest]:
    """Every kernel of every size, in the memory of each place that is its CPUs' own.

    Args:
        places: CPUs with the memory that they load, and the nodes that this is bound to.
        loads: Which nests of which sizes.
        system: The machine; all arrays together take a part of its available memory.

    Raises:
        RequestError: the arrays of a size do not fit into memory.
    """
    if NO_KERNEL in loads.kernels and len(loads.kernels) > 1:
        raise RequestError(f"--kernel combines {NO_KERNEL} with loop nests; write one of both")
    near = {place.memory_node for place, _ in places if place.cpu_node == place.memory_node}
    mine = [
        (place, nodes)
        for place, nodes in places
        if place.cpu_node == place.memory_node or place.memory_node not in near
    ]
    wanted = [
        (kernel, size, place, nodes)
        for kernel in loads.kernels
        if kernel != NO_KERNEL
        for size in loads.of_kernel(kernel)
        for place, nodes in mine
    ]
    share = msgspec.structs.replace(
        system, available_bytes=system.available_bytes // max(1, len(wanted))
    )
    return [
        PlannedNest(
            place=place,
            nodes=nodes,
            spec=(spec := _spec(kernel, size)),
            once=element_traffic(spec, kernel, extents_of(kernel, size)),
            sets=_sets(spec, f"{kernel}, N = {size}", place, share),
            point=_point(kernel, size, place, loads),
        )
        for kernel, size, place, nodes in wanted
    ]


def _spec(kernel: str, size: int) -> _core.NestSpec:
    try:
        return _core.NestSpec(
            kernel, store_prefetch=False, load_prefetch=False, **extents_of(kernel, size)
        )
    except RequestError as error:
        raise RequestError(f"--sizes {size}: {error}") from error


def _sets(spec: _core.NestSpec, name: str, place: Place, system: System) -> Sets:
    sets = sets_for([array.bytes for array in spec.arrays], len(place.cpus), place.cpus, system)
    if sets.laid_out_bytes > system.available_bytes:
        raise RequestError(
            f"--sizes: the arrays of {name} take {format_bytes(sets.laid_out_bytes)} for "
            f"{place.name}, and {format_bytes(system.available_bytes)} is the share of each load; "
            "give smaller sizes or fewer"
        )
    return sets


def _point(kernel: str, size: int, place: Place, loads: NestLoads) -> Point:
    spec = _spec(kernel, size)
    once = element_traffic(spec, kernel, extents_of(kernel, size))
    counted = (once.read_bytes + once.write_bytes) * len(place.cpus)
    requested = VerifyRequested(
        load=f"{kernel}, N = {size}",
        cpu_node=place.cpu_node,
        memory_node=place.memory_node,
        memory=str(on_node(place.memory_node)),
        pages=loads.pages,
        kernel=kernel,
        size=size,
    )
    return Point(
        point=f"{loads.experiment}/{kernel}/{size}/{place.name}",
        experiment=loads.experiment,
        quantity="bandwidth",
        requested=requested.recorded(),
        actual=VerifyActual(cpus=format_cpu_list(place.cpus)).recorded(),
        bytes_counted=counted,
        bytes_moved=counted + once.allocate_bytes * len(place.cpus),
        threads=len(place.cpus),
        role="counted",
        work="counted",
    )


def prepared_nests(
    stack: ExitStack, nests: Sequence[PlannedNest], *, pages: str, region_s: float
) -> Iterator[tuple[Point, Load]]:
    """Each nest with its arrays, executed so often that a region lasts as long as requested.

    Args:
        stack: Frees the arrays.
        nests: What `planned_nests` returned.
        pages: Pages of the arrays, as `--pages` takes them.
        region_s: How long a region lasts at least, in s.
    """
    teams: dict[str, _core.Team] = {}
    for one in nests:
        team = teams.get(one.place.name)
        if team is None:
            team = teams[one.place.name] = _core.Team(one.place.cpus)
        nest = _core.LoopNest(
            team, one.spec, one.sets.copies, pages=pages, memory=_core.Memory(one.nodes)
        )
        stack.callback(nest.close)
        took_s = execution_s(nest)
        repetitions = max(1, min(MOST_REPETITIONS, math.ceil(region_s / took_s)))
        lead_in = max(1, min(one.sets.lead_in, int(LEAD_IN_REGIONS * region_s / took_s)))
        facts = backing_facts(nest.backing(), pages)
        actual = VerifyActual(
            issued_bytes=(one.once.read_bytes + one.once.write_bytes)
            * len(one.place.cpus)
            * repetitions,
            repetitions=repetitions,
            copies=one.sets.copies,
        )
        load = Load(
            worker=team,
            amounts=[Amount(run=partial(nest.run, repetitions), moved=one.moved(repetitions))],
            memory=nest,
            subject=f"{VerifyRequested.of(one.point.requested).load}, {one.place.name}",
            lead_in=partial(nest.run, lead_in),
        )
        yield one.point.with_actual(facts | actual.recorded()), load
