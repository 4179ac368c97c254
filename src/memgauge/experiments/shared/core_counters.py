"""Counters of the core that runs an experiment: cache and TLB misses beside what is modelled.

They are bound to the team's thread, so that nothing else is counted. On processors with several
core types each type has counters of its own, of which only those of the thread's core run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.experiments.shared.counted import TeamCounters, team_counters
from memgauge.model.counting.event_names import AUTOMATIC, NONE, events_option
from memgauge.model.counting.events import Counter, Event
from memgauge.model.errors import CounterRefused, UnknownEvent
from memgauge.model.record_kinds.counters import CounterSet, RegionReading

EVENTS = (
    "perf:llc-loads",
    "perf:llc-load-misses",
    "perf:dtlb-loads",
    "perf:dtlb-load-misses",
    "perf:page-walks",
)
"""What `auto` means unless an experiment has others."""

COUNTERS_OPTION = events_option(
    "core counters to read around what is timed: cache and TLB misses if they can be "
    "opened (auto), none, or named ones"
)


class Automatic(msgspec.Struct, frozen=True):
    """What `auto` means: opened where it can be, and left out, with the reason, where not."""

    events: tuple[str, ...] = EVENTS
    beside: tuple[str, ...] = ()
    """Of PMUs beside the cores, which count for all cores that share them: without a word where
    the processor has no such PMU."""


USUAL = Automatic()


class CoreCounters(msgspec.Struct, kw_only=True):
    """Counters of one thread, where there are any."""

    set: CounterSet
    """Without counters where none could be opened; the set then holds why."""
    opened: TeamCounters | None = None


def counted_call(
    counters: CoreCounters | None, call: Callable[[], _core.Slice]
) -> tuple[_core.Slice, RegionReading | None]:
    """What a call on the team took, with the counters around its timed part if there are any."""
    if counters is None or counters.opened is None:
        return call(), None
    return counters.opened.around(call)


@contextmanager
def core_counters(
    team: _core.Team, requested: Sequence[str], *, name: str, automatic: Automatic = USUAL
) -> Iterator[CoreCounters | None]:
    """Open core counters for a team's thread; yields None if none are requested.

    Args:
        team: Team of one thread, the only one that is counted.
        requested: Names of events. `none` alone: no counters; `auto` alone: those of `automatic`
            that can be opened.
        name: Name of the counter set, unique in the run.
        automatic: What `auto` means.

    Raises:
        CounterRefused, UnknownEvent: of counters requested by name.
    """
    if tuple(requested) == (NONE,):
        yield None
        return
    if tuple(requested) != (AUTOMATIC,):
        with team_counters(team, find(requested), name=name) as opened:
            yield CoreCounters(set=opened.set, opened=opened)
        return
    with _automatic(team, name, automatic) as found:
        yield found


@contextmanager
def _automatic(team: _core.Team, name: str, automatic: Automatic) -> Iterator[CoreCounters]:
    ready, refused = _openable(automatic)
    events = [event for event in ready if _counted_by(event, ready) is None]
    own = [event for event in events if event.name not in automatic.beside]
    with ExitStack() as stack:
        # What lies beside the cores needs more rights: without it the cores are still counted.
        for some in (events, own) if own and len(own) < len(events) else (events,):
            if not some:
                break
            try:
                opened = stack.enter_context(team_counters(team, some, name=name))
            except CounterRefused as error:
                left = [event for event in some if some is own or event not in own]
                refused |= dict.fromkeys((event.name for event in left or some), str(error))
                continue
            made = msgspec.structs.replace(
                _with_twins(opened.set, ready), refused={**opened.set.refused, **refused}
            )
            yield CoreCounters(set=made, opened=opened)
            return
        yield CoreCounters(set=_without(name, refused))


def _counted_by(event: Event, ready: Sequence[Event]) -> Event | None:
    """Another event that counts the same. Opening both would take two counters of few."""
    return next((one for one in ready if one.name == event.same_as), None)


def _with_twins(made: CounterSet, ready: Sequence[Event]) -> CounterSet:
    """With counters of events that another counts, which share its slots."""
    twins = list(made.of)
    notes = list(made.notes)
    for event in ready:
        other = _counted_by(event, ready)
        if other is None:
            continue
        twins += [_twin(counter, event) for counter in made.of if counter.event == other.name]
        notes.append(f"{event.name} is {other.name} on this processor: one counter stands for both")
    return msgspec.structs.replace(made, of=twins, notes=notes)


def _twin(counter: Counter, event: Event) -> Counter:
    return msgspec.structs.replace(
        counter,
        name=f"{event.name}@{counter.instance}",
        event=event.name,
        quantity=event.quantity,
        verdict=None,
    )


def _without(name: str, refused: dict[str, str]) -> CounterSet:
    return CounterSet(counters=name, slots=0, of=[], refused=refused)


def _openable(automatic: Automatic) -> tuple[list[Event], dict[str, str]]:
    """Events that are ready, and why the others are not."""
    ready: list[Event] = []
    refused: dict[str, str] = {}
    for text in (*automatic.events, *automatic.beside):
        try:
            found = find([text])
        except UnknownEvent:
            if text in automatic.beside:
                continue
            refused[text] = "no PMU of a core publishes it, and no encoding is known here"
            continue
        for event in found:
            if event.state == "ready":
                ready.append(event)
            else:
                refused[event.name] = event.reason or event.state
    return ready, refused
