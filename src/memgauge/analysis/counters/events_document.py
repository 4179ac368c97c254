"""What can be counted on a machine as plain data: what `memgauge counters --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from memgauge.model.counting.calibration import Calibration, calibration_of, verdict_on
from memgauge.model.counting.events import BackEndState, Event, EventVerdict, State

COUNTERS_VERSION = 1


class ListedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event, and what verification said of it on this machine and kernel."""

    event: Event
    verdict: EventVerdict | None
    """None: never verified here."""
    calibration: float | None = None
    """Factor by which the scale is multiplied when the event is opened; None: by none."""
    note: str | None = None
    """Why a verdict that was kept under its name is not on this event."""


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
    calibration: Calibration = "known",
) -> CountersDocument:
    """Everything the list shows and more: each event with its encoding, source and pitfalls.

    Args:
        states: Back ends in the order of the document, each with the events to list.
        verdicts: What verification said on this machine and kernel, by name of event.
        tree: Directory that stood in for /sys; None: this machine's own.
        calibration: Which factors are applied to events when they are opened.
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
                events=[_listed(event, verdicts, calibration) for event in one.events],
            )
            for one in states
        ],
    )


def _listed(
    event: Event, verdicts: Mapping[str, EventVerdict], calibration: Calibration
) -> ListedEvent:
    verdict, note = verdict_on(verdicts, event, event.instances)
    factor = calibration_of(verdict, calibration)
    return ListedEvent(event=event, verdict=verdict, calibration=factor, note=note)
