"""Which sizes can be measured in the time there is, found by executing each a few times.

A size that would not even have the least number of regions is left out, and so are those that the
speed of the size before shows to be hopeless: they are not even allocated. Both are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import REGIONS_FACT
from memgauge.experiments.traffic.bench import Nest, Ready
from memgauge.experiments.traffic.cold import (
    LEAST_REGIONS,
    Sets,
    region_for,
    regions_within,
)
from memgauge.experiments.traffic.plan import LEFT_OUT, spec_of, with_facts
from memgauge.model.records import Point, Scalar
from memgauge.model.units import format_duration

TRIAL_S = 0.01
"""Executions that take so long together tell what one takes."""
MOST_TRIALS = 1000

Allocate = Callable[[Point, int], Nest]
"""Arrays of a point, in so many sets."""


class Preparation(msgspec.Struct, frozen=True, kw_only=True):
    """How the sizes of a team are made ready."""

    allocate: Allocate
    sets: Callable[[Point], Sets]
    backing: Callable[[Any], Mapping[str, Scalar]]
    """What there is to say of the memory of a nest that was allocated."""
    repetitions: str | int
    total_s: float
    """For measuring all sizes."""

    def prepare(
        self, stack: ExitStack, points: Sequence[Point], probe: Point | None
    ) -> tuple[list[Point], list[Ready]]:
        """All points with what was found out, and those that are measured with their arrays.

        Args:
            stack: frees the arrays.
            points: by rising cost.
            probe: one as small that executing it costs nothing; None: the first is.
        """
        trip_s = 0.0 if probe is None else self._trip_s(probe)
        found: list[Point] = []
        tried: list[Ready] = []
        for point in points:
            trips = spec_of(point).trips
            if trips * trip_s * LEAST_REGIONS > self.total_s:
                found.append(self._left_out(point, trips * trip_s, trips * trip_s * LEAST_REGIONS))
                continue
            tried.append(self._tried(stack, point))
            found.append(point)
            trip_s = tried[-1].region.execution_s / trips
        allowed = regions_within([one.region for one in tried], self.total_s)
        ready = [self._decided(one, n) for one, n in zip(tried, allowed, strict=True)]
        known = {one.point.point: one.point for one in ready}
        return (
            [known.get(point.point, point) for point in found],
            [one for one, regions in zip(ready, allowed, strict=True) if regions],
        )

    def _tried(self, stack: ExitStack, point: Point) -> Ready:
        sets = self.sets(point)
        nest = self.allocate(point, sets.copies)
        stack.callback(nest.close)
        region = region_for(
            self.repetitions,
            int(str(point.requested["size"])),
            point.threads,
            execution_s(nest),
            sets.lead_in,
        )
        return Ready(point=point, nest=nest, sets=sets, region=region)

    def _decided(self, one: Ready, regions: int) -> Ready:
        """Complete; the arrays of one that is left out are freed."""
        if not regions:
            left_out = self._left_out(one.point, one.region.execution_s, one.region.least_s)
            one.nest.close()
            return msgspec.structs.replace(one, point=left_out)
        facts = dict(self.backing(one.nest)) | _facts(one) | {REGIONS_FACT: regions}
        return msgspec.structs.replace(one, point=with_facts(one.point, facts))

    def _trip_s(self, probe: Point) -> float:
        nest = self.allocate(probe, 1)
        try:
            return execution_s(nest) / spec_of(probe).trips
        finally:
            nest.close()

    def _left_out(self, point: Point, execution: float, visits_s: float) -> Point:
        why = (
            f"N = {point.requested['size']} is not measured: an execution takes about "
            f"{format_duration(execution)}, and {LEAST_REGIONS} regions of them with their "
            f"lead-ins {format_duration(visits_s)}, more than the others leave of "
            f"{format_duration(self.total_s)}"
        )
        return with_facts(point, {REGIONS_FACT: 0, LEFT_OUT: why})


def execution_s(nest: Nest) -> float:
    """Seconds of one execution by all threads at once, after one that is not timed."""
    first_s = _seconds(nest.run())
    trials = max(1, min(MOST_TRIALS, math.ceil(TRIAL_S / first_s)))
    return _seconds(nest.run(trials)) / trials if first_s < TRIAL_S else first_s


def _seconds(taken: _core.Slice) -> float:
    begin = min(thread.begin_ns[0] for thread in taken.threads)
    return max(1, max(thread.end_ns[-1] for thread in taken.threads) - begin) * 1e-9


def _facts(one: Ready) -> dict[str, Scalar]:
    return {
        "copies": one.sets.copies,
        "copies_wanted": one.sets.wanted,
        "pool_bytes": one.sets.pool_bytes,
        "caches_bytes": one.sets.caches_bytes,
        "lead_in": one.region.lead_in,
        "lead_in_wanted": one.sets.lead_in,
        "repetitions": one.region.repetitions,
    }
