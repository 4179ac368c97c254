"""Progress of one point: its samples so far, and whether it needs more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from memgauge.analysis.figures.regimes import Regimes
from memgauge.analysis.figures.speeds import fast_quantile
from memgauge.analysis.figures.summary import worst_precision
from memgauge.experiments.shared.base import Bench
from memgauge.model.points.shared import AnyActual
from memgauge.model.records import Point, Sample
from memgauge.runner.history import History
from memgauge.runner.large_teams import condensed

PASSES = 11
"""STREAM's NTIMES of 10, and the first, which it leaves out."""

REGIONS = 12
"""Least number of samples with counter readings: the interval of a median needs six or more. Fixed
work takes as many repetitions as published counter results of STREAM: 100 including the first."""
REPETITIONS = 99

FIRST_LOOK = 16
"""Samples before the interval is computed for the first time; then at each growth by a quarter."""

GROWTH = 1.25

MOST_ROUNDS = 4
"""That one sample of a precise point stands for."""


class PointProgress:
    """A point on an open bench, with the state that decides when it is finished."""

    def __init__(
        self,
        bench: Bench,
        point: Point,
        samples: Iterable[Sample] = (),
        *,
        least_stride: int = 1,
    ) -> None:
        """Begin, or go on after the samples that an earlier run took.

        Args:
            bench: It is open, and measures the point.
            point: As it is recorded.
            samples: Of an earlier run.
            least_stride: Rounds that each sample stands for at least: 1, 2 or 4.
        """
        self.bench = bench
        self.point = point
        self.history = History(point)
        samples = list(samples)
        self.may_end_early = bool(AnyActual.of(point.actual).may_end_early)
        self.samples: list[Sample] = samples if self.may_end_early else []
        """Of a point that may end early: what decides it."""
        for sample in samples:
            self.history.add(sample)
        self.followers: list[PointProgress] = []
        """Points that are measured in the same sampling passes as this one."""
        self.reached = False
        self.given_up = False
        self.stride = 0
        """Rounds that the next sample stands for; 0: of no block so far."""
        self.began_s: float | None = None
        """When the point was first sampled in this run, in seconds of its budget."""
        self._look_at = FIRST_LOOK
        self._least_stride = least_stride
        self.next_stride = least_stride
        """Rounds that samples of the next block stand for."""

    @property
    def wanted(self) -> bool:
        """Whether the point is neither precise enough nor given up."""
        return not (self.reached or self.given_up)

    @property
    def to_sample(self) -> bool:
        """Whether rounds sample this point, for itself or for a point measured with it."""
        if self.point.measured_with is not None:
            return False
        return self.goes_on or any(follower.goes_on for follower in self.followers)

    @property
    def goes_on(self) -> bool:
        """A slice is sampled to the end, so that its figure is of the whole stretch.

        Whole walks over arrays and regions with counters are as many as were requested.
        """
        return not self.given_up and (self.point.role == "slice" or not self.reached)

    @property
    def due(self) -> bool:
        """Whether there are enough new samples to compute the interval again."""
        return not self.given_up and (
            self.wanted if self.point.role != "slice" else self.history.taken >= self._look_at
        )

    def begin_block(self) -> None:
        """From here on samples are taken as often as the last look decided."""
        self.stride = min([self.next_stride, *(f.next_stride for f in self.followers)])

    def measure(self, round_: int) -> list[Sample]:
        """Measure once; returns the samples to record, and remembers of each what is needed."""
        known = {progress.point.point: progress for progress in (self, *self.followers)}
        taken = self.bench.measure(self.point.point, round_)
        return [known[sample.point].recorded(sample, self.stride) for sample in taken]

    def recorded(self, sample: Sample, stride: int) -> Sample:
        """One sample of this point as it is recorded, standing for `stride` rounds if above 1."""
        sample = condensed(self.point, sample)
        if stride > 1:
            sample = msgspec.structs.replace(sample, stands_for=stride)
        self.history.add(sample)
        if self.may_end_early:
            self.samples.append(sample)
        return sample

    def look(self, requested: float, regimes: Regimes) -> None:
        """Decide whether the requested precision is reached in every observed regime."""
        if self.point.role in {"pass", "run"}:
            self.reached = self.history.taken >= (AnyActual.of(self.point.actual).passes or PASSES)
            return
        if self.point.role == "counted":
            self.reached = self._has_enough_regions()
            return
        self._look_at = int(self._look_at * GROWTH) + 1
        quantile = fast_quantile(self.point)
        self.reached = worst_precision(self.history.clean(), regimes, quantile) <= requested
        stride = self.next_stride * 2 if self.reached else self.next_stride // 2
        self.next_stride = max(self._least_stride, min(MOST_ROUNDS, stride))

    def _has_enough_regions(self) -> bool:
        known = AnyActual.of(self.point.actual).regions
        if known is not None:
            return self.history.taken >= known
        enough = self.point.work == "counted" or self.history.iterations >= REPETITIONS
        return self.history.taken >= REGIONS and enough


class CellValues(Mapping[str, list[float]]):
    """A mapping from names of points to their values, which are computed on access."""

    def __init__(self, tracked: Sequence[PointProgress]) -> None:
        self._tracked = {progress.point.point: progress for progress in tracked}

    def __getitem__(self, point: str) -> list[float]:
        """GB/s or ns of the point's samples that count, in order of time."""
        return self._tracked[point].history.values()

    def __iter__(self) -> Iterator[str]:
        """Names of points."""
        return iter(self._tracked)

    def __len__(self) -> int:
        """Number of points."""
        return len(self._tracked)
