"""Counters compare: do two ways to the same counters give the same figures?

Question: is the route without privilege, through a daemon, as accurate as the direct one, here?

Method: the loads of `counters_verify`, the study's own GEMM and GEMV by size, and idle times beside
them, with the events of two back ends read around the very same regions. What differs is then the
routes: their scales, what they can see, and when each was read. Source: the study of memory traffic
through PAPI's perf_uncore and pcp components on POWER9, asked of this machine.

What would invalidate it: routes that are read at different times, where regions are short beside
that; a daemon that samples instead of reading when it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Annotated, Any, ClassVar

import msgspec

from memgauge.counters.choice import preferred, why_none
from memgauge.counters.host import Host
from memgauge.counters.opening import find
from memgauge.counters.registry import load
from memgauge.experiments.counters_compare.nests import (
    DEFAULT_KERNELS,
    KERNELS,
    NestLoads,
    PlannedNest,
    planned_nests,
    prepared_nests,
)
from memgauge.experiments.counters_verify.bench import Load
from memgauge.experiments.counters_verify.events import Openable, openable, traffic_events
from memgauge.experiments.counters_verify.host import CountersVerify, LoadParameters, VerifyGroup
from memgauge.experiments.traffic.sizes import SizeRange, parse_sizes, write_sizes
from memgauge.model.counting.back_ends import MEMORY_ORDER
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.option import Option, choices_option
from memgauge.model.records import Point
from memgauge.model.system import System

_sizes_option = Option(
    help="sizes N of the loop nests: a list, or a range such as 128:512",
    metavar="FIRST:LAST[:STEP]|N,...",
    parse=parse_sizes,
    write=write_sizes,
    repeatable=True,
    automatic="a small and a large one of each",
)


class CompareLoads(LoadParameters, frozen=True, kw_only=True):
    """What `counters compare` takes beside the back ends."""

    kernel: Annotated[
        tuple[str, ...],
        choices_option("loop nests to run beside reads and writes, as 'traffic' has them", KERNELS),
    ] = DEFAULT_KERNELS
    sizes: Annotated[tuple[SizeRange, ...] | None, _sizes_option] = None


class CompareGroup(VerifyGroup, frozen=True, kw_only=True):
    """All loads of all places, loop nests among them."""

    nests: list[PlannedNest]


class CountersCompareParameters(CompareLoads, frozen=True, kw_only=True):
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

    def plan(self, parameters: Any, system: System) -> list[VerifyGroup]:
        """One group: the loads of `counters_verify`, then every loop nest in each place."""
        return [
            self._with_nests(group, parameters, system)
            for group in super().plan(parameters, system)
        ]

    def _with_nests(
        self, group: VerifyGroup, parameters: CompareLoads, system: System
    ) -> CompareGroup:
        left = max(0, system.available_bytes - group.bytes)
        nests = planned_nests(
            [(one.place, one.nodes) for one in group.places],
            NestLoads(
                kernels=parameters.kernel,
                sizes=parameters.sizes,
                experiment=self.name,
                pages=parameters.pages,
            ),
            msgspec.structs.replace(system, available_bytes=left),
        )
        return CompareGroup(
            name=group.name,
            points=[*group.points, *(one.point for one in nests)],
            bytes=group.bytes + sum(one.sets.pool_bytes for one in nests),
            places=group.places,
            nests=nests,
        )

    def prepared(
        self, stack: ExitStack, group: Any, parameters: LoadParameters
    ) -> Iterator[tuple[Point, Load]]:
        """The loads of `counters_verify`, then the loop nests.

        Args:
            stack: Frees their memory.
            group: One that `plan` returned.
            parameters: What `group` was planned with.
        """
        yield from super().prepared(stack, group, parameters)
        yield from prepared_nests(
            stack, group.nests, pages=parameters.pages, region_s=parameters.region_s
        )

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
