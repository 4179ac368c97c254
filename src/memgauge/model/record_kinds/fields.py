"""What the records of a run are made of: their base, and the bounds of their numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec

LARGEST_INTEGER = (1 << 63) - 1

Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_INTEGER)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_INTEGER)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Integer = Annotated[int, msgspec.Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Scalar = str | Integer | float | bool | None


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all records."""
