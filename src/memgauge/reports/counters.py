"""What can be counted, as text: back ends with their events, and one event explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memgauge.analysis.counters_verify.messages import NEVER, verdict_text
from memgauge.model.counting.calibration import (
    CALIBRATION_VARIABLE,
    calibrated_text,
    calibration_of,
    factor_text,
)
from memgauge.model.counting.events import State
from memgauge.model.text import few
from memgauge.model.units import format_count

if TYPE_CHECKING:
    from memgauge.analysis.counters.events_document import (
        CountersDocument,
        ListedBackEnd,
        ListedEvent,
    )
    from memgauge.model.counting.events import Event
    from memgauge.reports.terminal.page import Page
    from memgauge.reports.terminal.report import Look

_SYMBOLS: dict[State, tuple[str, str]] = {
    "ready": ("✓", "green"),
    "refused": ("✗", "yellow"),
    "absent": ("✗", "dim"),
}
_ONE_BY_ONE = frozenset({"read_bytes", "write_bytes", "traffic_bytes", "energy"})
"""Quantities whose events are listed each on its own line."""
_MOST_NAMED = 6
_MOST_PLACES = 12
_CERTAINTY = {
    "confirmed": "stated by vendor or kernel, or fixed by published measurements",
    "derived": "follows from facts that its source names; verify it",
    "unconfirmed": "used by tools or assumed, stated by neither vendor nor kernel; verify it",
    "conflict": "sources contradict each other; verify it",
    "none": "no source gives a size; verify it",
}


def render_list(document: CountersDocument, look: Look, *, whole: bool) -> str:
    """Back ends and events as text.

    Args:
        document: Back ends to list, with their events.
        look: Width, colour and encoding of the output.
        whole: Whether each event has its own line; else events of cores and the like share one.
    """
    page = _page(look)
    where = f"by the PMUs in {document.tree}" if document.tree else "on this machine"
    page.heading(f"What can be counted {where}")
    for note in document.notes:
        page.entry("·", "note", note, None)
    for one in document.back_ends:
        _back_end(page, one, whole=whole)
    if not document.back_ends:
        page.line("no such back end")
    return page.text()


def render_explained(document: CountersDocument, look: Look) -> str:
    """All that is known of the events in it."""
    page = _page(look)
    events = [one for back_end in document.back_ends for one in back_end.events]
    told = {said for one in events for said in one.event.pitfalls}
    notes = [note for note in document.notes if note not in told]
    for note in notes:
        page.entry("·", "note", note, None)
    for at, one in enumerate(events):
        if at or notes:
            page.blank()
        page.heading(one.event.name)
        for word, said in _facts(one):
            page.entry("·", word, said, None)
        symbol, style = _SYMBOLS[one.event.state]
        page.entry(symbol, one.event.state, _standing(one.event), one.event.remedy, style)
    return page.text()


def _back_end(page: Page, one: ListedBackEnd, *, whole: bool) -> None:
    page.blank()
    page.heading(f"{one.name}: {one.summary}")
    if one.state != "ready":
        symbol, style = _SYMBOLS[one.state]
        page.entry(symbol, one.state, one.reason or "no reason is known", one.remedy, style)
    elif one.reason:
        page.entry("·", "note", one.reason, one.remedy)
    for events in _grouped(one.events, whole=whole):
        _events(page, one, events, whole=whole)
    if one.state == "ready" and not one.events:
        page.line("no event of the requested kind", "dim")


def _grouped(events: Sequence[ListedEvent], *, whole: bool) -> Iterator[list[ListedEvent]]:
    """Events that share a line: of one domain and standing, but for traffic and energy."""
    groups: dict[object, list[ListedEvent]] = {}
    for one in events:
        event = one.event
        alone = whole or event.quantity in _ONE_BY_ONE or one.verdict is not None
        key = event.name if alone else (event.domain, event.state, event.reason, event.remedy)
        groups.setdefault(key, []).append(one)
    yield from groups.values()


def _events(page: Page, of: ListedBackEnd, events: Sequence[ListedEvent], *, whole: bool) -> None:
    first = events[0].event
    symbol, style = _SYMBOLS[first.state]
    names = [one.event.name for one in events]
    said = ", ".join(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED and not whole:
        said += f" and {len(names) - _MOST_NAMED} more (--all)"
    if len(events) == 1:
        said += f": {_brief(events[0])}"
    # What the whole back end lacks was shown above its events.
    own = first.reason != of.reason
    if first.reason and own:
        said += f": {first.reason}"
    page.entry(symbol, first.state, said, first.remedy if own else None, style)


def _brief(one: ListedEvent) -> str:
    event = one.event
    parts = [quantity_text(event.quantity)]
    if event.instances:
        parts.append(f"in {format_count(len(event.instances), 'place')}")
    if one.note is not None:
        parts.append("kept verdict not applied")
    if event.certainty in {"unconfirmed", "conflict"}:
        parts.append("scale doubtful")
    if event.certainty == "none":
        parts.append("size not known")
    if one.verdict is not None:
        parts.append(verdict_text(one.verdict))
    if one.calibration is not None:
        parts.append(calibrated_text(one.calibration))
    return ", ".join(parts)


def quantity_text(quantity: str) -> str:
    """A quantity in words."""
    words = {
        "read_bytes": "bytes read",
        "write_bytes": "bytes written",
        "traffic_bytes": "bytes read and written together",
        "received_bytes": "bytes received",
        "sent_bytes": "bytes sent",
        "used_bytes": "bytes used",
        "count": "plain counts",
    }
    return words.get(quantity, quantity.replace("_", " "))


def _facts(one: ListedEvent) -> Iterator[tuple[str, str]]:
    event = one.event
    yield "meaning", event.meaning
    level = (
        "a level at an instant" if event.gauge else "only grows; use differences between readings"
    )
    yield "counts", f"{quantity_text(event.quantity)} ({event.domain}); {level}"
    yield "encoded", event.encoding
    yield "a count", _worth(event)
    yield "sees", f"each counter one {event.scope}; {_places(event)}"
    if event.traffic is not None:
        way = (
            f", counted by method {event.way}: never add events of other methods"
            if event.way
            else ""
        )
        automatic = "" if event.automatic else "; 'auto' does not choose it"
        yield "traffic", f"{event.traffic}{way}{automatic}"
    yield "source", event.source
    for pitfall in event.pitfalls:
        yield "beware", pitfall
    if one.verdict is not None or event.traffic is not None:
        yield "verdict", _verdict(one)
    factor = one.calibration
    if factor is not None:
        yield "scale", f"{calibrated_text(factor)}: {_calibration(one, factor)}"
    elif (possible := calibration_of(one.verdict, "any")) is not None:
        known = calibration_of(one.verdict, "known") is not None
        mode = "known" if known else "any"
        yield (
            "scale",
            f"not calibrated; {CALIBRATION_VARIABLE}={mode} applies x{factor_text(possible)}",
        )


def _worth(event: Event) -> str:
    if not event.unit and event.scale == 1:
        unknown = event.certainty == "none"
        return f"counts one ({event.certainty}: {_CERTAINTY['none']})" if unknown else "counts one"
    said = f"{event.scale:.10g} {event.unit}".rstrip()
    if event.scale_source:
        said += f", from {event.scale_source}"
    if event.certainty is not None:
        said += f" ({event.certainty}: {_CERTAINTY[event.certainty]})"
    return said


def _places(event: Event) -> str:
    if not event.instances:
        return "cannot be counted anywhere on this machine"
    places = format_count(len(event.instances), "place")
    return f"{places}: {few(event.instances, _MOST_PLACES)}"


def _calibration(one: ListedEvent, factor: float) -> str:
    event = one.event
    return (
        f"a count is taken as {event.scale * factor:.10g} {event.unit}, and so marked wherever it "
        f"is shown; {CALIBRATION_VARIABLE}=none switches it off"
    )


def _verdict(one: ListedEvent) -> str:
    verdict = one.verdict
    if one.note is not None:
        return one.note
    if verdict is None:
        return f"{NEVER} on this machine and kernel: memgauge counters verify"
    return f"{verdict_text(verdict)}: {verdict.evidence}; made {verdict.made_at}"


def _standing(event: Event) -> str:
    return "can be opened now" if event.state == "ready" else event.reason or "no reason is known"


def _page(look: Look) -> Page:
    from memgauge.reports.terminal.page import Page as Lines

    return Lines(look.columns, look.color, look.encoding)
