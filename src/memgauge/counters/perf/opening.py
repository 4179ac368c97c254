"""Opening places: a group for each PMU and CPU or thread, smaller ones where a PMU refuses that."""

from __future__ import annotations

import errno
import time
from collections import Counter as Counted
from collections.abc import Iterator, Sequence

import msgspec

from memgauge import _core
from memgauge.counters.base import counter_of
from memgauge.counters.perf.access import Access
from memgauge.counters.perf.core_events import native
from memgauge.counters.perf.places import Place
from memgauge.counters.perf.refusals import GROUP_ERRORS, MOVED, refused
from memgauge.model.counting.events import Counter, Event
from memgauge.model.errors import CounterRefused

GROUP, SINGLE = "group", "single descriptor"
_SHOWN = 3
"""Subjects of a note that are named."""
_TURNS, _TURN_S = 6, 0.005
"""Looks at a group that does not count, and between them: perf_event_mux_interval_ms is 4 by
default."""
_TIMES = 2
"""Slots of a source before its values: ns enabled, ns running."""


class Wanted(msgspec.Struct, frozen=True):
    """An event in one place."""

    event: Event
    place: Place


class Piece(msgspec.Struct, frozen=True):
    """What one descriptor, or one group of them, reads."""

    source: _core.CounterSource
    items: list[Wanted]
    route: str


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to open."""

    inherit: bool = False
    """Events bound to a thread count what it starts too; such are opened one by one."""
    user_only: bool = False
    needed: int = 0
    """Descriptors, at most."""
    leave_out: bool = False
    """Whether CPUs whose die lacks a unit are left out; else they are refused as `MovedAway`."""


class MovedAway(CounterRefused):
    """A PMU is no longer on the CPU its cpumask named: read the mask again."""


class Session:
    """One attempt to open everything; what it opened is closed when nobody holds it any more."""

    def __init__(self, access: Access, options: Options) -> None:
        self.access = access
        self.options = options
        self.pieces: list[Piece] = []
        self._said: dict[str, dict[str, None]] = {}
        self._missing: list[tuple[Wanted, CounterRefused]] = []

    def open(self, wanted: Sequence[Wanted]) -> None:
        """Open all.

        Raises:
            CounterRefused: one may not be opened; nothing stays open.
        """
        try:
            self._open_all(wanted)
        except BaseException:
            self.pieces.clear()
            raise

    def _open_all(self, wanted: Sequence[Wanted]) -> None:
        for items in batches(wanted):
            place = items[0].place
            whole = len(items) > 1 and not self._inherits(place)
            if whole and not place.grouped:
                self._note("takes no groups: events are read one by one", place.pmu)
                whole = False
            self._open(items, whole=whole)
        self._settle()
        self._say_what_is_unmarked()

    def _inherits(self, place: Place) -> bool:
        return self.options.inherit and place.pid != -1

    def _settle(self) -> None:
        """Units that some dies lack, and threads that ended: said, unless nothing is left."""
        there = {(item.event.name, item.place.pmu) for one in self.pieces for item in one.items}
        for item, error in self._missing:
            if (item.event.name, item.place.pmu) not in there:
                raise error
            why = "has ended" if error.error_number == errno.ESRCH else "is not there for this CPU"
            self._note(f"{why} and is left out", item.place.instance)

    def _say_what_is_unmarked(self) -> None:
        """Counts for which `counters_of` leaves the times out, as they do not tell turns taken."""
        places = [piece.items[0].place for piece in self.pieces]
        pieces = Counted((place.pmu, place.pid) for place in places if _may_be_away(place))
        for (pmu, _), count in pieces.items():
            others = "each other and with other programs'" if count > 1 else "other programs'"
            self._note(
                f"counts threads with events that may have shared their hardware with {others}: "
                "time on other core types looks alike, so that counts which are too small for it "
                "are neither scaled up nor marked",
                pmu,
            )

    def _open(self, items: Sequence[Wanted], *, whole: bool) -> None:
        if len(items) == 1 or not whole:
            for item in items:
                self._single(item)
            return
        source = self._group(items)
        if source is not None:
            self.pieces.append(Piece(source, list(items), GROUP))
            return
        half = (len(items) + 1) // 2
        for part in (items[:half], items[half:]):
            self._open(part, whole=True)

    def _group(self, items: Sequence[Wanted]) -> _core.CounterSource | None:
        """A group that really counts; None where the PMU refuses it or never counts it."""
        place = items[0].place
        try:
            source = _core.open_perf_group(
                [native(item.place, user_only=self.options.user_only) for item in items],
                place.pid,
                place.cpu,
                False,
            )
        except CounterRefused as error:
            number = error.error_number or 0
            if number not in GROUP_ERRORS | {errno.ESRCH}:
                raise self._refused(items[error.event_index or 0], number) from error
            if number != errno.ESRCH:
                self._note(f"refuses groups of {len(items)}: smaller ones are used", place.pmu)
            return None
        if _never_runs(source):
            self._note(
                f"counted nothing of {len(items)} events at once, for want of counters or as the "
                "thread ran elsewhere: smaller groups are used"
                if _may_be_away(place)
                else f"has not counters enough for {len(items)} events at once: they take turns, "
                "and values of parts of the time are estimates",
                place.pmu,
            )
            return None
        return source

    def _single(self, item: Wanted) -> None:
        place = item.place
        try:
            source = _core.open_perf_single(
                native(place, user_only=self.options.user_only),
                place.pid,
                place.cpu,
                self._inherits(place),
            )
        except CounterRefused as error:
            self._miss(item, error.error_number or 0)
        else:
            self.pieces.append(Piece(source, [item], SINGLE))

    def _miss(self, item: Wanted, number: int) -> None:
        made = self._refused(item, number)
        gone = number == errno.ESRCH and item.place.pid > 0
        lacking = number in MOVED and item.place.mask is not None
        if not gone and not lacking:
            raise made
        if lacking and not self.options.leave_out:
            moved = MovedAway(str(made))
            moved.error_number = number
            raise moved
        self._missing.append((item, made))

    def _refused(self, item: Wanted, number: int) -> CounterRefused:
        return refused(item.event.name, item.place, number, self.access, self.options.needed)

    def _note(self, text: str, subject: str) -> None:
        self._said.setdefault(text, {}).setdefault(subject)

    @property
    def notes(self) -> list[str]:
        """What was fallen back to or left out, each once with all it is about."""
        return [f"{named(list(subjects))} {text}" for text, subjects in self._said.items()]


def named(subjects: Sequence[str]) -> str:
    """The first few of them, and how many there are."""
    shown = ", ".join(subjects[:_SHOWN])
    return shown if len(subjects) <= _SHOWN else f"{shown} and {len(subjects) - _SHOWN} more: each"


def batches(wanted: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    """What may share a group: one PMU on one CPU, or one thread."""
    made: dict[tuple[str, int, int], list[Wanted]] = {}
    for item in wanted:
        made.setdefault((item.place.pmu, item.place.cpu, item.place.pid), []).append(item)
    yield from made.values()


def _may_be_away(place: Place) -> bool:
    """Whether it counts a thread that runs on other core types too.

    It is then enabled and does not count, which is no multiplexing: scaling by it would invent
    counts.
    """
    return place.core_type is not None and place.pid != -1


def _never_runs(source: _core.CounterSource) -> bool:
    """Whether the group was enabled for some time and never counted: larger than its PMU.

    One that only waits for others' turn counts within a few of them.
    """
    reader = _core.Reader([source])
    for turn in range(_TURNS):
        enabled, running = reader.read().values[:_TIMES]
        if not enabled or running != 0:
            return False
        if turn + 1 < _TURNS:
            time.sleep(_TURN_S)
    return True


def counters_of(pieces: Sequence[Piece]) -> list[Counter]:
    """The record of what was opened; slots follow the pieces."""
    made: list[Counter] = []
    first = 0
    for piece in pieces:
        made += [
            _counter(item, piece, first, first + _TIMES + at) for at, item in enumerate(piece.items)
        ]
        first += _TIMES + len(piece.items)
    return made


def _counter(item: Wanted, piece: Piece, first: int, slot: int) -> Counter:
    event, place = item.event, item.place
    times_tell = not _may_be_away(place)
    return counter_of(
        event,
        place.instance,
        slot=slot,
        route=piece.route,
        quantity=place.worth.quantity,
        scope="thread" if place.pid != -1 else event.scope,
        unit=place.worth.unit,
        scale=place.worth.scale,
        scale_source=place.worth.source,
        controller=place.controller,
        socket=place.socket,
        cpu=place.cpu if place.cpu >= 0 else None,
        core_type=place.core_type,
        enabled_slot=first if times_tell else None,
        running_slot=first + 1 if times_tell else None,
    )
