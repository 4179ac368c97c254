"""Progress of one point: its samples so far, and whether it needs more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memgauge.analysis.figures.regimes import Regimes
from memgauge.analysis.figures.speeds import fast_quantile, values_of
from memgauge.analysis.figures.summary import worst_precision
from memgauge.experiments.shared.base import Bench
from memgauge.model.points.shared import AnyActual
from memgauge.model.records import Point, Sample

PASSES = 11
"""STREAM's NTIMES of 10, and the first, which it leaves out."""

REGIONS = 12
"""Least number of samples with counter readings: the interval of a median needs six or more. Fixed
work takes as many repetitions as published counter results of STREAM: 100 including the first."""
REPETITIONS = 99

FIRST_LOOK = 16
"""Samples before the interval is computed for the first time; then at each growth by a quarter."""

GROWTH = 1.25


class PointProgress:
    """A point on an open bench, with the state that decides when it is finished."""

    def __init__(self, bench: Bench, point: Point, samples: list[Sample]) -> None:
        self.bench = bench
        self.point = point
        self.samples = samples
        self.followers: list[PointProgress] = []
        """Points that are measured in the same sampling passes as this one."""
        self.reached = False
        self.given_up = False
        self._look_at = FIRST_LOOK

    @property
    def wanted(self) -> bool:
        """Whether another sampling pass is worth its time."""
        return not (self.reached or self.given_up)

    @property
    def to_sample(self) -> bool:
        """Whether a round samples this point, for itself or for a point measured with it."""
        if self.point.measured_with is not None:
            return False
        return self.wanted or any(follower.wanted for follower in self.followers)

    @property
    def due(self) -> bool:
        """Whether there are enough new samples to compute the interval again."""
        return self.wanted and (self.point.role != "slice" or len(self.samples) >= self._look_at)

    def measure(self, round_: int) -> list[Sample]:
        """Measure once, and store each sample with its point."""
        taken = self.bench.measure(self.point.point, round_)
        for sample in taken:
            for cell in (self, *self.followers):
                if cell.point.point == sample.point:
                    cell.samples.append(sample)
        return taken

    def values(self) -> list[float]:
        """GB/s or ns of all samples that count, in order of time."""
        return [value.value for value in values_of(self.point, self.samples).clean]

    def look(self, requested: float, regimes: Regimes) -> None:
        """Decide whether the requested precision is reached in every observed regime."""
        if self.point.role == "pass":
            self.reached = len(self.samples) >= PASSES
            return
        if self.point.role == "counted":
            self.reached = self._has_enough_regions()
            return
        self._look_at = int(self._look_at * GROWTH) + 1
        clean = values_of(self.point, self.samples).clean
        self.reached = worst_precision(clean, regimes, fast_quantile(self.point)) <= requested

    def _has_enough_regions(self) -> bool:
        known = AnyActual.of(self.point.actual).regions
        if known is not None:
            return len(self.samples) >= known
        repetitions = sum(len(s.threads[0].begin_ns) for s in self.samples if s.threads)
        enough = self.point.work == "counted" or repetitions >= REPETITIONS
        return len(self.samples) >= REGIONS and enough


class CellValues(Mapping[str, list[float]]):
    """A mapping from names of points to their values, which are computed on access."""

    def __init__(self, cells: Sequence[PointProgress]) -> None:
        self._cells = {cell.point.point: cell for cell in cells}

    def __getitem__(self, point: str) -> list[float]:
        """GB/s or ns of the point's samples that count, in order of time."""
        return self._cells[point].values()

    def __iter__(self) -> Iterator[str]:
        """Names of points."""
        return iter(self._cells)

    def __len__(self) -> int:
        """Number of points."""
        return len(self._cells)
