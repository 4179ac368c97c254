"""What a sum of counters lacks: controllers that the machine lists and that are not counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec


class PartialSum(msgspec.Struct, frozen=True, kw_only=True):
    """A sum over the controllers of one kind that lacks some of them."""

    counted: Annotated[int, msgspec.Meta(ge=0)]
    """Controllers in the sum,"""
    listed: Annotated[int, msgspec.Meta(ge=1)]
    """of so many that the machine lists."""
    left_out: dict[str, str]
    """Why each of the others is not counted, as a clause, by name."""
    text: str
    """The same as a line for a reader, with what to do."""


def once(sums: Iterable[PartialSum]) -> list[PartialSum]:
    """Each once: several events of one kind of controller state the same."""
    return list({one.text: one for one in sums}.values())
