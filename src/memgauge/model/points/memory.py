"""What points record about their memory: what was requested, and what was in effect there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.points.facts import Facts
from memgauge.model.record_kinds.fields import Scalar

ROLES = {"memory": "", "source": "source_", "destination": "destination_"}
"""What a point requests memory as, and what the names of the facts of that memory begin with."""


class RequestedMemory(Facts, frozen=True, kw_only=True):
    """The memories that a point requests, as a user writes placements; most have one."""

    memory: str = ""
    source: str = ""
    destination: str = ""

    def placements(self) -> dict[str, MemoryPlacement]:
        """By role; without memories that are no single placement."""
        found = {role: placement_of(text) for role, text in self.recorded().items()}
        return {role: placement for role, placement in found.items() if placement is not None}


class ComparedNodes(Facts, frozen=True, kw_only=True):
    """What a point requests where an experiment compares memory of several nodes."""

    memory: str = ""
    memory_node: int | None = None
    nodes: str = ""
    """Several, such as `0,1`."""


class AreaFacts(Facts, frozen=True, kw_only=True):
    """What the kernel reported about an opened file, device or pool; missing: it did not.

    A record holds them with the prefix of the memory's role.
    """

    file_system: str = ""
    dax: bool | None = None
    map_sync: bool | None = None
    medium_node: int | None = None
    medium_page_bytes: int | None = None

    @classmethod
    def of_role(cls, actual: Mapping[str, Scalar], role: str) -> Self:
        """Read back what a record holds of the memory of one role."""
        return cls.of({name: actual[key] for key, name in cls.keys(role).items() if key in actual})

    def recorded_as(self, role: str) -> dict[str, Scalar]:
        """What the record holds of the memory of one role."""
        return {ROLES[role] + name: fact for name, fact in self.recorded().items()}

    @classmethod
    def keys(cls, role: str) -> dict[str, str]:
        """Names of the facts, by the keys that a record has for the memory of one role."""
        return {ROLES[role] + name: name for name in cls.__struct_fields__}


def placement_of(requested: Scalar) -> MemoryPlacement | None:
    """The one placement that a text means; None: none, or several."""
    try:
        return parse_placement(requested, "--memory") if isinstance(requested, str) else None
    except RequestError:
        return None
