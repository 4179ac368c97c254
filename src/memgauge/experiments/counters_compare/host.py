"""Counters compare: do two ways to the same counters give the same figures?

Question: is the route without privilege, through a daemon, as accurate as the direct one, here?

Method: the loads of `counters_verify`, and idle times beside them, with the events of two back ends
read around the very same regions. What differs is then the routes: their scales, what they can see,
and when each was read. Source: the study of memory traffic through PAPI's perf_uncore and pcp
components on POWER9, asked of this machine.

What would invalidate it: routes that are read at different times, where regions are short beside
that; a daemon that samples instead of reading when it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from memgauge.counters.host import Host
from memgauge.counters.opening import find, preferred, why_none
from memgauge.counters.registry import load
from memgauge.experiments.counters_verify.events import Openable, openable, traffic_events
from memgauge.experiments.counters_verify.host import CountersVerify, LoadParameters
from memgauge.model.counting.back_ends import MEMORY_ORDER
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.option import choices_option


class CountersCompareParameters(LoadParameters, frozen=True, kw_only=True):
    """What `counters compare` takes."""

    back_ends: Annotated[
        tuple[str, ...], choices_option("the two back ends to compare", MEMORY_ORDER)
    ] = ("perf", "pcp")

    def check(self) -> None:
        """Refuse what has no meaning here."""
        super().check()
        if len(self.back_ends) != 2:
            raise RequestError(
                f"counters compare: exactly two back ends are needed, but {len(self.back_ends)} "
                f"were named; choose two of {', '.join(MEMORY_ORDER)}"
            )


class CountersCompare(CountersVerify):
    """The `counters_compare` experiment, behind `memgauge counters compare`."""

    name: ClassVar[str] = "counters_compare"
    parameters: ClassVar[type[LoadParameters]] = CountersCompareParameters

    def events(self, parameters: Any, host: Host) -> Openable:
        """The events of both routes, opened at once.

        Raises:
            CounterRefused: a route cannot be opened, or not together with the other.
        """
        named = find(parameters.events, host) if parameters.events else None
        events = [
            event for route in parameters.back_ends for event in _of_route(route, named, host)
        ]
        found = openable(events, host)
        for route in parameters.back_ends:
            mine = [event.name for event in events if event.back_end == route]
            if all(name in found.refused for name in mine):
                raise CounterRefused(f"counters compare: {route}: {found.refused[mine[0]]}")
        if len(found.turns) > 1:
            raise CounterRefused(
                "counters compare: the counters of both routes cannot be open at the same time, "
                "so the regions would differ; name fewer with --events"
            )
        return found


def _of_route(route: str, named: Sequence[Event] | None, host: Host) -> list[Event]:
    """What it counts memory traffic with: what was named, else its best way."""
    if named is not None:
        mine = [event for event in named if event.back_end == route]
        if not mine:
            raise RequestError(
                f"counters compare: --events names none of {route}; name events of both"
            )
        return mine
    chosen = preferred(traffic_events(route, host))
    if not chosen:
        why = why_none(load(route, host))
        raise CounterRefused(f"counters compare: no counter of memory traffic here: {why}")
    return [event for event in chosen if event.way == chosen[0].way]
