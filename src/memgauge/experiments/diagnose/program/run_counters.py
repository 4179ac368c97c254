"""Counters of memory traffic around runs of the program: only verified ones, or none and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge.counters.choice import Rank, memory_choice
from memgauge.counters.host import Host, this_host
from memgauge.counters.opening import OpenCounters, opened
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused
from memgauge.model.record_kinds.counters import CounterSet

NAME = "diagnose-traffic"


class RunCounters(msgspec.Struct, kw_only=True):
    """What is read around the program's runs."""

    counters: OpenCounters | None
    why_not: str = ""
    """Why there are none; empty: there are, or nobody asked."""

    @property
    def sets(self) -> list[CounterSet]:
        """To be recorded before the first reading."""
        return [self.counters.set] if self.counters else []


@contextmanager
def run_counters(*, wanted: bool, host: Host | None = None) -> Iterator[RunCounters]:
    """Open verified counters of memory traffic; without any, the reason.

    They count the whole machine: traffic of other programs is in it.

    Args:
        wanted: False opens nothing.
        host: Machine whose counters are looked for; None: this one.
    """
    if not wanted:
        yield RunCounters(counters=None)
        return
    where = host or this_host()
    with ExitStack() as stack:
        made, why_not = None, ""
        try:
            events, why_not = _verified(where)
            if events:
                made = stack.enter_context(opened(events, name=NAME, host=where))
        except CounterRefused as error:
            why_not = str(error)
        yield RunCounters(counters=made, why_not=why_not)


def _verified(host: Host) -> tuple[list[Event], str]:
    """Events that `counters verify` found right on this machine; or none, and why."""
    choice = memory_choice(host)
    if choice.rank == Rank.VERIFIED:
        return choice.events, ""
    return [], f"{choice.reasons[0]}; 'memgauge counters verify' verifies counters"
