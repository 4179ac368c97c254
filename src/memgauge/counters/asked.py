"""The events that users ask for by text: names, lists of them, and words that stand for several."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.counters.host import Host, this_host
from memgauge.counters.opening import find
from memgauge.counters.registry import load
from memgauge.model.counters import Event
from memgauge.model.errors import RequestError
from memgauge.model.event_names import WHOLE, split_events


def events_of(texts: Iterable[str], host: Host | None = None) -> list[Event]:
    """The events that texts mean, each once; each text may name several between commas.

    `auto` is memory traffic; the bare name of some back ends means all of theirs.

    Raises:
        UnknownEvent, CounterRefused, RequestError: see `memgauge.counters.opening.find`.
    """
    where = host or this_host()
    found: dict[str, Event] = {}
    for text in (event for listed in texts for event in split_events(listed)):
        named = load(text, where).events() if text in WHOLE else find([text], where)
        found.update((event.name, event) for event in named)
    if not found:
        raise RequestError("counters: none were named; give 'auto' or events, comma-separated")
    return list(found.values())
