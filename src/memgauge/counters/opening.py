"""Opening events by name, over all back ends, as one reader and the record of what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Target
from memgauge.counters.host import Host, this_host
from memgauge.counters.registry import load
from memgauge.counters.verdicts import with_verdicts
from memgauge.model.counting.back_ends import BACK_ENDS, GPU_MEMORY_ORDER, MEMORY_ORDER
from memgauge.model.counting.event_names import AUTOMATIC, WHOLE, split_events
from memgauge.model.counting.events import MEMORY_TRAFFIC, Counter, Event, added_up, gpu_traffic
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import CounterSet
from memgauge.model.text import did_you_mean, quoted

NONE_KNOWN = "the machine shows no counter of memory traffic, as most virtual ones do not"


class OpenCounters(msgspec.Struct, kw_only=True):
    """Counters ready to be read."""

    reader: _core.Reader
    set: CounterSet


def find(
    texts: Iterable[str], host: Host | None = None, *, placement: MemoryPlacement | None = None
) -> list[Event]:
    """The events that texts mean, each once, in their order.

    Args:
        texts: Events such as `perf:cycles`, or comma-separated lists of them. `auto` means memory
            traffic, and the bare name of some back ends means all of their events.
        host: Machine whose counters are looked for; None means this one.
        placement: GPU memory whose traffic `auto` means; for host memory or None, that of the host.

    Raises:
        UnknownEvent: one that no back end knows; the message names the nearest.
        RequestError: one malformed.
        CounterRefused: `auto`, and no back end can count memory traffic; the message says which
            privilege or daemon would change it.
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
        return memory_events(host, placement)
    return load(text, host).events() if text in WHOLE else _named(text, host)


def _named(text: str, host: Host) -> list[Event]:
    back_end, colon, rest = text.partition(":")
    if not colon or not rest:
        known = ", ".join(BACK_ENDS)
        raise RequestError(
            f"event {quoted(text)}: is not of the form BACKEND:EVENT; back ends are {known}; "
            "'memgauge counters' lists the events"
        )
    if back_end not in BACK_ENDS:
        hint = did_you_mean(back_end, BACK_ENDS, most=3) or f"choose from {', '.join(BACK_ENDS)}"
        raise UnknownEvent(f"event {quoted(text)}: no back end is named {quoted(back_end)}; {hint}")
    return load(back_end, host).find(rest)


def memory_events(host: Host, placement: MemoryPlacement | None = None) -> list[Event]:
    """The events of memory traffic of the first back end, by `MEMORY_ORDER`, that can open them.

    Those of a GPU's memory where `placement` is one's.
    """
    if placement is not None and placement.is_gpu:
        return _gpu_memory_events(host, gpu_traffic(str(placement)))
    refusals = []
    for name in MEMORY_ORDER:
        back_end = load(name, host)
        known = back_end.events() if back_end.probe().state != "absent" else []
        traffic = [event for event in known if event.quantity in MEMORY_TRAFFIC]
        ready = preferred([event for event in traffic if event.state == "ready"])
        if ready:
            return ready
        refusals.append(why_none(back_end, traffic))
    raise CounterRefused(f"no counter of memory traffic can be opened; {'; '.join(refusals)}")


def _gpu_memory_events(host: Host, traffic: str) -> list[Event]:
    refusals = []
    for name in GPU_MEMORY_ORDER:
        back_end = load(name, host)
        known = back_end.events() if back_end.probe().state != "absent" else []
        mine = [e for e in known if e.quantity in MEMORY_TRAFFIC and e.traffic == traffic]
        ready = preferred([event for event in mine if event.state == "ready"])
        if ready:
            return ready
        refusals.append(why_none(back_end, mine))
    raise CounterRefused(f"no counter of the GPU's memory can be opened; {'; '.join(refusals)}")


def preferred(events: Sequence[Event]) -> list[Event]:
    """Without those that would count the same traffic twice, or that `auto` may not choose.

    Sources contradict each other on some ways to count (certainty `conflict`): such a way is left
    out where another counts both directions of the same traffic.
    """
    automatic = [event for event in events if event.automatic]
    disputed = {
        (one.traffic, one.way or one.name) for one in automatic if one.certainty == "conflict"
    }
    others = [one for one in automatic if (one.traffic, one.way or one.name) not in disputed]
    whole = {one.traffic for one in others if _counts_both(others, one.traffic)}
    return added_up([one for one in automatic if one.traffic not in whole or one in others])


def _counts_both(events: Sequence[Event], traffic: str | None) -> bool:
    """Whether reads and writes of some traffic are counted, together or apart."""
    counted = {one.quantity for one in events if one.traffic == traffic}
    return "traffic_bytes" in counted or {"read_bytes", "write_bytes"} <= counted


def why_none(back_end: BackEnd, events: Sequence[Event] = ()) -> str:
    """Why a back end counts no memory traffic here, and in brackets what would change it."""
    why = next((event for event in events if event.reason), None) or back_end.probe()
    remedy = f" ({why.remedy})" if why.remedy else ""
    return f"{back_end.name}: {why.reason or NONE_KNOWN}{remedy}"


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
        )


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
