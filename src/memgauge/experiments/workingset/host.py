"""Working set: what do latency and read bandwidth become as the data grows?

Question: over footprints from 4 KiB to six times the last-level cache, how long does a load wait
and how fast can one core read; where are the levels, and how large are they really?

Method: for each footprint a ring over all its lines in random order (latency), and repeated reads
of a prefix of one array with independent vector loads (bandwidth). Before each visit all of the
footprint is read in order, untimed, up to four times: a last-level cache that adapts its insertion
keeps only what it saw come back. The levels are found afterwards from the curve.
Source: the memory mountain (Bryant and O'Hallaron) and lmbench's lat_mem_rd (McVoy and Staelin).

What would invalidate it: base pages, where TLB misses raise the curve before the cache does (the
report names the pages that were got); neighbours that take their share of a shared level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Annotated, ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import backing_facts, to_sample
from memgauge.model.errors import RequestError
from memgauge.model.option import size_option
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.records import Point, Sample, Scalar
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import LINE_BYTES, caches_of, cpus_for

KIB = 1 << 10
LEAST_BYTES = 4 * KIB
CACHE_MULTIPLE = 6
"""Three footprints beyond twice the last level, so that memory shows as a plateau of its own."""

LEAST_LARGEST_BYTES = 64 << 20
SLICE_READ_BYTES = 6 << 20
"""Bytes of one timed read: at 30 GB/s a fifth of a millisecond."""

SLICE_HOPS = 4_000
WARM_HOPS = 1_000
SWEEPS = 4
"""Reads of a footprint, in order, before each walk, where a cache may hold it."""
DENSE_STEPS = (4, 5, 6, 7)
SPARSE_STEPS = (4, 6)
"""Quarters of a power of two: four sizes an octave while rings are quickly walked, then two."""

DENSE_UP_TO_BYTES = 8 << 20


class WorkingsetParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `workingset` takes."""

    largest_bytes: Annotated[
        int | None,
        size_option("largest footprint to measure", automatic="six times the last-level cache"),
    ] = None


def footprints(largest_bytes: int, dense_up_to_bytes: int = DENSE_UP_TO_BYTES) -> list[int]:
    """Sizes to visit, ascending, whole KiB, and `largest_bytes` the last.

    They are four an octave up to `dense_up_to_bytes`, then two.
    """
    sizes: list[int] = []
    octave = LEAST_BYTES
    while octave <= largest_bytes:
        steps = DENSE_STEPS if octave < dense_up_to_bytes else SPARSE_STEPS
        sizes += [octave * step // 4 for step in steps]
        octave *= 2
    return [size for size in sizes if size < largest_bytes] + [largest_bytes]


def largest_footprint(parameters: WorkingsetParameters, system: System, cpu: int) -> int:
    """Six times the last-level cache, or as asked.

    Raises:
        RequestError: less was asked for than the smallest footprint.
    """
    requested = require_largest(parameters)
    caches = caches_of(cpu, system)
    last = caches[max(caches)].bytes if caches else 0
    wanted = requested or max(LEAST_LARGEST_BYTES, CACHE_MULTIPLE * last)
    return max(LEAST_BYTES, wanted // LINE_BYTES * LINE_BYTES)


def require_largest(parameters: WorkingsetParameters) -> int | None:
    """What was asked for; None: nothing.

    Raises:
        RequestError: it is less than the smallest footprint.
    """
    requested = parameters.largest_bytes
    if requested is not None and requested < LEAST_BYTES:
        raise RequestError(
            f"--largest-bytes {format_bytes(requested)}: the smallest footprint is "
            f"{format_bytes(LEAST_BYTES)}; ask for that or more"
        )
    return requested


def sweeps_for(footprint_bytes: int, cpu: int, system: System) -> int:
    """Four up to twice what the last level is said to hold, none beyond.

    There a sweep would only leave the end of the ring in the cache.
    """
    caches = caches_of(cpu, system)
    last = caches[max(caches)].bytes if caches else LEAST_LARGEST_BYTES
    return SWEEPS if footprint_bytes <= 2 * last else 0


class WorkingsetBench(Bench):
    """One array to read prefixes of, and one ring for each footprint."""

    def __init__(
        self,
        points: list[Point],
        rings: Mapping[str, tuple[_core.ChaseRing, int]],
        arrays: _core.StreamArrays,
        spec: _core.KernelSpec,
    ) -> None:
        self.points = points
        self._rings = rings
        self._arrays = arrays
        self._spec = spec
        self._element_bytes = 8

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Walk a ring, or read a prefix."""
        if point in self._rings:
            ring, sweeps = self._rings[point]
            return [to_sample(point, round_, ring.run(SLICE_HOPS, WARM_HOPS, sweeps=sweeps))]
        footprint = int(point.rsplit("/", 1)[1])
        taken = self._arrays.run(
            self._spec,
            prefix_elements=footprint // self._element_bytes,
            repeats=_repeats(footprint),
        )
        return [to_sample(point, round_, taken)]


class Workingset(Experiment):
    """The `workingset` experiment."""

    name: ClassVar[str] = "workingset"
    parameters: ClassVar[type[WorkingsetParameters]] = WorkingsetParameters

    def plan(self, parameters: WorkingsetParameters, system: System) -> list[Group]:
        """One group: the curve is one curve."""
        parameters.refuse_teams("the working set is that of one core")
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        sizes = footprints(largest_footprint(parameters, system, cpu))
        points = [
            _point(access, size, parameters, cpu, {})
            for access in ("latency", "read")
            for size in sizes
        ]
        return [
            Group(
                name=f"{len(sizes)} footprints",
                points=points,
                bytes=sum(sizes) + 3 * sizes[-1],
            )
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: WorkingsetParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate the array and link all rings."""
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        largest = max(_footprint(point) for point in group.points)
        team = _core.Team([cpu])
        memory = memories.of(parameters.memory)
        with ExitStack() as stack:
            arrays = _core.StreamArrays(team, largest // 8, pages=parameters.pages, memory=memory)
            stack.callback(arrays.close)
            got = backing_facts(arrays.backing()[:1], parameters.pages)
            rings: dict[str, tuple[_core.ChaseRing, int]] = {}
            points: list[Point] = []
            for planned in group.points:
                size = _footprint(planned)
                if planned.requested["access"] == "read":
                    points.append(_point("read", size, parameters, cpu, got))
                    continue
                ring = _core.ChaseRing(team, size, pages=parameters.pages, memory=memory)
                stack.callback(ring.close)
                rings[planned.point] = (ring, sweeps_for(size, cpu, system))
                facts = backing_facts([ring.backing()], parameters.pages)
                points.append(_point("latency", size, parameters, cpu, facts))
            yield WorkingsetBench(points, rings, arrays, _core.default_tuned_spec("read"))


def _footprint(point: Point) -> int:
    return int(point.point.rsplit("/", 1)[1])


def _repeats(footprint_bytes: int) -> int:
    return max(1, SLICE_READ_BYTES // footprint_bytes)


def _point(
    access: str,
    footprint_bytes: int,
    parameters: WorkingsetParameters,
    cpu: int,
    got: Mapping[str, Scalar],
) -> Point:
    read_bytes = footprint_bytes * _repeats(footprint_bytes) if access == "read" else 0
    return Point(
        point=f"workingset/{access}/{footprint_bytes}",
        experiment="workingset",
        quantity="bandwidth" if access == "read" else "latency",
        requested={"access": access, "footprint_bytes": footprint_bytes, "pages": parameters.pages},
        actual={"cpus": str(cpu), **got},
        bytes_counted=read_bytes,
        bytes_moved=read_bytes,
        accesses=SLICE_HOPS if access == "latency" else 0,
    )
