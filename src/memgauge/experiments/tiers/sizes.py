"""How large the arrays of competing threads are, and how much of them one iteration walks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.shared.rings import BLOCK_BYTES, memory_footprint
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.model.memory import MemoryPlacement
from memgauge.model.points.tiers import TiersActual
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.limits.room import Room, room
from memgauge.system.topology.placement import (
    UNKNOWN_CACHE_BYTES,
    cached_bytes,
    caches_of,
    hides_caches,
)

MIB = 1 << 20

CACHE_MULTIPLE = 2
"""Of an array over the last-level cache that its thread may have for itself. A copy then walks four
times what the cache holds before it comes back."""

LEAST_BYTES = 32 * MIB
STEP_BYTES = 2 * MIB
"""A huge page of most machines."""

MEMORY_SHARE = 0.5
"""Of what a memory has left, that arrays sized by default may take at most."""

ITERATION_BYTES = 4 * MIB
"""Of each array, half a millisecond or so of one thread; some ten to thirty in a sampling pass."""
LEAST_ITERATIONS = 4
"""In a walk over an array."""

RING_LEAST_BYTES = 128 * MIB
RING_SHARE = 0.1
"""Of what a memory has left, at most."""


Rooms = Mapping[MemoryPlacement, Sequence[Room]]
"""By placement, all that it takes its bytes from, and how many of that there are."""


class TierSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one team."""

    array_bytes: int
    """Of each array of each thread."""
    iteration_bytes: int
    """Of each array, in one iteration."""
    lead_in_iterations: int
    ring_bytes: int | None
    """Of each memory whose latency is probed; None: none is."""
    llc_bytes: int | None
    """The largest last-level cache of a thread; None where the system hides it."""

    @property
    def exceeds_caches(self) -> bool:
        """Whether the rule is kept; False too where the caches are not known."""
        return _exceeds(self.array_bytes, self.llc_bytes)

    @property
    def facts(self) -> dict[str, Scalar]:
        """What points record about them."""
        return TiersActual(
            array_bytes=self.array_bytes,
            iteration_bytes=self.iteration_bytes,
            lead_in_iterations=self.lead_in_iterations,
            llc_bytes=self.llc_bytes,
            footprint_bytes=self.ring_bytes,
        ).recorded()


def _exceeds(array_bytes: int, llc_bytes: int | None) -> bool:
    return llc_bytes is not None and array_bytes >= CACHE_MULTIPLE * llc_bytes


def tier_sizes(
    parameters: TiersParameters,
    system: System,
    cpus: Sequence[int],
    arrays: Mapping[MemoryPlacement, int],
    rings: Sequence[MemoryPlacement],
) -> TierSizes:
    """Sizes for threads on these CPUs; smaller than they should be where a memory is short of room.

    Args:
        parameters: as requested.
        system: the machine.
        cpus: of the threads that load the memory.
        arrays: by placement, how many arrays lie there.
        rings: placements whose latency is probed.
    """
    hidden = hides_caches(cpus, system)
    cache_bytes = UNKNOWN_CACHE_BYTES if hidden else max(_cache_bytes(system, cpu) for cpu in cpus)
    free = {placement: room(system, placement) for placement in [*arrays, *rings]}
    wanted = max(LEAST_BYTES, CACHE_MULTIPLE * cache_bytes)
    array_bytes = parameters.array_bytes or _fitting(wanted, arrays, free)
    whole = parameters.fixed_iterations is not None
    part_bytes = min(ITERATION_BYTES, max(1, array_bytes // LEAST_ITERATIONS))
    return TierSizes(
        array_bytes=array_bytes,
        iteration_bytes=array_bytes if whole else part_bytes,
        lead_in_iterations=0 if whole else _lead_in(system, cpus, part_bytes),
        ring_bytes=_ring_bytes(system, rings, free) if rings else None,
        llc_bytes=None if hidden else cache_bytes,
    )


def _lead_in(system: System, cpus: Sequence[int], part_bytes: int) -> int:
    """Iterations in which all threads together walk what their caches hold.

    Two or three arrays pass through the caches in an iteration; two is the cautious count.
    """
    return max(1, -(-cached_bytes(cpus, system) // (len(cpus) * 2 * part_bytes)))


def _cache_bytes(system: System, cpu: int) -> int:
    """Of the last level in front of a CPU."""
    levels = caches_of(cpu, system)
    return levels[max(levels)].bytes if levels else 0


def _fitting(wanted: int, arrays: Mapping[MemoryPlacement, int], free: Rooms) -> int:
    """The size wanted, or what each memory has room for in so many arrays.

    That is a power of two, so that a run that is completed later most likely has the same.
    """
    together: Counter[object] = Counter()
    left: dict[object, int] = {}
    for placement, count in arrays.items():
        for pool, bytes_ in free[placement]:
            together[pool] += count
            left[pool] = bytes_
    most = [int(left[pool] * MEMORY_SHARE) // count for pool, count in together.items() if count]
    steps = -(-wanted // STEP_BYTES)
    fitting = min((one // STEP_BYTES for one in most), default=steps)
    return STEP_BYTES * (steps if steps <= fitting else 1 << max(0, fitting.bit_length() - 1))


def _ring_bytes(system: System, rings: Sequence[MemoryPlacement], free: Rooms) -> int:
    """Of a ring in each of these memories."""
    least = [int(size * RING_SHARE) for placement in rings for _, size in free[placement]]
    blocks = min([memory_footprint(system, RING_LEAST_BYTES), *least]) // BLOCK_BYTES
    return max(1, blocks) * BLOCK_BYTES


def size_warnings(point: Point) -> list[Warning]:
    """Caches that may hold part of what is walked over."""
    actual = TiersActual.of(point.actual)
    array_bytes, llc_bytes = actual.array_bytes or 0, actual.llc_bytes
    if _exceeds(array_bytes, llc_bytes):
        return []
    size = format_bytes(array_bytes)
    caches = "whose size is hidden" if llc_bytes is None else f"of {format_bytes(llc_bytes)}"
    return [
        Warning(
            code="arrays-in-caches",
            message=(
                f"arrays of {size} are not known to be twice the last-level cache {caches}: part "
                "of what a thread reads and writes may come from it"
            ),
            remedy="leave --array-bytes out, free memory, or use fewer threads",
            experiment=point.experiment,
            point=point.point,
        )
    ]
