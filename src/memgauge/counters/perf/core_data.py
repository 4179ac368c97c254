"""What is known of events of the cores, by processor, as data: `data/cores.toml`."""

from __future__ import annotations

from functools import cache

import msgspec

from memgauge.counters.perf.data import read_table
from memgauge.model.counting.events import Quantity


class CoreEncoding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the PMU of a core type counts an event on some processors."""

    text: str
    """Terms, by the formats of the PMU."""
    pmus: tuple[str, ...] = ("cpu",)
    cpus: list[str]
    """Names of `cpus.toml`."""
    meaning: str
    source: str
    pitfalls: list[str] = []


class CoreEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event of the cores that the kernel has no name for."""

    name: str
    quantity: Quantity
    scale: float = 1.0
    """Of the quantity, for one raw count."""
    published: list[str] = []
    """Names under which PMUs of cores publish it."""
    published_meaning: str = ""
    published_source: str = ""
    encodings: list[CoreEncoding] = []


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the kernel's own names really count on some processors."""

    events: list[str]
    cpus: list[str]
    text: str
    same_as: str | None = None
    """The event of this file that they are there."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    event: list[CoreEvent]
    note: list[Note]


@cache
def core_table() -> _File:
    """All of it."""
    return msgspec.convert(read_table("cores"), _File)


def encoded_event(name: str) -> CoreEvent | None:
    """The event of a name; None: there is none."""
    return next((one for one in core_table().event if one.name == name), None)
