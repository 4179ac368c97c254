"""Facts of a point as a struct, and as the record holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

import msgspec

from memgauge.model.record_kinds.fields import Scalar

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what points record. Every field has a default: the fact is missing.

    A field is a `str`, empty where it is missing, or a `bool`, `int`, `float` or `Share`, None
    where it is missing. Structs may overlap: each reads what it knows of the same record.
    """

    @classmethod
    def of(cls, recorded: Mapping[str, Scalar]) -> Self:
        """Read back what a record holds. What is none of the field's type is missing."""
        try:
            return msgspec.convert(recorded, cls)
        except msgspec.ValidationError:
            return cls(**dict(_valid(cls, recorded)))

    def recorded(self) -> dict[str, Scalar]:
        """What the record holds of them: what is missing is left out."""
        return {
            name: fact
            for name, fact in msgspec.structs.asdict(self).items()
            if fact not in (None, "")
        }


def _valid(cls: type[Facts], recorded: Mapping[str, Scalar]) -> list[tuple[str, Scalar]]:
    found = []
    for field in msgspec.structs.fields(cls):
        try:
            found.append((field.name, msgspec.convert(recorded[field.name], field.type)))
        except (KeyError, msgspec.ValidationError):
            continue
    return found
