"""Back ends whose events are numbers in small files of the kernel, kept open while they are read.

A value is read as it stands. A file that goes away, or holds something else than a number, gives a
missing value. A number that stands below what it was, though it does not wrap, was set back (the
driver was loaded anew, the interface taken down): no difference is taken over that.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from errno import EACCES, EMFILE, ENFILE, ENOENT, EPERM
from itertools import groupby
from operator import itemgetter

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Target, counter_of
from memgauge.model.counting.events import Event, State
from memgauge.model.errors import CounterRefused
from memgauge.system.tree import too_many_open

ROUTE = "kept-open file"


class NumberField(msgspec.Struct, frozen=True):
    """Where in a file of lines a number stands: the line's first word, and the word in it."""

    row: str
    field: str = ""
    """The word `field=NUMBER`; empty: the word in `column`."""
    column: int = 0
    """Of the words after the row's name, 0 the first."""


class Word(msgspec.Struct, frozen=True):
    """Where in a binary file a number stands: a little-endian word of 64 bits."""

    offset_bytes: int


Cell = NumberField | Word | None
"""None: the whole file is one number."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where one counter of an event is read, and what it belongs to."""

    instance: str
    path: str
    cell: Cell = None
    socket: int | None = None
    wraps_at: int | None = None


class FileEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event with the files it is read from."""

    event: Event
    places: list[Place]


class Access(msgspec.Struct, frozen=True):
    """Whether a file can be opened now."""

    state: State = "ready"
    reason: str | None = None


def access(path: str) -> Access:
    """Whether the file can be opened for reading; it is not read: some reads ask a device."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError as error:
        gone = error.errno == ENOENT
        return Access("absent" if gone else "refused", f"{path}: {error.strerror}")
    return Access()


class FileBackEnd(BackEnd):
    """A back end that is known by the files of its events."""

    remedy: str | None = None
    """What would let a refused file be opened."""

    @abstractmethod
    def listed(self) -> list[FileEvent]:
        """All events it knows here."""

    def events(self) -> list[Event]:
        """All events it knows here, those it may not open included."""
        return [one.event for one in self.listed()]

    def resolved(self, events: Sequence[Event], target: Target) -> list[FileEvent]:  # noqa: ARG002
        """The files of events that `find` gave, in their order.

        Raises:
            CounterRefused: the files of one went away since.
        """
        known = {one.event.name: one for one in self.listed()}
        gone = [event.name for event in events if event.name not in known]
        if gone:
            absent = "its files went away; list the counters again"
            raise CounterRefused(f"{gone[0]}: {too_many_open() or absent}")
        return [known[event.name] for event in events]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """Open the files of events; they stay open until the sources are let go."""
        return opened(self.resolved(events, target), self.remedy)


def opened(events: Sequence[FileEvent], remedy: str | None = None) -> Opened:
    """Open the files of events, each file once, as one source.

    Raises:
        CounterRefused: one cannot be opened; nothing stays open.
    """
    for one in events:
        if not one.places:
            why = f"{one.event.name}: {one.event.reason or 'nothing counts it here'}"
            raise CounterRefused(f"{why}; {one.event.remedy}" if one.event.remedy else why)
    # In order of paths: the cells of a file are neighbours, and one pass over it gives them all.
    numbers = sorted({(place.path, place.cell) for one in events for place in one.places}, key=str)
    slots = {number: slot for slot, number in enumerate(numbers)}
    return Opened(
        sources=[_source(numbers, events, remedy)],
        counters=[
            counter_of(
                one.event,
                place.instance,
                slot=slots[place.path, place.cell],
                route=ROUTE,
                socket=place.socket,
                wraps_at=place.wraps_at,
            )
            for one in events
            for place in one.places
        ],
    )


def _source(
    numbers: Sequence[tuple[str, Cell]],
    events: Sequence[FileEvent],
    remedy: str | None,
) -> _core.CounterSource:
    by_path = [(path, list(group)) for path, group in groupby(numbers, key=itemgetter(0))]
    try:
        return _core.open_number_files([_file(path, group) for path, group in by_path])
    except CounterRefused as error:
        number: int = getattr(error, "error_number", 0)
        path = by_path[getattr(error, "event_index", 0)][0]
        name = next(one.event.name for one in events for place in one.places if place.path == path)
        raise CounterRefused(
            f"{name}: cannot open {path}: {os.strerror(number)}{_next_step(number, remedy)}"
        ) from error


def _file(path: str, numbers: Iterable[tuple[str, Cell]]) -> _core.NumberFile:
    cells = [cell for _, cell in numbers]
    fields = [cell for cell in cells if isinstance(cell, NumberField)]
    return _core.NumberFile(
        path,
        [_core.NumberCell(cell.row, cell.column, cell.field) for cell in fields],
        [cell.offset_bytes for cell in cells if isinstance(cell, Word)],
    )


def _next_step(number: int, remedy: str | None) -> str:
    if number in {EMFILE, ENFILE}:
        return "; open fewer counters, or raise the limit of open files (ulimit -n)"
    if number in {EACCES, EPERM} and remedy is not None:
        return f"; {remedy}"
    return ""
