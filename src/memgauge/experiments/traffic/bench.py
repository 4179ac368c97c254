"""Loop nests of one team on their arrays, executed with counters around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.counted import TeamCounters
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.stream.counted import IDLE_EVERY
from memgauge.experiments.traffic.cold import Region
from memgauge.experiments.traffic.memory import MeasuredSize
from memgauge.model.points.traffic import TrafficActual
from memgauge.model.records import Point, Sample, Validation


class Nest(Protocol):
    """A loop nest on its arrays, of cores or of a GPU."""

    def run(self, repetitions: int = 1) -> _core.Slice:
        """Executed so often, each stamped."""

    def validate(self) -> list[_core.NestValidation]:
        """What was written, against another way of computing it."""

    def close(self) -> None:
        """Free its arrays."""


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """One size with its arrays."""

    size: MeasuredSize
    nest: Nest
    region: Region
    point: Point
    """With what is known once it is opened."""


class TrafficBench(Bench):
    """Sizes of one team; those without arrays are reported and not measured."""

    def __init__(
        self,
        points: Sequence[Point],
        ready: Sequence[Ready] = (),
        counters: TeamCounters | None = None,
        not_counted: str = "",
    ) -> None:
        """Take what is ready; `not_counted`: why there are no counters."""
        first, *others = points
        reason = TrafficActual(not_counted=not_counted).recorded()
        self.points = [first.with_actual(reason), *others]
        self.counters = [counters.set] if counters else []
        # Without counters there is nothing but the speed of what is executed.
        self.is_needed = counters is not None
        self._opened = counters
        self._ready = {one.point.point: one for one in ready}
        self._sampled: set[str] = set()

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Regions after their lead-in, in some rounds with an idle time before both."""
        one = self._ready[point]
        self._sampled.add(point)
        idle = None
        if self._opened is not None and round_ % IDLE_EVERY == 0:
            idle = self._opened.idle(one.region.idle_s)
        one.nest.run(one.region.lead_in)
        samples = [self._region(one, round_) for _ in range(one.region.together)]
        return [msgspec.structs.replace(samples[0], idle=idle), *samples[1:]]

    def _region(self, one: Ready, round_: int) -> Sample:
        name, repetitions, counters = one.point.point, one.region.repetitions, self._opened
        if counters is None:
            return to_sample(name, round_, one.nest.run(repetitions))
        taken, reading = counters.around(lambda: one.nest.run(repetitions))
        return msgspec.structs.replace(to_sample(name, round_, taken), reading=reading)

    def validate(self) -> list[Validation]:
        """What every size wrote, against another way of computing it."""
        return [
            to_validation("traffic", one.size.planned.subject, one.nest.validate())
            for name, one in self._ready.items()
            if name in self._sampled
        ]
