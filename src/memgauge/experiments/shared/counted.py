"""Counters of an experiment: opened by name, read around what a team does, kept in its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import sleep
from typing import Protocol, TypeVar

import msgspec

from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.opening import OpenCounters, opened
from memgauge.model.counting.event_names import AUTOMATIC, NONE
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused
from memgauge.model.record_kinds.counters import CounterSet, RegionReading

Opened = TypeVar("Opened")


class Worker(Protocol):
    """What reads counters around exactly the timed part of a call: a team, or a GPU."""

    def read_with(self, reader: _core.Reader | None) -> None:
        """Around every later call; None: no more."""

    @property
    def readings(self) -> tuple[_core.Reading, _core.Reading] | None:
        """Before and after the timed part of the last call."""


class TeamCounters(msgspec.Struct, kw_only=True):
    """Counters that a team, or a GPU, reads around some of what it does."""

    team: Worker
    counters: OpenCounters

    @property
    def set(self) -> CounterSet:
        """To be recorded before the first reading."""
        return self.counters.set

    def around(self, call: Callable[[], _core.Slice]) -> tuple[_core.Slice, RegionReading]:
        """What a call on it took, with the counters around its timed part."""
        self.team.read_with(self.counters.reader)
        try:
            taken = call()
            readings = self.team.readings
        finally:
            self.team.read_with(None)
        if readings is None:
            raise RuntimeError("the call did not run on the team")
        return taken, to_reading(self.set.counters, *readings)

    def idle(self, seconds: float) -> RegionReading:
        """The counters around a time in which it rests, and this thread sleeps."""
        before = self.counters.reader.read()
        sleep(seconds)
        return to_reading(self.set.counters, before, self.counters.reader.read())


@contextmanager
def gpu_counters(gpu: _core.Gpu, events: Sequence[Event], *, name: str) -> Iterator[TeamCounters]:
    """Open counters that are read around what a GPU does.

    Args:
        gpu: GPU whose calls the readings enclose.
        events: What to count: events of the GPU, and of the host beside them.
        name: Name of the counter set, unique in the run.

    Raises:
        CounterRefused: one may not be opened.
    """
    with opened(events, name=name) as counters:
        yield TeamCounters(team=gpu, counters=counters)


@contextmanager
def team_counters(
    team: _core.Team, events: Sequence[Event], *, name: str
) -> Iterator[TeamCounters]:
    """Open counters that are read around what a team does.

    Args:
        team: Team whose calls the readings enclose; events of threads count its threads only.
        events: What to count.
        name: Name of the counter set, unique in the run.

    Raises:
        CounterRefused: one may not be opened.
    """
    target = Target(threads=team.thread_ids())
    with opened(events, name=name, target=target) as counters:
        yield TeamCounters(team=team, counters=counters)


def unless_refused(
    requested: Sequence[str] | None, take: Callable[[Sequence[str]], Opened]
) -> tuple[Opened | None, str]:
    """What is taken of the requested counters, else of the automatic ones; or why there is none.

    Raises:
        CounterRefused: counters were requested, and may not be opened.
    """
    if requested == (NONE,):
        return None, "--counters none"
    try:
        return take(requested or (AUTOMATIC,)), ""
    except CounterRefused as error:
        if requested is not None:
            raise
        return None, str(error)


def to_reading(counters: str, before: _core.Reading, after: _core.Reading) -> RegionReading:
    """Two native readings as a record.

    Args:
        counters: Name of the counter set that was read.
        before: Reading that ended before the timed part, or the idle time, began.
        after: Reading of the same counters that began after it.
    """
    return RegionReading(
        counters=counters,
        before_ns=(before.begin_ns, before.end_ns),
        after_ns=(after.begin_ns, after.end_ns),
        before=list(before.values),
        after=list(after.values),
    )
