"""The figures of each point, and whether they reached the requested precision."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from memgauge.analysis.figures.regimes import Regimes, TeamKey, regimes_of_teams, team_of
from memgauge.analysis.figures.speeds import (
    PassTimes,
    Value,
    fast_quantile,
    pass_times,
    unit,
    values_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval, sustained
from memgauge.analysis.statistics.intervals import precision as precision_of
from memgauge.analysis.statistics.two_speeds import TwoSpeeds, two_speeds
from memgauge.model.records import Point, Sample

Statistic = Literal["p90", "median"]
"""What a sustained figure is: the 90th percentile of speed, or, of fewer than 16 samples, which
give it no interval, their median."""

LEAST_SHARE = 0.2
"""A regime with a smaller share of the samples is reported, but need not be precise."""


class PointSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one point in one regime. Values are GB/s or ns, see `unit`."""

    point: str
    unit: str
    regime: str
    """Name of the regime; empty if there is only one or none is known."""
    pingpong_ns: float | None
    """Median of the regime."""
    share: float | None
    """Of the point's clean samples that are in this regime; None when there is none."""
    sustained: Estimate | None
    """The figure, see `statistic`; `high` is infinite when samples are too few for an interval."""
    statistic: Statistic
    median: Estimate | None
    passes: PassTimes | None
    """STREAM's figures, of points with whole passes; all in this regime."""
    samples: int
    """That the figures are made of."""
    set_aside: int
    """Of the point, in all regimes: switched out, page faults, bad stamps, stray ping-pongs."""
    switched_out: int
    page_faults: int
    strays: int
    """Of these, clean samples whose ping-pong belongs to no regime."""
    noise: float | None
    """(90th - 10th percentile) / median; None below ten samples."""
    two_speeds: TwoSpeeds | None
    """Where the values have two levels that last, in `unit`; None: one, or not known."""
    cycles: Estimate | None
    """Latency in core cycles, where every sample measured the core clock."""
    requested_precision: float
    reached: bool
    """Whether the sustained figure's interval is within the requested precision."""

    @property
    def has_figures(self) -> bool:
        """Whether anything was measured."""
        return self.sustained is not None or self.passes is not None


def worst_precision(values: Iterable[Value], regimes: Regimes, quantile: float = 0.9) -> float:
    """Precision of the least precise regime that has its share of the samples, infinite if none.

    For the runner, to choose the point to sample next.

    Args:
        values: Clean values of one point in order of time.
        regimes: Regimes of the point's team.
        quantile: Quantile that is the sustained figure: 0.9 of a bandwidth, 0.1 of a latency.
    """
    groups = by_regime(list(values), regimes)
    total = sum(map(len, groups.values()))
    worst = [
        precision_of(_quantile(members, quantile))
        for members in groups.values()
        if members and len(members) >= LEAST_SHARE * total
    ]
    return max(worst, default=math.inf)


def by_regime(values: Sequence[Value], regimes: Regimes) -> dict[str, list[Value]]:
    """Values by name of regime, every regime of the team present; strays are left out."""
    groups: dict[str, list[Value]] = {regime.name: [] for regime in regimes.regimes}
    for value in values:
        regime = regimes.of(value.pingpong_ns)
        if regime is not None:
            groups[regime.name].append(value)
    return groups


def summarise(
    points: Iterable[Point],
    samples: dict[str, list[Sample]],
    precision: float,
    teams: dict[TeamKey, Regimes] | None = None,
) -> dict[str, list[PointSummary]]:
    """Figures of every point, by its name: one for each regime that its team was seen in.

    Args:
        points: Points to summarise, in the order of the result.
        samples: Samples by name of point; a point without samples may be missing.
        precision: Requested half width of the interval, as a share of the sustained figure.
        teams: Regimes by size and CPUs of a team; None: found over all the given points.
    """
    points = list(points)
    teams = regimes_of_teams(points, samples) if teams is None else teams
    return {
        point.point: summarise_point(
            point, samples.get(point.point, []), teams[team_of(point)], precision
        )
        for point in points
    }


def summarise_point(
    point: Point, samples: Sequence[Sample], regimes: Regimes, precision: float
) -> list[PointSummary]:
    """Figures of one point, one for each regime of its team, near regimes first.

    Args:
        point: Point to summarise.
        samples: All samples of the point in order of time; empty: every figure is None.
        regimes: Regimes of the point's team.
        precision: Requested half width of the interval, as a share of the sustained figure.
    """
    values = values_of(point, samples)
    groups = by_regime(values.clean, regimes)
    grouped = sum(map(len, groups.values()))
    common: dict[str, Any] = {
        "point": point.point,
        "unit": unit(point),
        "set_aside": values.set_aside + len(values.clean) - grouped,
        "switched_out": values.switched_out,
        "page_faults": values.page_faults,
        "strays": len(values.clean) - grouped,
        "requested_precision": precision,
    }
    return [
        PointSummary(
            regime=regime.name if len(regimes.regimes) > 1 else "",
            pingpong_ns=regime.pingpong_ns,
            share=len(groups[regime.name]) / grouped if grouped else None,
            passes=_passes(point, samples, regimes, regime.name),
            **common,
            **_figures(point, groups[regime.name], precision),
        )
        for regime in regimes.regimes
    ]


def _figures(point: Point, members: Sequence[Value], precision: float) -> dict[str, Any]:
    """What is made of the values of one regime, by field of the summary."""
    fast, middle = _quantile(members, fast_quantile(point)), _quantile(members, 0.5)
    figure, statistic = (fast, "p90") if has_interval(fast) else (middle, "median")
    return {
        "sustained": figure,
        "statistic": statistic,
        "median": middle,
        "samples": len(members),
        "noise": noise_of([member.value for member in members]),
        "two_speeds": two_speeds([member.value for member in members]),
        "cycles": _cycles(point, members),
        "reached": precision_of(figure) <= precision,
    }


def _quantile(members: Sequence[Value], quantile: float) -> Estimate | None:
    return sustained([m.value for m in members], quantile, [m.weight for m in members])


def noise_of(speeds: Sequence[float]) -> float | None:
    """(90th - 10th percentile) / median; None below ten values."""
    if len(speeds) < 10:
        return None
    ordered = sorted(speeds)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return (ordered[count - 1 - count // 10] - ordered[count // 10]) / middle if middle else None


def _passes(
    point: Point, samples: Sequence[Sample], regimes: Regimes, name: str
) -> PassTimes | None:
    """STREAM's figures in one regime."""
    if point.role != "pass":
        return None

    def counts(sample: Sample) -> bool:
        regime = regimes.of(sample.pingpong_ns)
        return regime is not None and regime.name == name

    return pass_times(point, samples, counts)


def _cycles(point: Point, members: Sequence[Value]) -> Estimate | None:
    """The fast side's latency in cycles of the core."""
    if point.quantity != "latency" or not members:
        return None
    cycles = [m.value * m.cycles_per_ns for m in members if m.cycles_per_ns is not None]
    if len(cycles) < len(members):
        return None
    weights = [m.weight for m in members]
    fast = sustained(cycles, fast_quantile(point), weights)
    return fast if has_interval(fast) else sustained(cycles, 0.5, weights)
