"""Working set: what do latency and read bandwidth become as the data grows?

Question: over footprints from 4 KiB to six times the last-level cache, how long does a load wait
and how fast can one core read; where are the levels, and how large are they really?

Method: for each footprint a ring over all its lines in random order (latency), and repeated reads
of a prefix of one array with independent vector loads (bandwidth). Before each pass all of the
footprint is read in order, untimed, up to four times: a last-level cache that adapts its insertion
keeps only what it saw come back. The levels are found afterwards from the curve.
Source: the memory mountain (Bryant and O'Hallaron) and lmbench's lat_mem_rd (McVoy and Staelin).

What would invalidate it: base pages, where TLB misses raise the curve before the cache does (the
report names the actual pages); neighbours that take their share of a shared level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import ClassVar

from memgauge import _core
from memgauge.experiments.shared.base import Bench, Experiment
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.shared.rings import Ring, RingBench, Walk
from memgauge.experiments.workingset.plan import (
    CACHE_MULTIPLE,
    ELEMENT_BYTES,
    LEAST_LARGEST_BYTES,
    MEMORY_DIVISOR,
    SWEEPS,
    WorkingsetGroup,
    WorkingsetParameters,
    bytes_of,
    footprints,
    largest_footprint,
    read_point,
    reads_of,
    sampling,
    walk_point,
)
from memgauge.model.points.rings import RingActual, RingRequested
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import LINE_BYTES, Touching, caches_of, cpus_for

READ_BYTES = 6 << 20
"""Of one timed read: at 30 GB/s a fifth of a millisecond."""

HOPS = 4_000
WARM_HOPS = 1_000


class HostWorkingsetGroup(WorkingsetGroup, frozen=True, kw_only=True):
    """The footprints of one CPU."""

    cpu: int
    linkers: Sequence[int]
    """CPUs that link the rings beyond the caches together."""
    walks: Sequence[Walk]


class Workingset(Experiment):
    """The `workingset` experiment."""

    name: ClassVar[str] = "workingset"
    parameters: ClassVar[type[WorkingsetParameters]] = WorkingsetParameters

    def plan(self, parameters: WorkingsetParameters, system: System) -> list[HostWorkingsetGroup]:
        """One group: the curve is one curve."""
        parameters.refuse_teams("the working set is that of one core")
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        caches = caches_of(cpu, system)
        last_bytes = caches[max(caches)].bytes if caches else None
        least_bytes = min(LEAST_LARGEST_BYTES, system.available_bytes // MEMORY_DIVISOR)
        automatic = max(least_bytes, CACHE_MULTIPLE * (last_bytes or 0))
        sizes = footprints(largest_footprint(parameters, automatic, LINE_BYTES))
        walks = [_walk(size, last_bytes or LEAST_LARGEST_BYTES) for size in sizes]
        reads = reads_of(sizes, READ_BYTES)
        requested = RingRequested(pages=parameters.pages)
        actual = RingActual(cpus=str(cpu))
        return [
            HostWorkingsetGroup(
                name=f"{len(sizes)} footprints",
                points=[
                    *(walk_point(walk, requested, actual) for walk in walks),
                    *(read_point("workingset/read", read, requested, actual) for read in reads),
                ],
                bytes=bytes_of(sizes),
                cpu=cpu,
                linkers=Touching(system).cpus(cpu, parameters.memory.node),
                walks=walks,
                reads=reads,
                elements=sizes[-1] // ELEMENT_BYTES,
            )
        ]

    @contextmanager
    def open(
        self,
        group: HostWorkingsetGroup,
        parameters: WorkingsetParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate the array and link all rings.

        Args:
            group: All footprints of one CPU.
            parameters: What `group` was planned with; `pages` and `memory` are used.
            memories: Sources that the array and the rings take their memory from.
        """
        pages, memory = parameters.pages, memories.of(parameters.memory)
        team = _core.Team([group.cpu])
        with ExitStack() as stack:
            arrays = _core.StreamArrays(team, group.elements, pages=pages, memory=memory)
            stack.callback(arrays.close)
            backing = backing_facts(arrays.backing()[:1], pages)
            run = partial(arrays.run, _core.default_tuned_spec("read"))
            rings = _rings(group, team, stack, pages=pages, memory=memory)
            yield RingBench(
                group.points,
                [
                    *((ring.facts, ring.sample) for ring in rings),
                    *((backing, sampling(run, read)) for read in group.reads),
                ],
            )


def _rings(
    group: HostWorkingsetGroup,
    team: _core.Team,
    stack: ExitStack,
    *,
    pages: str,
    memory: _core.Memory,
) -> list[Ring]:
    linkers = _core.Team(group.linkers)
    return [
        Ring(team, walk, stack, pages=pages, memory=memory, linkers=linkers) for walk in group.walks
    ]


def _walk(footprint_bytes: int, cache_bytes: int) -> Walk:
    """Swept before up to twice what the last level is reported to hold.

    Beyond, a sweep would only leave the end of the ring in the cache.
    """
    return Walk(
        footprint_bytes=footprint_bytes,
        hops=HOPS,
        warm_hops=WARM_HOPS,
        sweeps=SWEEPS if footprint_bytes <= 2 * cache_bytes else 0,
    )
