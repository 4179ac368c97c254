"""Which events of memory traffic are verified, and which of them can be open at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.counters.choice import why_none
from memgauge.counters.host import Host
from memgauge.counters.opening import find, opened
from memgauge.counters.registry import load
from memgauge.model.counting.back_ends import MEMORY_ORDER
from memgauge.model.counting.event_names import WHOLE
from memgauge.model.counting.events import MAIN_MEMORY, MEMORY_TRAFFIC, Event
from memgauge.model.errors import CounterRefused, RequestError


class Openable(msgspec.Struct, kw_only=True):
    """Events by whether they can be opened now."""

    turns: list[list[Event]]
    """Those that can, in groups that can be open at the same time."""
    refused: dict[str, str]
    """Others, and why."""


def wanted(texts: Sequence[str] | None, back_ends: Sequence[str] | None, host: Host) -> list[Event]:
    """The events named in `texts`, or else all that count traffic of main memory.

    Args:
        texts: Names as `find` takes them, lists with commas included; None or empty: none named.
        back_ends: Back ends to use if no event is named; None or empty: all of `MEMORY_ORDER`.
        host: Machine, or the tree that stands in for its `/sys`, where events are looked up.

    Raises:
        UnknownEvent: one is not known.
        RequestError: one does not count memory traffic.
        CounterRefused: there are none; the message says what would change it.
    """
    if texts:
        return _traffic_only(find(texts, host))
    names = back_ends or MEMORY_ORDER
    found = [event for name in names for event in traffic_events(name, host)]
    if not found:
        reasons = "; ".join(why_none(load(name, host)) for name in names)
        raise CounterRefused(f"no counter of memory traffic here: {reasons}")
    return found


def traffic_events(back_end: str, host: Host) -> list[Event]:
    """Those of main memory's traffic that a back end knows here, ready or not."""
    one = load(back_end, host)
    if one.probe().state == "absent":
        return []
    return [
        event
        for event in one.events()
        if event.quantity in MEMORY_TRAFFIC and not event.gauge and event.traffic in MAIN_MEMORY
    ]


def openable(events: Sequence[Event], host: Host) -> Openable:
    """Try each alone, then all together, then in halves.

    Raises:
        CounterRefused: none can be opened; the message says why.
    """
    refused = {event.name: why for event in events if (why := _refusal(event, host))}
    good = [event for event in events if event.name not in refused]
    if not good:
        reasons = list(dict.fromkeys(refused.values()))
        raise CounterRefused(f"no counter of memory traffic can be opened: {'; '.join(reasons)}")
    return Openable(turns=_turns(good, host), refused=refused)


def _traffic_only(events: Sequence[Event]) -> list[Event]:
    for event in events:
        if event.quantity not in MEMORY_TRAFFIC or event.gauge:
            raise RequestError(
                f"event {event.name}: counts no memory traffic ({event.quantity}), so no known "
                f"traffic can verify it; name one of read_bytes, write_bytes or traffic_bytes"
            )
        if event.back_end in WHOLE:
            raise RequestError(
                f"event {event.name}: is modelled, and a model cannot be verified; name events of "
                f"{', '.join(MEMORY_ORDER)}"
            )
    return list(events)


def _refusal(event: Event, host: Host) -> str | None:
    if event.state == "absent":
        return event.reason or "absent"
    try:
        with opened([event], name="trial", host=host):
            return None
    except RequestError as error:
        return str(error)


def _turns(events: list[Event], host: Host) -> list[list[Event]]:
    """As few groups as can be opened together: counters or descriptors may be too few for all."""
    try:
        with opened(events, name="trial", host=host):
            return [events]
    except CounterRefused:
        if len(events) == 1:
            raise
        middle = len(events) // 2
        return [*_turns(events[:middle], host), *_turns(events[middle:], host)]
