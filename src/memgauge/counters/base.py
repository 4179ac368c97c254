"""What a counter back end is; its properties are declared in `memgauge.model.counting.back_ends`.

A back end probes whether it works, lists the events it knows here and opens chosen ones. It has no
statistics, no printing and no argument parsing, and applies no scale: what it opens is read raw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from memgauge import _core
from memgauge.model.counting.events import Counter, Event, State
from memgauge.model.counting.partial import PartialSum
from memgauge.model.errors import UnknownEvent
from memgauge.model.text import did_you_mean, quoted

if TYPE_CHECKING:
    from memgauge.counters.host import Host


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a back end works here."""

    state: State
    reason: str | None = None
    """Why not, where not: what failed, on which object."""
    remedy: str | None = None
    """What would change it: a privilege, a daemon, a mount, a package."""


class ThreadEvent(msgspec.Struct, frozen=True):
    """An event that can be counted for one thread."""

    event: Event
    native: _core.PerfEvent


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What counters are bound to, where an event can be bound at all.

    Events of controllers, sockets and devices always count the whole machine, whatever is asked.
    """

    pids: Sequence[int] = ()
    """Processes, with all their threads; empty: no process is meant."""
    threads: Sequence[int] = ()
    """Kernel thread identifiers, such as a team's `thread_ids()`."""
    inherit: bool = False
    """Count what the processes start from now on too."""
    by_thread: Sequence[ThreadEvent] = ()
    """What is counted for each thread of the processes, by the back end that follows these."""


MACHINE = Target()


class Opened(msgspec.Struct, kw_only=True):
    """Events opened by one back end."""

    sources: list[_core.CounterSource]
    counters: list[Counter]
    """Slots count through `sources` in their order, from 0."""
    notes: list[str] = []
    """What was fallen back to, or left out, and why, in words."""
    partial: list[PartialSum] = []
    """Sums that lack controllers; the notes say it too."""
    ledgers: list[_core.ThreadLedger] = []
    """Of each process tree that is followed: its threads and peak of resident memory."""
    close: Callable[[], None] = lambda: None
    """Frees what the sources themselves do not."""


class BackEnd(ABC):
    """One way to counters: the kernel's perf, a daemon, files, a vendor's library."""

    name: ClassVar[str]
    """What stands before the colon of its events."""
    summary: ClassVar[str]
    """One line for the list."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @abstractmethod
    def probe(self) -> Probe:
        """Whether it works here; cheap, changes nothing, never raises, never hangs."""

    @abstractmethod
    def events(self) -> list[Event]:
        """All events it knows here, those it may not open included; empty where it is absent."""

    @abstractmethod
    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """Open events of its own, each in every place that counts it.

        Raises:
            CounterRefused: one may not be opened; the message says which privilege, daemon or
                limit would change it. Nothing stays open.
            RequestError: one needs a process or thread and none is given.
        """

    def by_thread(self, events: Sequence[Event]) -> list[ThreadEvent]:  # noqa: ARG002
        """Those of its events that can be counted for one thread, without what it starts."""
        return []

    def notes(self) -> list[str]:
        """What is there but malformed, and what therefore cannot be counted; a line each."""
        return []

    def find(self, text: str) -> list[Event]:
        """The events that a text after the colon means.

        A back end may understand more than it lists, such as raw encodings.

        Raises:
            UnknownEvent: none; the message names the nearest.
            RequestError: malformed; the message says where.
        """
        known = self.events()
        named = [event for event in known if event.name == f"{self.name}:{text}"]
        if not named:
            raise unknown(f"{self.name}:{text}", [event.name for event in known])
        return named


def counter_of(event: Event, instance: str, *, slot: int, route: str, **further: Any) -> Counter:
    """The counter that an event becomes in one place.

    Args:
        event: Event whose fields the counter takes over.
        instance: Place that counts it, such as `uncore_imc_0@cpu0`; each has its own counter.
        slot: Index of the raw value among the slots of the back end's sources, from 0.
        route: How the value is read, as `Counter.route` lists: `group`, `daemon` and so on.
        **further: Other fields of `Counter`; they also replace those taken over from the event.
    """
    facts = {
        "name": f"{event.name}@{instance}",
        "event": event.name,
        "back_end": event.back_end,
        "quantity": event.quantity,
        "domain": event.domain,
        "scope": event.scope,
        "unit": event.unit,
        "scale": event.scale,
        "scale_source": event.scale_source,
        "encoding": event.encoding,
        "gauge": event.gauge,
        "traffic": event.traffic,
        "way": event.way,
        "instance": instance,
        "slot": slot,
        "route": route,
    }
    return Counter(**{**facts, **further})


def unknown(requested: str, known: Sequence[str]) -> UnknownEvent:
    """The error for an event nobody knows, with the nearest names."""
    hint = did_you_mean(requested, known, most=3) or "'memgauge counters' lists them"
    return UnknownEvent(f"event {quoted(requested)}: not known here; {hint}")
