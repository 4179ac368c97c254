"""Where an event is counted: one place for each descriptor that will be opened."""

from __future__ import annotations

import msgspec

from memgauge.counters.perf.encoding import Words
from memgauge.counters.perf.scale import Worth
from memgauge.model.counting.events import Event
from memgauge.model.counting.partial import PartialSum


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """An event on one PMU and CPU."""

    pmu: str
    type: int
    words: Words
    cpu: int
    """-1: wherever `pid` runs."""
    pid: int = -1
    """-1: whoever runs on `cpu`."""
    instance: str
    controller: str | None = None
    socket: int | None = None
    core_type: str | None = None
    worth: Worth
    grouped: bool = True
    """Whether the PMU takes groups."""
    bindable: bool = False
    """Whether it can count a thread instead of a CPU."""
    excludable: bool = False
    """Whether the kernel's part can be left out."""
    mask: tuple[int, ...] | None = None
    """The PMU's cpumask when this was planned; None: not taken from one."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """An event and all its places here."""

    event: Event
    places: list[Place]
    notes: list[str] = []
    partial: PartialSum | None = None
    """What the sum over the places lacks; None: nothing that is known."""
