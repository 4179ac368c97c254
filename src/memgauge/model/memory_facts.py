"""What the records say of a point's memory: what it asked for, and what was in effect there."""

from __future__ import annotations

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.records import Scalar

ROLES = {"memory": "", "source": "source_", "destination": "destination_"}
"""What a point may ask for memory by, and what the facts of that memory begin with."""

FACTS = ("file_system", "dax", "map_sync", "medium_node", "medium_page_bytes")
"""Of an opened file, device or pool, in `Point.actual`; None: not known."""


def requested_placement(requested: Scalar) -> MemoryPlacement | None:
    """The one memory that a point asked for; None: none, or several."""
    try:
        return parse_placement(requested, "--memory") if isinstance(requested, str) else None
    except RequestError:
        return None
