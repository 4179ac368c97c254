"""What the memory of points turned out to be, read back from the kernel when it was opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.points.memory import AreaFacts, RequestedMemory

if TYPE_CHECKING:
    from memgauge.model.memory import MemoryPlacement
    from memgauge.model.parameters import CommonParameters
    from memgauge.model.record_kinds.fields import Scalar
    from memgauge.model.records import Point
    from memgauge.system.memory.sources import Memories


def with_memory(point: Point, parameters: CommonParameters, memories: Memories) -> Point:
    """The point with the memory it requests, and the facts of each file, device or pool in it.

    Args:
        point: Point as its experiment declared it.
        parameters: Those of the experiment; their memory applies unless the point names its own.
        memories: The opened files, devices and pools, which report the facts.
    """
    requested = {"memory": str(parameters.memory)} | point.requested
    actual: dict[str, Scalar] = {}
    for role, placement in RequestedMemory.of(requested).placements().items():
        facts = _facts(placement, memories)
        actual |= facts.recorded_as(role)
        if role == "memory" and facts.medium_page_bytes and "pages" in point.actual:
            actual["pages"] = page_name(facts.medium_page_bytes)  # such a medium has no others
    return msgspec.structs.replace(point, requested=requested, actual=point.actual | actual)


def page_name(page_bytes: int) -> str:
    """As page policies are called: `4k`, `2m`, `1g`."""
    for unit, letter in ((1 << 30, "g"), (1 << 20, "m")):
        if page_bytes % unit == 0:
            return f"{page_bytes // unit}{letter}"
    return f"{page_bytes >> 10}k"


def _facts(placement: MemoryPlacement, memories: Memories) -> AreaFacts:
    """What is known of an area; nothing of ordinary memory."""
    if not placement.is_area:
        return AreaFacts()
    try:
        facts = memories.of(placement).facts
    except RequestError:  # named by the point, and opened by the experiment itself
        facts = None
    if facts is None:
        return AreaFacts()
    return AreaFacts(
        file_system=facts.file_system,
        dax=facts.dax,
        map_sync=facts.map_sync,
        medium_node=facts.node,
        medium_page_bytes=facts.page_bytes or None,
    )
