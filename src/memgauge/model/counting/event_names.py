"""Lists of counter events as users write them; commas separate events, but may occur in them."""

from __future__ import annotations

import re

from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.errors import RequestError
from memgauge.model.option import Option, list_text
from memgauge.model.text import quoted

AUTOMATIC = "auto"
"""Memory traffic from the best back end that can count it."""
NONE = "none"
"""No counters, even where some would be used by default."""
WHOLE = tuple(name for name, one in BACK_ENDS.items() if one.means_all)
"""Back ends whose name alone stands for all of their events."""
ROUTES = tuple(name for name, one in BACK_ENDS.items() if one.memory_of)
"""Back ends whose name alone stands for memory traffic by this route, as `AUTOMATIC` would count it
if there were no other."""
_BARE = (AUTOMATIC, NONE, *WHOLE, *ROUTES)
# A comma ends an event where a word, or a back end and its colon, follows: fields of a raw
# encoding, as in `perf:uncore_imc/event=0x4,umask=0x3/`, hold neither.
_BETWEEN = re.compile(rf",\s*(?=(?:{'|'.join(_BARE)})\s*(?:,|$)|[a-z]+:|$)")


def split_events(text: str) -> tuple[str, ...]:
    """The events in a text such as `auto` or `perf:cycles,perf:imc/event=4,umask=3/`, each once."""
    parts = (part.strip() for part in _BETWEEN.split(text))
    return tuple(dict.fromkeys(part for part in parts if part))


def events_option(help: str, *, automatic: str | None = None) -> Option:  # noqa: A002
    """A list of events; native value `tuple[str, ...]`."""
    return Option(
        help=help,
        metavar="auto|ROUTE|EVENT,...",
        parse=_parse,
        write=list_text,
        repeatable=True,
        automatic=automatic,
    )


def _parse(text: str, flag: str) -> tuple[str, ...]:
    found = split_events(text)
    if not found:
        raise RequestError(
            f"{flag} names no event; write {AUTOMATIC}, a route such as {ROUTES[0]}, or events "
            "such as perf:cycles"
        )
    if NONE in found and len(found) > 1:
        raise RequestError(
            f"{flag} {quoted(text)} combines {NONE} with events; write {NONE} or the events"
        )
    for event in found:
        back_end, colon, rest = event.partition(":")
        named = back_end and colon and rest and not event.endswith(",")
        if event not in _BARE and not named:
            raise RequestError(
                f"{flag} {quoted(event)} is not of the form BACKEND:EVENT; write {AUTOMATIC}, a "
                f"route to memory traffic ({', '.join(ROUTES)}), or an event that 'memgauge "
                "counters' lists"
            )
    return found
