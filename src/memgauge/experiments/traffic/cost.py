"""Which sizes can be measured in the time there is, found by executing each a few times.

A size that would not even have the least number of regions is left out, and so are those that the
speed of the size before shows to be hopeless: they are not even allocated. Both are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import msgspec

from memgauge import _core
from memgauge.experiments.traffic.bench import Nest, Ready
from memgauge.experiments.traffic.cold import LEAST_REGIONS, region_for, regions_within
from memgauge.experiments.traffic.memory import MeasuredSize, TrafficGroup
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.model.points.traffic import TrafficActual
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point
from memgauge.model.units import format_duration

TRIAL_S = 0.01
"""Executions that take so long together show what one takes."""
MOST_TRIALS = 1000


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """How the sizes of a group are made ready."""

    group: TrafficGroup
    parameters: TrafficParameters
    allocate: Callable[[_core.NestSpec, int], Nest]
    """Arrays of a loop nest, in so many sets."""
    facts: Mapping[str, Scalar] = {}
    """Of every point."""
    backing: Callable[[Any], Mapping[str, Scalar]] = lambda _: {}
    """What is known of the memory of a nest that was allocated."""

    @property
    def total_s(self) -> float:
        """For measuring all sizes."""
        return (self.parameters.size_budget_s or 0.0) * len(self.group.sizes)

    @property
    def _least(self) -> int:
        """Regions without which a size is left out."""
        return min(LEAST_REGIONS, self.parameters.runs or LEAST_REGIONS)

    def prepare(self, stack: ExitStack) -> tuple[list[Point], list[Ready]]:
        """All points with what was found out, and those that are measured with their arrays.

        The stack frees the arrays.
        """
        probe = self.group.probe
        trip_s = 0.0 if probe is None else self._trip_s(probe)
        found: list[Point] = []
        tried: list[Ready] = []
        for size in self.group.sizes:
            point = size.planned.point.with_actual(self.facts)
            trips = size.planned.spec.trips
            expected_s = trips * trip_s
            if expected_s * self._least > self.total_s:
                found.append(self._left_out(size, point, expected_s, expected_s * self._least))
                continue
            tried.append(self._tried(stack, size, point))
            found.append(point)
            trip_s = tried[-1].region.execution_s / trips
        runs = self.parameters.runs
        allowed = regions_within([one.region for one in tried], self.total_s, runs)
        ready = [self._decided(one, n) for one, n in zip(tried, allowed, strict=True)]
        known = {one.point.point: one.point for one in ready}
        return (
            [known.get(point.point, point) for point in found],
            [one for one, regions in zip(ready, allowed, strict=True) if regions],
        )

    def _tried(self, stack: ExitStack, size: MeasuredSize, point: Point) -> Ready:
        nest = self.allocate(size.planned.spec, size.sets.copies)
        stack.callback(nest.close)
        region = region_for(
            self.parameters.repetitions,
            size.planned.size,
            point.threads,
            execution_s(nest),
            size.sets.lead_in,
            runs=self.parameters.runs,
        )
        return Ready(size=size, nest=nest, region=region, point=point)

    def _decided(self, one: Ready, regions: int) -> Ready:
        """Complete; the arrays of one that is left out are freed."""
        if regions:
            repeated = _repeated(one, regions, self.parameters.runs).recorded()
            facts = {**self.backing(one.nest), **repeated}
            return msgspec.structs.replace(one, point=one.point.with_actual(facts))
        region = one.region
        left_out = self._left_out(one.size, one.point, region.execution_s, region.least_s)
        one.nest.close()
        return msgspec.structs.replace(one, point=left_out)

    def _trip_s(self, probe: _core.NestSpec) -> float:
        nest = self.allocate(probe, 1)
        try:
            return execution_s(nest) / probe.trips
        finally:
            nest.close()

    def _left_out(self, size: MeasuredSize, point: Point, execution: float, least: float) -> Point:
        by = f" by {library}" if (library := self.group.team.library) else ""
        why = (
            f"N = {size.planned.size}{by} is not measured: an execution takes about "
            f"{format_duration(execution)}, and {self._least} regions of them with their "
            f"lead-ins {format_duration(least)}, more than the others leave of "
            f"{format_duration(self.total_s)}"
        )
        return point.with_actual(TrafficActual(regions=0, left_out=why).recorded())


def execution_s(nest: Nest) -> float:
    """Seconds of one execution by all threads at once, after one that is not timed."""
    first_s = _seconds(nest.run())
    trials = max(1, min(MOST_TRIALS, math.ceil(TRIAL_S / first_s)))
    return _seconds(nest.run(trials)) / trials if first_s < TRIAL_S else first_s


def _seconds(taken: _core.Slice) -> float:
    begin = min(thread.begin_ns[0] for thread in taken.threads)
    return max(1, max(thread.end_ns[-1] for thread in taken.threads) - begin) * 1e-9


def _repeated(one: Ready, regions: int, requested: int | None) -> TrafficActual:
    """How often it is executed, and on how many sets of arrays."""
    sets = one.size.sets
    return TrafficActual(
        regions=regions,
        regions_requested=requested,
        copies=sets.copies,
        copies_wanted=sets.wanted,
        pool_bytes=sets.pool_bytes,
        caches_bytes=sets.caches_bytes,
        lead_in=one.region.lead_in,
        lead_in_wanted=sets.lead_in,
        repetitions=one.region.repetitions,
    )
