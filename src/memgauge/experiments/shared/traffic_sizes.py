"""How much memory traffic walks over, and how much of it goes before what is timed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.model.points.shared import TrafficMemory
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.topology.placement import cached_bytes, hides_caches

MIB = 1 << 20
CACHE_MULTIPLE = 4
"""What all threads together read, over the last-level caches they use, and what they write: the
STREAM run rule for one array. With half of it a cache that adapts its insertion keeps enough for
reads to seem up to a tenth faster."""

LEAST_REGION_BYTES = 32 * MIB
REGION_STEP_BYTES = 2 * MIB
"""A huge page of most machines."""

MEMORY_SHARE = 0.5
"""Of what is available, that traffic may take at most."""


class TrafficSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one team of generating threads."""

    region_bytes: int
    """A thread reads from so many bytes, and writes to as many others."""
    threads: int
    lead_in_bytes: int
    """Issued by each thread before what is timed: together as much as the caches hold."""
    llc_bytes: int | None
    """Sum of the last-level caches the team uses; None where the system does not tell."""

    @property
    def total_bytes(self) -> int:
        """Of all threads."""
        return 2 * self.region_bytes * self.threads

    @property
    def exceeds_caches(self) -> bool:
        """Whether the rule is kept; False too where the caches are not known."""
        read_bytes = self.region_bytes * self.threads
        return self.llc_bytes is not None and read_bytes >= CACHE_MULTIPLE * self.llc_bytes

    @property
    def facts(self) -> dict[str, Scalar]:
        """As the records hold it."""
        return TrafficMemory(traffic_bytes=self.total_bytes, llc_bytes=self.llc_bytes).recorded()

    @property
    def notes(self) -> dict[str, Scalar]:
        """Facts of a team's first point: what a reader is warned of once."""
        return TrafficMemory(exceeds_caches=self.exceeds_caches).recorded()


def size_warnings(point: Point) -> list[Warning]:
    """Caches that may hold part of what is walked over; said by the point that carries the fact."""
    actual = TrafficMemory.of(point.actual)
    if actual.exceeds_caches is not False:
        return []
    llc_bytes = actual.llc_bytes
    caches = "of a size the system hides" if llc_bytes is None else f"of {llc_bytes} B"
    return [
        Warning(
            code="traffic-in-caches",
            message=(
                f"half of the traffic's {actual.traffic_bytes} B is not known to be "
                f"four times the last-level caches used, {caches}: part of it may come from them"
            ),
            remedy="free memory, or use fewer threads" if llc_bytes is not None else None,
            experiment=point.experiment,
            point=point.point,
        )
    ]


def traffic_sizes(cpus: Sequence[int], system: System) -> TrafficSizes:
    """Sizes for threads on these CPUs; smaller where memory is short."""
    hidden = hides_caches(cpus, system)
    cache_bytes = cached_bytes(cpus, system)
    wanted = max(LEAST_REGION_BYTES, -(-CACHE_MULTIPLE * cache_bytes // len(cpus)))
    most = int(system.available_bytes * MEMORY_SHARE) // (2 * len(cpus))
    steps = max(1, min(-(-wanted // REGION_STEP_BYTES), most // REGION_STEP_BYTES))
    return TrafficSizes(
        region_bytes=steps * REGION_STEP_BYTES,
        threads=len(cpus),
        lead_in_bytes=-(-cache_bytes // len(cpus)),
        llc_bytes=None if hidden else cache_bytes,
    )
