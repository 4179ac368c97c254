"""The points of `traffic`: a kernel of one size, executed by a number of threads or by a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import msgspec

from memgauge import _core
from memgauge.experiments.shared.prefetch import Prefetch
from memgauge.experiments.traffic.machines import (
    Machines,
    here,
    part_of,
    sockets_of,
)
from memgauge.experiments.traffic.parameters import (
    DEFAULT_PREFETCH,
    PREFETCH_LINE_BYTES,
    NestPrefetch,
    TrafficParameters,
)
from memgauge.experiments.traffic.shapes import cap_for, extents_of, sizes_of
from memgauge.model.cache_machine import with_cores
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.nests import KINDS, STUDY_GRID
from memgauge.model.points.traffic import (
    NestArrays,
    NestExtents,
    TrafficActual,
    TrafficRequested,
    library_label,
)
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.text import plain, shortened
from memgauge.model.units import format_count
from memgauge.system.topology.placement import POLICIES, UNKNOWN_CACHE_BYTES, cpus_for

_MOST_NAME = 400
"""Characters of a library's name in a message, which may be a path."""


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """Threads that execute a kernel, and what they share; or a GPU, as one thread.

    They execute the loop nest, or call a library for it.
    """

    threads: int
    cpus: list[int] = []
    """Empty: a GPU executes it, or nothing is run."""
    per_socket: list[int]
    cached_bytes: int | None
    """What one of them may keep in this machine's caches; None: hidden, or nothing is run."""
    gpu: str = ""
    """Placement of the GPU; empty: cores execute it."""
    blas: _core.Blas | None = None
    """The library that each thread calls; None: they execute the loop nest."""

    @property
    def library(self) -> str:
        """As points and reports call the library; empty without one."""
        return "" if self.blas is None else library_label(self.blas.name)

    @property
    def name(self) -> str:
        """As progress and errors call it."""
        by = self.gpu or format_count(self.threads, "thread")
        return f"{by}, {self.library}" if self.library else by


class PlannedSize(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel of one size."""

    point: Point
    size: int
    spec: _core.NestSpec
    subject: str
    """As the validation of its arrays calls it, such as `gemm, N = 64, 1 thread`."""

    @property
    def array_bytes(self) -> list[int]:
        """Of each array of one thread."""
        return [array.bytes for array in self.spec.arrays]


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of elements that one execution by one thread reads and writes if it finds none."""

    read_bytes: int
    write_bytes: int
    allocate_bytes: int
    """Of what is written and not read."""


def teams_of(parameters: TrafficParameters, system: System, machines: Machines) -> list[Team]:
    """Numbers of threads requested, or one; batched, one for each core.

    Of each first the team that executes the loop nest, then those that call a library.

    Args:
        parameters: Requested thread counts, CPUs, and whether anything is run.
        system: The machine that runs the threads.
        machines: Machines to simulate. Where nothing is run, batched means as many threads as the
            smallest of them has cores.

    Raises:
        RequestError: a library cannot be loaded, or there are not so many CPUs.
    """
    if parameters.simulate_only:
        most = min((machine.machine_cores for machine in machines.of), default=1)
        counts = (most,) if parameters.batched else parameters.threads or (1,)
        return [Team(threads=count, per_socket=[count], cached_bytes=None) for count in counts]
    libraries = [_loaded(name) for name in parameters.blas or ()]
    if parameters.batched:
        policy = "cores" if parameters.cpus in POLICIES else parameters.cpus
        teams = [_team(cpus_for(policy, None, system), system)]
    else:
        teams = [
            _team(cpus_for(parameters.cpus, threads, system), system)
            for threads in parameters.threads or (1,)
        ]
    return [
        msgspec.structs.replace(team, blas=library)
        for team in teams
        for library in (None, *libraries)
    ]


def planned_sizes(
    parameters: TrafficParameters, machines: Machines, team: Team, cap: int | None
) -> list[PlannedSize]:
    """The points of a team by rising size.

    Args:
        parameters: As requested; without `sizes` the kernel's default sizes are planned.
        machines: Machines to simulate, which the points record.
        team: Threads, or the GPU, that execute the kernel.
        cap: Largest number of rows and columns of GEMV's matrix; None for other kernels.
    """
    return [
        planned_size(parameters, machines, team, size, cap, ahead)
        for size in sizes_of(parameters)
        for ahead in parameters.prefetches
    ]


def planned_size(  # noqa: PLR0913, PLR0917 - as a point is identified
    parameters: TrafficParameters,
    machines: Machines,
    team: Team,
    size: int,
    cap: int | None,
    ahead: NestPrefetch | None = None,
) -> PlannedSize:
    """The point of one size.

    Args:
        parameters: As requested, but for the sizes.
        machines: Machines to simulate, which the point records.
        team: Threads, or the GPU, that execute the kernel.
        size: Size N of the kernel, see `memgauge.model.nests`.
        cap: Largest number of rows and columns of GEMV's matrix; None for other kernels.
        ahead: What is prefetched; None: the first of what is requested.

    Raises:
        RequestError: the core cannot lay out its arrays.
    """
    ahead = ahead or parameters.prefetches[0]
    spec = spec_for(parameters, size, cap, ahead)
    extents = extents_of(parameters, size, cap)
    once = element_traffic(spec, parameters.kernel, extents)
    counted = once.read_bytes + once.write_bytes
    # A GPU writes sectors without reading them first.
    moved = counted + (0 if team.gpu else once.allocate_bytes)
    parts = ["traffic", parameters.kernel, str(size), team.gpu or f"{team.threads}t"]
    parts += [team.library] if team.library else []
    actual = TrafficActual(
        cpus=format_cpu_list(team.cpus),
        read_bytes=once.read_bytes * team.threads,
        write_bytes=once.write_bytes * team.threads,
        cached_bytes=team.cached_bytes,
        simulated_in_part="" if team.blas else _in_part(machines, team),
        blas_version=_version(team.blas) if team.blas else "",
        blas_file=team.blas.file if team.blas else "",
        blas_threads=team.blas.threads or None if team.blas else None,
    )
    arrays = NestArrays(**{f"{array.name}_bytes": array.bytes for array in spec.arrays})
    point = Point(
        point="/".join([*parts, *ahead.suffix]),
        experiment="traffic",
        quantity="bandwidth",
        requested=_requested(parameters, machines, team, size, cap, ahead).recorded(),
        actual=NestExtents(**extents).recorded() | arrays.recorded() | actual.recorded(),
        bytes_counted=counted * team.threads,
        bytes_moved=moved * team.threads,
        threads=team.threads,
        role="counted",
    )
    subject = f"{parameters.kernel}, N = {size}, {team.name}"
    return PlannedSize(point=point, size=size, spec=spec, subject=subject)


def spec_of(point: Point) -> _core.NestSpec:
    """The loop nest that a recorded point executes."""
    requested = TrafficRequested.of(point.requested)
    return _core.NestSpec(
        requested.kernel,
        **_prefetching(
            NestPrefetch(
                stores=requested.store_prefetch is True,
                loads=requested.load_prefetch is True,
                distance=Prefetch(
                    requested.prefetch_near_bytes or DEFAULT_PREFETCH.near_bytes,
                    requested.prefetch_far_bytes or 0,
                ),
            )
        ),
        **NestExtents.of(point.actual).known,
    )


class _Prefetching(TypedDict):
    store_prefetch: bool
    load_prefetch: bool
    prefetch_lines: int
    prefetch_far_lines: int


def _prefetching(ahead: NestPrefetch) -> _Prefetching:
    return _Prefetching(
        store_prefetch=ahead.stores,
        load_prefetch=ahead.loads,
        prefetch_lines=ahead.distance.near_bytes // PREFETCH_LINE_BYTES,
        prefetch_far_lines=ahead.distance.far_bytes // PREFETCH_LINE_BYTES,
    )


def spec_for(
    parameters: TrafficParameters, size: int, cap: int | None, ahead: NestPrefetch | None = None
) -> _core.NestSpec:
    """The kernel's loop nest of a size.

    Args:
        parameters: As requested, but for the sizes.
        size: Size N of the kernel, see `memgauge.model.nests`.
        cap: Limit on rows and columns of GEMV's matrix; None: no limit. Other kernels ignore it.
        ahead: What is prefetched; None: the first of what is requested.

    Raises:
        RequestError: the core cannot lay it out.
    """
    extents = extents_of(parameters, size, cap)
    try:
        return _core.NestSpec(
            parameters.kernel, **_prefetching(ahead or parameters.prefetches[0]), **extents
        )
    except RequestError as error:
        raise RequestError(f"--sizes {size}: {error}") from error


def cap_of(parameters: TrafficParameters, machines: Machines, teams: Sequence[Team]) -> int | None:
    """The largest number of rows and columns of GEMV's matrix; None for other kernels.

    Unless requested, it is so large that no machine measured or simulated caches the matrix.

    Args:
        parameters: Requested kernel, and its cap if one was requested.
        machines: Machines to simulate, whose caches count.
        teams: Teams to measure; caches of this machine count only for teams that run on its CPUs.
    """
    if parameters.kernel != "gemv" or parameters.cap is not None:
        return parameters.cap
    here_bytes = [
        team.cached_bytes or UNKNOWN_CACHE_BYTES // team.threads for team in teams if team.cpus
    ]
    there_bytes = [
        with_cores(machine, min(team.threads, machine.machine_cores)).cached_bytes
        for team in teams
        for machine in machines.of
    ]
    return cap_for([*here_bytes, *there_bytes])


def element_traffic(spec: _core.NestSpec, kernel: str, extents: Mapping[str, int]) -> Element:
    """What an execution reads and writes by its elements, each once as far as caches can help.

    Capped GEMV walks its matrix again and again, and of strided arrays only every n-th double.

    Args:
        spec: Loop nest, which knows the bytes of its arrays and which are read or written.
        kernel: Name of the kernel, one of `memgauge.model.nests.KINDS`.
        extents: Extents of the nest by name, in elements.
    """
    if kernel == "strided-copy":
        moved = extents["n"] * 8
        return Element(read_bytes=moved, write_bytes=moved, allocate_bytes=moved)
    reads = sum(array.bytes for array in spec.arrays if array.read)
    if kernel == "gemv":
        reads += (extents["m"] - min(extents["m"], extents["cap"])) * extents["n"] * 8
    return Element(
        read_bytes=reads,
        write_bytes=sum(array.bytes for array in spec.arrays if array.written),
        allocate_bytes=sum(a.bytes for a in spec.arrays if a.written and not a.read),
    )


def _requested(  # noqa: PLR0913, PLR0917 - as a point is identified
    parameters: TrafficParameters,
    machines: Machines,
    team: Team,
    size: int,
    cap: int | None,
    ahead: NestPrefetch,
) -> TrafficRequested:
    grid = parameters.grid or STUDY_GRID
    return TrafficRequested(
        kernel=parameters.kernel,
        size=size,
        batched=None if team.gpu else parameters.batched,
        grid=str(grid) if KINDS[parameters.kernel].is_resort else "",
        cap=cap,
        store_prefetch=ahead.stores,
        load_prefetch=True if ahead.loads else None,
        prefetch_near_bytes=ahead.distance.near_bytes if ahead.stores or ahead.loads else None,
        prefetch_far_bytes=ahead.distance.far_bytes or None,
        blas=team.library,
        machines="" if team.blas else machines.names,
        repetitions=str(parameters.repetitions),
        memory=str(parameters.memory),
        pages="" if team.gpu else parameters.pages,
    )


def _loaded(name: str) -> _core.Blas:
    """The library; the core and the system's loader repeat a name of any length when refusing."""
    try:
        return _core.Blas(name)
    except RequestError as error:
        raise RequestError(plain(str(error).replace(name, shortened(name, _MOST_NAME)))) from error


def _version(blas: _core.Blas) -> str:
    """With the vendor in front, where the library's own words do not begin with it."""
    known = blas.version
    if not known.startswith(blas.vendor) or not known:
        known = f"{blas.vendor} {known}".strip()
    return known


def _in_part(machines: Machines, team: Team) -> str:
    """Machines of which a part is simulated and its figures multiplied; empty: all are whole."""
    found = []
    for machine in machines.of:
        try:
            part = part_of(machine, team.per_socket)
        except RequestError:
            continue
        if part.times > 1:
            found.append(machine.name)
    return ",".join(found)


def _team(cpus: list[int], system: System) -> Team:
    return Team(
        threads=len(cpus),
        cpus=cpus,
        per_socket=sockets_of(cpus, system),
        cached_bytes=_kept(cpus, system),
    )


def _kept(cpus: Sequence[int], system: System) -> int | None:
    """What one thread may keep: the caches of its core, its share of those that more use."""
    machine = here(system)
    if machine is None:
        return None
    busiest = min(max(sockets_of(cpus, system)), machine.machine_cores)
    return with_cores(machine, busiest).cached_bytes
