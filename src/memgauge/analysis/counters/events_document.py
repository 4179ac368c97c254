"""What can be counted on a machine as plain data: what `memgauge counters --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from memgauge.model.counting.events import BackEndState, Event, EventVerdict, State

COUNTERS_VERSION = 1


class ListedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event, and what verification said of it on this machine and kernel."""

    event: Event
    verdict: EventVerdict | None
    """None: never verified here."""


class ListedBackEnd(msgspec.Struct, frozen=True, kw_only=True):
    """A back end and its events."""

    name: str
    summary: str
    state: State
    reason: str | None
    remedy: str | None
    events: list[ListedEvent]


class CountersDocument(msgspec.Struct, frozen=True, kw_only=True):
    """All back ends, or those asked for."""

    kind: Literal["counters"]
    format_version: int
    tree: str | None
    """Directory that stood in for /sys; None: this machine's own."""
    notes: list[str]
    back_ends: list[ListedBackEnd]


def counters_document(
    states: Sequence[BackEndState],
    verdicts: Mapping[str, EventVerdict],
    *,
    tree: str | None,
    notes: Sequence[str] = (),
) -> CountersDocument:
    """Everything the list shows and more: each event with its encoding, source and pitfalls.

    Args:
        states: Back ends in the order of the document, each with the events to list.
        verdicts: What verification said on this machine and kernel, by name of event.
        tree: Directory that stood in for /sys; None: this machine's own.
        notes: Why there are no verdicts, where those kept cannot be used, and what is malformed.
    """
    return CountersDocument(
        kind="counters",
        format_version=COUNTERS_VERSION,
        tree=tree,
        notes=list(notes),
        back_ends=[
            ListedBackEnd(
                name=one.name,
                summary=one.summary,
                state=one.state,
                reason=one.reason,
                remedy=one.remedy,
                events=[
                    ListedEvent(event=event, verdict=_verdict(event, verdicts))
                    for event in one.events
                ],
            )
            for one in states
        ],
    )


def _verdict(event: Event, verdicts: Mapping[str, EventVerdict]) -> EventVerdict | None:
    found = verdicts.get(event.name)
    return found if found is not None and found.holds_at(event.instances) else None
