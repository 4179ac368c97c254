"""The code of each counter back end, loaded when it is asked for, and what each lists."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from memgauge.counters.base import BackEnd, Probe, unknown
from memgauge.counters.host import Host
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.counting.events import BackEndState, Event


def load(name: str, host: Host) -> BackEnd:
    """The back end of that name.

    Raises:
        UnknownEvent: no such back end.
    """
    if name not in BACK_ENDS:
        raise unknown(f"{name}:", [f"{known}:" for known in BACK_ENDS])
    entry = BACK_ENDS[name]
    module = import_module(f"memgauge.counters.{entry.module}")
    made: BackEnd = getattr(module, entry.type_name)(host)
    return made


def back_ends(host: Host) -> list[BackEnd]:
    """All of them, in the order of the registry."""
    return [load(name, host) for name in BACK_ENDS]


def states(host: Host) -> list[BackEndState]:
    """What `memgauge counters` lists: each back end, whether it works, and its events."""
    return [_state(one) for one in back_ends(host)]


def state_with(name: str, host: Host, events: Sequence[Event]) -> BackEndState:
    """A back end with events that were found in it, listed or not.

    Args:
        name: Name of the back end, such as `perf`.
        host: Machine on which the back end is probed.
        events: Events of that back end to show instead of those it lists.
    """
    one = load(name, host)
    return _with(one, one.probe(), events)


def _state(one: BackEnd) -> BackEndState:
    probe = one.probe()
    return _with(one, probe, one.events() if probe.state != "absent" else [])


def _with(one: BackEnd, probe: Probe, events: Sequence[Event]) -> BackEndState:
    return BackEndState(
        name=one.name,
        summary=one.summary,
        state=probe.state,
        reason=probe.reason,
        remedy=probe.remedy,
        events=list(events),
        notes=one.notes() if probe.state != "absent" else [],
    )
