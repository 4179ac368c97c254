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
from memgauge.experiments.traffic.cold import Region, Sets
from memgauge.model.records import Point, Sample, Validation
from memgauge.model.units import format_count


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

    point: Point
    nest: Nest
    sets: Sets
    region: Region


class TrafficBench(Bench):
    """Sizes of one team; those without arrays are reported and not visited."""

    def __init__(
        self,
        points: Sequence[Point],
        ready: Sequence[Ready] = (),
        counters: TeamCounters | None = None,
    ) -> None:
        self.points = list(points)
        self.counters = [counters.set] if counters else []
        # Without counters there is nothing but the speed of what is executed.
        self.is_needed = counters is not None
        self._reads = counters
        self._ready = {one.point.point: one for one in ready}
        self._visited: set[str] = set()

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Regions after their lead-in, in some rounds with an idle time before both."""
        one = self._ready[point]
        self._visited.add(point)
        idle = None
        if self._reads is not None and round_ % IDLE_EVERY == 0:
            idle = self._reads.idle(one.region.idle_s)
        one.nest.run(one.region.lead_in)
        samples = [self._region(one, round_) for _ in range(one.region.together)]
        return [msgspec.structs.replace(samples[0], idle=idle), *samples[1:]]

    def _region(self, one: Ready, round_: int) -> Sample:
        name, repetitions, reads = one.point.point, one.region.repetitions, self._reads
        if reads is None:
            return to_sample(name, round_, one.nest.run(repetitions))
        taken, reading = reads.around(lambda: one.nest.run(repetitions))
        return msgspec.structs.replace(to_sample(name, round_, taken), reading=reading)

    def validate(self) -> list[Validation]:
        """What every size wrote, against another way of computing it."""
        return [
            to_validation("traffic", _subject(one.point), one.nest.validate())
            for name, one in self._ready.items()
            if name in self._visited
        ]


def _subject(point: Point) -> str:
    size, kernel = point.requested["size"], point.requested["kernel"]
    on_gpu = "cpus" not in point.actual
    by = point.requested["memory"] if on_gpu else format_count(point.threads, "thread")
    return f"{kernel}, N = {size}, {by}"
