"""STREAM: how many bytes a second do simple loops over large arrays move?

Question: the sustainable bandwidth of copy, scale, add and triad (McCalpin's STREAM), and of
reading, writing and updating, over thread counts: as a plain loop gets it (`standard`) and as good
as it can be had (`tuned`: explicit vectors, non-temporal stores, prefetch, huge pages).

Method: three arrays, each at least four times the last-level caches used, cut into blocks; one
sample walks a block or two on every thread, after an untimed lead-in over as much data as the
last-level cache holds, so that dirty lines of whatever ran before are not charged to this kernel.
Beside these slices, whole passes are timed as STREAM times them, best of ten. Source: J. McCalpin,
"Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995, and the STREAM
run rules. Where counters are requested, each kernel is also repeated alone while they are read: see
`counted`.

What would invalidate it: arrays that fit in a cache; pages that went away; another program's
traffic; virtual CPUs moved by the host between two slices (distinguished by the ping-pong).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.counted import team_counters
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.stream.base import StreamBench, StreamExperiment
from memgauge.experiments.stream.counted import (
    REGION_S,
    CountedKernels,
    requested_counters,
)
from memgauge.experiments.stream.kernels import kernels_of
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.plan import (
    KernelPoint,
    PlannedArrays,
    StreamGroup,
    kernel_points,
    prepared,
)
from memgauge.experiments.stream.sizes import ARRAYS, Layout, layout
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.points.stream import StreamActual
from memgauge.model.system import System
from memgauge.model.units import format_bytes, format_count
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.memory.reservation import PagesWanted
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import cpus_for, default_team_sizes, within


class TeamGroup(StreamGroup[_core.KernelSpec], frozen=True, kw_only=True):
    """Kernels of one team."""

    cpus: list[int]
    shape: Layout
    pages: str
    suffix: list[str]
    """The pages, where several kinds are compared."""


class TeamBench(StreamBench[_core.KernelSpec]):
    """Arrays of one team with the kernels that walk them."""

    def __init__(
        self,
        arrays: _core.StreamArrays,
        kernels: list[KernelPoint[_core.KernelSpec]],
        shape: Layout,
        subject: str,
        counted: CountedKernels[_core.KernelSpec] | None,
    ) -> None:
        super().__init__(kernels, arrays.validate, subject, counted)
        self._arrays = arrays
        self._shape = shape
        self._next_block = 0

    def walk(self, measured: KernelPoint[_core.KernelSpec]) -> _core.Slice:
        """Time one slice, each the next block of every thread, or one pass over all arrays."""
        spec, tagged = measured.kernel.spec, measured.point.threads > 1
        if measured.point.role == "pass":
            return self._arrays.run(spec, blocks=self._shape.blocks, pingpong=tagged)
        taken = self._arrays.run(
            spec,
            first_block=self._next_block,
            lead_in_blocks=self._shape.lead_in_blocks,
            pingpong=tagged,
        )
        self._next_block = (self._next_block + 1) % self._shape.blocks
        return taken


class Stream(StreamExperiment):
    """The `stream` experiment in the host's memory."""

    def plan(self, parameters: StreamParameters, system: System) -> list[TeamGroup]:
        """One group for each team; its kernels share the arrays.

        Kernels of all requested teams are counted, else those of the largest.
        """
        parameters.check()
        sizes = parameters.threads or default_team_sizes(system, parameters.cpus)
        counted = sizes if parameters.threads else sizes[-1:]
        counters = requested_counters(parameters)
        groups = [
            _group(
                parameters,
                system,
                threads,
                pages,
                counters if threads in counted else (),
                is_end=threads in {sizes[0], sizes[-1]} or parameters.threads is not None,
            )
            for threads in sizes
            for pages in parameters.page_kinds
        ]
        _require_free_pages(groups, system)
        return groups

    def reservation(
        self, parameters: StreamParameters, system: Callable[[], System]
    ) -> list[PagesWanted]:
        """The requested size for each kind of explicit pages, or what all arrays in them take."""
        if parameters.reserve is None:
            return []
        kinds = {kind: EXPLICIT_PAGE_BYTES.get(kind) for kind in parameters.page_kinds}
        explicit = {kind: size for kind, size in kinds.items() if size is not None}
        if not explicit:
            raise RequestError(
                f"--reserve-huge-pages: no reserved page is used with --pages {parameters.pages}; "
                "add 2m or 1g to --pages"
            )
        if isinstance(parameters.reserve, int):
            return [
                PagesWanted(page_bytes=size, bytes=parameters.reserve) for size in explicit.values()
            ]
        machine = within(system(), parameters.nodes)
        teams = parameters.threads or default_team_sizes(machine, parameters.cpus)
        shapes = [
            layout(parameters, machine, cpus_for(parameters.cpus, threads, machine))
            for threads in teams
        ]
        return [
            PagesWanted(page_bytes=size, bytes=sum(shape.mapped_bytes(size) for shape in shapes))
            for size in explicit.values()
        ]

    @contextmanager
    def open(
        self,
        group: TeamGroup,
        parameters: StreamParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Pin the team, allocate and fill the arrays.

        Args:
            group: One that `plan` returned.
            parameters: Those that the group was planned with.
            memories: Memory opened for the run, from which the arrays take their pages.
        """
        shape, threads = group.shape, len(group.cpus)
        with ExitStack() as stack:
            team = _core.Team(group.cpus)
            arrays = _core.StreamArrays(
                team,
                elements=shape.elements,
                element=parameters.element,
                pages=group.pages,
                memory=memories.of(parameters.memory),
                offset_bytes=shape.offset_bytes,
                blocks=shape.blocks,
            )
            stack.callback(arrays.close)
            counted: CountedKernels[_core.KernelSpec] | None = None
            if group.counters:
                name = "/".join(["stream", f"{threads}t", *group.suffix])
                counters = team_counters(team, find(group.counters), name=name)
                counted = CountedKernels(
                    lambda spec, iterations: arrays.run(
                        spec, blocks=shape.blocks, iterations=iterations
                    ),
                    stack.enter_context(counters),
                    region_s=REGION_S,
                    requested=parameters.repetitions,
                )
            subject = ", ".join([parameters.element, f"{threads} threads", *group.suffix])
            yield TeamBench(arrays, _prepared(group, arrays), shape, subject, counted)


def _group(  # noqa: PLR0913 - all but the last by position once
    parameters: StreamParameters,
    system: System,
    threads: int,
    pages: str,
    counters: tuple[str, ...],
    *,
    is_end: bool,
) -> TeamGroup:
    cpus = cpus_for(parameters.cpus, threads, system)
    shape = layout(parameters, system, cpus)
    kernels = kernel_points(
        parameters,
        kernels_of,
        PlannedArrays(
            actual=StreamActual(
                cpus=format_cpu_list(cpus),
                llc_bytes=shape.llc_bytes,
                stream_conformant=shape.conformant,
            ),
            threads=threads,
            pages=pages,
        ),
        counted=bool(counters),
    )
    size, several = EXPLICIT_PAGE_BYTES.get(pages), len(parameters.page_kinds) > 1
    pool_bytes = shape.mapped_bytes(size) if size else 0
    return TeamGroup(
        name=format_count(threads, "thread") + (f", {pages} pages" if several else ""),
        points=[one.point for one in kernels],
        bytes=pool_bytes or ARRAYS * shape.array_bytes,
        pool_bytes=pool_bytes,
        compared=f"{threads}t" if several else "",
        kernels=kernels,
        counters=counters,
        is_end=is_end,
        slice_elements=shape.elements // shape.blocks * (1 + shape.lead_in_blocks),
        pass_elements=shape.elements,
        cpus=cpus,
        shape=shape,
        pages=pages,
        suffix=[pages] if several else [],
    )


def _require_free_pages(groups: Sequence[TeamGroup], system: System) -> None:
    """Each team's arrays in explicit huge pages fit in those that are free, or else say so early.

    Raises:
        DoesNotFit: with the pages that are needed for all teams together.
    """
    for kind, size in EXPLICIT_PAGE_BYTES.items():
        needed = [group.pool_bytes for group in groups if group.pages == kind]
        pools = [pool for pool in system.huge_pages if pool.page_bytes == size]
        free_bytes = sum(max(0, pool.free - pool.reserved) * size for pool in pools)
        if needed and free_bytes < max(needed):
            raise DoesNotFit(
                f"--pages {kind}: the arrays need {format_bytes(max(needed))} in huge pages of "
                f"{format_bytes(size)}, of which {format_bytes(free_bytes)} are free; use "
                f"--reserve-huge-pages auto as root, or smaller --array-bytes"
            )


def _prepared(group: TeamGroup, arrays: _core.StreamArrays) -> list[KernelPoint[_core.KernelSpec]]:
    """Points of a slice, which walks one block of each thread, and of whole walks."""
    shape = group.shape
    laid_out = StreamActual(array_bytes=arrays.elements * shape.element_bytes)
    facts = backing_facts(arrays.backing(), group.pages) | laid_out.recorded()
    slice_elements = arrays.elements_per_block * len(group.cpus)
    return [
        prepared(one, slice_elements * (1 if one.point.role == "slice" else shape.blocks), facts)
        for one in group.kernels
    ]
