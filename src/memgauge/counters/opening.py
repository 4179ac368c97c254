"""Opening events by name, over all back ends, as one reader and the record of what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, Opened, Target
from memgauge.counters.host import Host, this_host
from memgauge.counters.registry import BACK_ENDS, MEMORY_ORDER, load
from memgauge.counters.verdicts import with_verdicts
from memgauge.model.counters import Counter, Event
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.records import CounterSet
from memgauge.model.text import quoted

MEMORY = frozenset({"read_bytes", "write_bytes", "traffic_bytes"})
_SPLIT = frozenset({"read_bytes", "write_bytes"})
AUTOMATIC = "auto"


class OpenCounters(msgspec.Struct, kw_only=True):
    """Counters ready to be read."""

    reader: _core.Reader
    set: CounterSet


def find(texts: Sequence[str], host: Host | None = None) -> list[Event]:
    """The events that texts such as `perf:cycles` or `auto` mean, each once, in their order.

    Raises:
        UnknownEvent: one that no back end knows; the message names the nearest.
        RequestError: one malformed.
        CounterRefused: `auto`, and no back end can count memory traffic; the message says which
            privilege or daemon would change it.
    """
    where = host or this_host()
    found: dict[str, Event] = {}
    for text in texts:
        events = memory_events(where) if text == AUTOMATIC else _named(text, where)
        found.update((event.name, event) for event in events)
    if not found:
        raise RequestError("counters: none were named; give 'auto' or events, comma-separated")
    return list(found.values())


def _named(text: str, host: Host) -> list[Event]:
    back_end, colon, rest = text.partition(":")
    if not colon or not rest:
        known = ", ".join(BACK_ENDS)
        raise RequestError(
            f"event {quoted(text)}: is not BACKEND:EVENT; back ends are {known}; "
            f"'memgauge counters' lists the events"
        )
    return load(back_end, host).find(rest)


def memory_events(host: Host) -> list[Event]:
    """The events of memory traffic of the first back end, by `MEMORY_ORDER`, that can open them."""
    refusals = []
    for name in MEMORY_ORDER:
        if name not in BACK_ENDS:
            continue
        back_end = load(name, host)
        probe = back_end.probe()
        known = back_end.events() if probe.state != "absent" else []
        traffic = [event for event in known if event.quantity in MEMORY]
        ready = preferred([event for event in traffic if event.state == "ready"])
        if ready:
            return ready
        why = next((event for event in traffic if event.reason), probe)
        remedy = f" ({why.remedy})" if why.remedy else ""
        refusals.append(f"{name}: {why.reason or 'no event of memory traffic'}{remedy}")
    raise CounterRefused(f"no counter of memory traffic can be opened; {'; '.join(refusals)}")


def preferred(events: Sequence[Event]) -> list[Event]:
    """Without those that would count the same traffic twice, or that `auto` may not choose.

    Of each traffic, such as that of DRAM, one way to count it: the first that tells reads from
    writes, else the first. Within it, what counts both together is left out where both are told.
    """
    allowed = [event for event in events if event.automatic]
    return [
        event
        for traffic in dict.fromkeys(event.traffic for event in allowed)
        for event in _best_way([one for one in allowed if one.traffic == traffic])
    ]


def _best_way(events: Sequence[Event]) -> list[Event]:
    ways = [
        [event for event in events if event.way == way]
        for way in dict.fromkeys(event.way for event in events)
    ]
    split = next((way for way in ways if {event.quantity for event in way} >= _SPLIT), None)
    if split is None:
        return ways[0]
    return [event for event in split if event.quantity in _SPLIT]


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

    `first`: sources without slots that the reader calls before all others.

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
            parts.append(_with_ways(part, mine))
        yield OpenCounters(
            reader=_core.Reader([*first, *(s for part in parts for s in part.sources)]),
            set=with_verdicts(joined(parts, name), where),
        )


def _with_ways(part: Opened, events: Sequence[Event]) -> Opened:
    ways = {event.name: event.way for event in events}
    part.counters = [
        msgspec.structs.replace(counter, way=ways.get(counter.event)) for counter in part.counters
    ]
    return part


def joined(parts: Sequence[Opened], name: str) -> CounterSet:
    """The record of several back ends' counters, their slots one after the other."""
    counters: list[Counter] = []
    first = 0
    for part in parts:
        counters += [_moved(counter, first) for counter in part.counters]
        first += sum(source.slots for source in part.sources)
    notes = [note for part in parts for note in part.notes]
    return CounterSet(counters=name, slots=first, of=counters, notes=notes)


def _moved(counter: Counter, by: int) -> Counter:
    def moved(slot: int | None) -> int | None:
        return None if slot is None else slot + by

    return msgspec.structs.replace(
        counter,
        slot=counter.slot + by,
        enabled_slot=moved(counter.enabled_slot),
        running_slot=moved(counter.running_slot),
        duty_slot=moved(counter.duty_slot),
        generation_slot=moved(counter.generation_slot),
    )
