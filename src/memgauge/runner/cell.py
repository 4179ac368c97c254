"""One point under way: its samples so far, and whether more are needed."""

from __future__ import annotations

from memgauge.analysis.regimes import Regimes
from memgauge.analysis.speeds import fast_quantile, values_of
from memgauge.analysis.summary import worst_precision
from memgauge.experiments.base import Bench
from memgauge.model.records import Point, Sample

PASSES = 11
"""STREAM's NTIMES of 10, and the first, which it leaves out."""

FIRST_LOOK = 16
"""Samples before the interval is computed for the first time; then at each growth by a quarter."""

GROWTH = 1.25


class Cell:
    """A point on an open bench, with what decides when it is done."""

    def __init__(self, bench: Bench, point: Point, samples: list[Sample]) -> None:
        self.bench = bench
        self.point = point
        self.samples = samples
        self.reached = False
        self.given_up = False
        self._look_at = FIRST_LOOK

    @property
    def wanted(self) -> bool:
        """Whether another visit is worth its time."""
        return not (self.reached or self.given_up)

    @property
    def due(self) -> bool:
        """Whether there is enough new to look at."""
        return self.wanted and (self.point.role == "pass" or len(self.samples) >= self._look_at)

    def visit(self, round_: int) -> Sample:
        """Measure once."""
        sample = self.bench.measure(self.point.point, round_)
        self.samples.append(sample)
        return sample

    def values(self) -> list[float]:
        """GB/s or ns of all samples that count, in order of time."""
        return [value.value for value in values_of(self.point, self.samples).clean]

    def look(self, asked: float, regimes: Regimes) -> None:
        """Decide whether the asked precision is reached in every regime that was seen."""
        if self.point.role == "pass":
            self.reached = len(self.samples) >= PASSES
            return
        self._look_at = int(self._look_at * GROWTH) + 1
        clean = values_of(self.point, self.samples).clean
        self.reached = worst_precision(clean, regimes, fast_quantile(self.point)) <= asked
