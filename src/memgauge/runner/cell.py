"""One point under way: its samples so far, and whether more are needed."""

from __future__ import annotations

from collections import Counter

from memgauge.analysis.intervals import precision, sustained
from memgauge.analysis.regimes import Regime, Regimes
from memgauge.analysis.speeds import clean_value, fast_quantile
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
        taken = (clean_value(self.point, sample) for sample in self.samples)
        return [value for value in taken if value is not None]

    def look(self, asked: float, regimes: Regimes) -> None:
        """Decide whether the asked precision is reached, in the regime with most samples."""
        if self.point.role == "pass":
            self.reached = len(self.samples) >= PASSES
            return
        self._look_at = int(self._look_at * GROWTH) + 1
        by_regime: Counter[Regime | None] = Counter()
        values: dict[Regime | None, list[float]] = {}
        for sample in self.samples:
            value = clean_value(self.point, sample)
            if value is not None:
                regime = regimes.of(sample.pingpong_ns)
                by_regime[regime] += 1
                values.setdefault(regime, []).append(value)
        if by_regime:
            largest, _ = by_regime.most_common(1)[0]
            estimate = sustained(values[largest], fast_quantile(self.point))
            self.reached = precision(estimate) <= asked
