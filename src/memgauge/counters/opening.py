"""Opening events by name, over all back ends, as one reader and the record of what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, Opened, Target, ThreadEvent
from memgauge.counters.choice import memory_choice, route_events
from memgauge.counters.host import Host, this_host
from memgauge.counters.registry import load
from memgauge.counters.verdicts import with_verdicts
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.counting.event_names import AUTOMATIC, ROUTES, WHOLE, split_events
from memgauge.model.counting.events import Counter, Event
from memgauge.model.counting.partial import once
from memgauge.model.errors import RequestError, UnknownEvent
from memgauge.model.memory import MemoryPlacement
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.text import did_you_mean, quoted


class OpenCounters(msgspec.Struct, kw_only=True):
    """Counters ready to be read."""

    reader: _core.Reader
    set: CounterSet
    ledgers: list[_core.ThreadLedger] = []
    """Of each process tree that is followed."""


def find(
    texts: Iterable[str], host: Host | None = None, *, placement: MemoryPlacement | None = None
) -> list[Event]:
    """The events that texts mean, each once, in their order.

    Args:
        texts: Events such as `perf:cycles`, or comma-separated lists of them. `auto` means memory
            traffic, the bare name of a route such as `perf` or `pcp` means memory traffic by that
            route, and that of `modelled` all of its events.
        host: Machine whose counters are looked for; None means this one.
        placement: GPU memory whose traffic `auto` means; for host memory or None, that of the host.

    Raises:
        UnknownEvent: one that no back end knows; the message names the nearest.
        RequestError: one malformed.
        CounterRefused: `auto` or a route, and no back end, or not this one, can count memory
            traffic; the message says which privilege or daemon would change it.
    """
    where = host or this_host()
    found: dict[str, Event] = {}
    for text in (event for listed in texts for event in split_events(listed)):
        found.update((event.name, event) for event in _meant(text, where, placement))
    if not found:
        raise RequestError("counters: none were named; give 'auto' or events, comma-separated")
    return list(found.values())


def _meant(text: str, host: Host, placement: MemoryPlacement | None) -> list[Event]:
    if text == AUTOMATIC:
        return memory_choice(host, placement).events
    if text in ROUTES:
        return route_events(text, host, placement)
    return load(text, host).events() if text in WHOLE else _named(text, host)


def _named(text: str, host: Host) -> list[Event]:
    back_end, colon, rest = text.partition(":")
    if not colon or not rest:
        known = ", ".join(BACK_ENDS)
        raise RequestError(
            f"event {quoted(text)}: is not of the form BACKEND:EVENT; back ends are {known}; the "
            f"name alone of {', '.join(ROUTES)} means memory traffic by that route; "
            "'memgauge counters' lists the events"
        )
    if back_end not in BACK_ENDS:
        hint = did_you_mean(back_end, BACK_ENDS, most=3) or f"choose from {', '.join(BACK_ENDS)}"
        raise UnknownEvent(f"event {quoted(text)}: no back end is named {quoted(back_end)}; {hint}")
    return load(back_end, host).find(rest)


def by_thread(events: Sequence[Event], host: Host) -> list[ThreadEvent]:
    """Those events that can be counted for one thread, up to as many as a ledger of threads takes.

    Args:
        events: Events of this machine.
        host: The machine.
    """
    back_ends = dict.fromkeys(event.back_end for event in events)
    found = [
        one
        for name in back_ends
        for one in load(name, host).by_thread([event for event in events if event.back_end == name])
    ]
    return found[: _core.MOST_THREAD_EVENTS]


@contextmanager
def opened(
    events: Sequence[Event],
    *,
    name: str,
    target: Target = MACHINE,
    host: Host | None = None,
    first: Sequence[_core.CounterSource] = (),
) -> Iterator[OpenCounters]:
    """Open events for reading, each with its kept verdict; all is closed on leaving.

    Args:
        events: Events to open, of any back ends; their slots stand one back end after the other.
        name: Name of the counter set, unique in the run.
        target: Processes or threads to count, for events that can be bound to them.
        host: Machine whose counters are opened; None means this one.
        first: Sources without slots that each reading calls before all others.

    Raises:
        CounterRefused: one may not be opened; nothing stays open.
    """
    where = host or this_host()
    with ExitStack() as stack:
        parts: list[Opened] = []
        for back_end in dict.fromkeys(event.back_end for event in events):
            mine = [event for event in events if event.back_end == back_end]
            part = load(back_end, where).open(mine, target)
            stack.callback(part.close)
            parts.append(part)
        yield OpenCounters(
            reader=_core.Reader([*first, *(s for part in parts for s in part.sources)]),
            set=with_verdicts(joined(parts, name), where),
            ledgers=[ledger for part in parts for ledger in part.ledgers],
        )


def joined(parts: Sequence[Opened], name: str) -> CounterSet:
    """The record of several back ends' counters, their slots one after the other."""
    counters: list[Counter] = []
    first = 0
    for part in parts:
        counters += [moved(counter, first) for counter in part.counters]
        first += sum(source.slots for source in part.sources)
    notes = [note for part in parts for note in part.notes]
    partial = once(one for part in parts for one in part.partial)
    return CounterSet(counters=name, slots=first, of=counters, notes=notes, partial=partial)


def moved(counter: Counter, by: int) -> Counter:
    """The counter in a reading that has so many other slots before its own.

    Args:
        counter: Counter of a set.
        by: Slots before those of its set.
    """

    def later(slot: int | None) -> int | None:
        return None if slot is None else slot + by

    return msgspec.structs.replace(
        counter,
        slot=counter.slot + by,
        enabled_slot=later(counter.enabled_slot),
        running_slot=later(counter.running_slot),
        duty_slot=later(counter.duty_slot),
        generation_slot=later(counter.generation_slot),
    )
