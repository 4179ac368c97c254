"""Transfers of a run: a curve over their size for each way, and both directions at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import msgspec

from memgauge.analysis.figures.regimes import UNTOLD, Regimes
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.side_by_side import (
    Groups,
    bandwidth_of,
    passes_of,
    quantile_over,
    total,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.transfers.directions import way_text
from memgauge.analysis.transfers.model import (
    Curve,
    Model,
    Step,
    best,
    fit,
    half_of_best,
    steps,
)
from memgauge.model.points.transfers import GpuPlace, TransfersActual, TransfersRequested
from memgauge.model.records import Point

MEDIAN = 0.5


class TransferPath(msgspec.Struct, frozen=True, order=True):
    """Between which memories."""

    gpu: str
    """Placement, such as `cuda:0`."""
    host: str
    """pinned or pageable; empty: the other end is a GPU."""
    peer: str
    """Placement of the other GPU; empty: the other end is the host."""

    @property
    def end(self) -> str:
        """The other end, such as `pinned`, `cuda:1`."""
        return self.peer or self.host


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """Transfers one way in one direction, with nothing the other way meanwhile."""

    way: TransferPath
    direction: str
    speeds: Curve
    """GB/s, 90th percentile of speed, by size."""
    medians: Curve
    requested: TransfersRequested
    """Of its first point, as are the next two."""
    actual: TransfersActual
    place: GpuPlace
    samples: int

    @property
    def name(self) -> str:
        """Such as `host to device, pinned`."""
        if self.way.peer:
            return (
                f"{self.way.gpu} {'to' if self.direction == 'to-peer' else 'from'} {self.way.peer}"
            )
        return f"{way_text(self.direction)}, {self.way.end}"

    @property
    def begun(self) -> str:
        """The name as a sentence begins with it; placements keep their letters."""
        return self.name if self.way.peer else self.name[:1].upper() + self.name[1:]

    @property
    def best(self) -> tuple[int, Estimate] | None:
        """Size and bandwidth of the fastest transfers."""
        return best(self.speeds)

    @property
    def half(self) -> Estimate | None:
        """Size from which on half of the best bandwidth is reached."""
        return half_of_best(self.speeds)

    @property
    def model(self) -> Model | None:
        """Hockney's, fitted."""
        return fit(self.speeds)

    @property
    def steps(self) -> list[Step]:
        """Sizes between which something else than the size changes."""
        return steps(self.speeds)

    @property
    def smallest(self) -> tuple[int, Estimate]:
        """Size and time in ns of the smallest transfers."""
        size = next(iter(self.speeds))
        return size, time_ns(size, self.speeds[size])


class AtOnce(msgspec.Struct, frozen=True, kw_only=True):
    """Transfers of one size in both directions at once; medians over passes, GB/s."""

    size: int
    by_direction: dict[str, Estimate]
    total: Estimate
    over_faster: Estimate | None
    """Of the faster direction alone;"""
    over_both: Estimate | None
    """of both directions alone, added: 1 is full duplex."""


class Duplex(msgspec.Struct, frozen=True, kw_only=True):
    """Both directions at once, over the size."""

    way: TransferPath
    sizes: list[AtOnce]

    @property
    def largest(self) -> AtOnce:
        """That of the largest transfers."""
        return self.sizes[-1]


def time_ns(size: int, speed: Estimate) -> Estimate:
    """Of one transfer: fast is few."""
    if not has_interval(speed) or speed.low <= 0:
        return Estimate(size / speed.value, 0.0, math.inf)
    return Estimate(size / speed.value, size / speed.high, size / speed.low)


@once
def lines_of(figures: Figures) -> list[Line]:
    """One for each way and direction, in the order of declaration."""
    found: dict[tuple[TransferPath, str], list[tuple[int, Point]]] = {}
    for size, point, requested in _sized(figures, "fixed"):
        found.setdefault((_path(requested), requested.direction), []).append((size, point))
    made = [_line(figures, *key, points) for key, points in found.items()]
    return [line for line in made if line.speeds]


def _sized(figures: Figures, work: str) -> Iterator[tuple[int, Point, TransfersRequested]]:
    for point in figures.run.points_of("transfers"):
        requested = TransfersRequested.of(point.requested)
        size = requested.transfer_bytes or 0
        if point.work == work and point.quantity == "bandwidth" and size > 0:
            yield size, point, requested


def _path(requested: TransfersRequested) -> TransferPath:
    return TransferPath(requested.memory, requested.host, requested.peer)


def _line(
    figures: Figures, way: TransferPath, direction: str, points: list[tuple[int, Point]]
) -> Line:
    speeds: dict[int, Estimate] = {}
    medians: dict[int, Estimate] = {}
    samples = 0
    for size, point in sorted(points, key=lambda one: one[0]):
        for summary in figures.summaries[point.point]:
            if summary.sustained is not None and summary.median is not None:
                speeds[size], medians[size] = summary.sustained, summary.median
                samples += summary.samples
    first = points[0][1]
    return Line(
        way=way,
        direction=direction,
        speeds=speeds,
        medians=medians,
        requested=TransfersRequested.of(first.requested),
        actual=TransfersActual.of(first.actual),
        place=GpuPlace.of(first.actual),
        samples=samples,
    )


def duplexes_of(figures: Figures, lines: list[Line]) -> list[Duplex]:
    """One for each way whose directions were measured at once."""
    found: dict[TransferPath, dict[int, Groups]] = {}
    for size, point, requested in _sized(figures, "window"):
        groups = found.setdefault(_path(requested), {}).setdefault(size, {})
        groups[requested.direction] = point
    alone = {(line.way, line.direction): line.medians for line in lines}
    made = [
        Duplex(
            way=way,
            sizes=[
                one
                for size, groups in sorted(by_size.items())
                if (one := _at_once(figures, way, size, groups, alone)) is not None
            ],
        )
        for way, by_size in found.items()
    ]
    return [duplex for duplex in made if duplex.sizes]


def _at_once(
    figures: Figures,
    way: TransferPath,
    size: int,
    groups: Groups,
    alone: Mapping[tuple[TransferPath, str], Curve],
) -> AtOnce | None:
    """None without a pass that counts of both directions."""
    if len(groups) != 2:
        return None
    clean = passes_of(figures.run, groups, Regimes([UNTOLD]), UNTOLD.name).clean
    both = quantile_over(clean, total, MEDIAN)
    if both is None:
        return None
    by_direction = {
        direction: one
        for direction in groups
        if (one := quantile_over(clean, bandwidth_of(direction), MEDIAN)) is not None
    }
    single = [alone.get((way, direction), {}).get(size) for direction in groups]
    known = [one for one in single if one is not None]
    faster = max(known, key=lambda one: one.value, default=None)
    return AtOnce(
        size=size,
        by_direction=by_direction,
        total=both,
        over_faster=ratio(both, faster),
        over_both=ratio(both, added(known)) if len(known) == 2 else None,
    )


def added(parts: list[Estimate]) -> Estimate:
    """The sum of independent figures: the sides of their intervals add in squares (MOVER)."""
    value = sum(one.value for one in parts)
    below = sum((one.value - one.low) ** 2 for one in parts) ** 0.5
    above = sum((one.high - one.value) ** 2 for one in parts) ** 0.5
    return Estimate(value, max(0.0, value - below), value + above)
