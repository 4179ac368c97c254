"""Compares two points by the rounds that sampled both, so that drift affects both alike."""

from __future__ import annotations

from memgauge.analysis.figures.regimes import team_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.speeds import values_of
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import paired
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.records import Point

Round = tuple[int, int]
"""Leg of the run, and round."""


def by_round(figures: Figures, point: Point, regime: str) -> dict[Round, float]:
    """Clean values of a point in one regime; of several in a round the latest.

    Args:
        figures: The run, with the regimes of the point's team.
        point: Point whose values are taken: GB/s for a bandwidth, ns for a latency.
        regime: Name of the regime; empty: every regime, without samples that belong to none.
    """
    run, regimes = figures.run, figures.teams[team_of(point)]
    found: dict[Round, float] = {}
    samples = run.samples_of(point.point)
    for leg, sample in zip(run.legs.get(point.point, []), samples, strict=True):
        for value in values_of(point, [sample]).clean:
            seen = regimes.of(value.pingpong_ns)
            if seen is not None and (not regime or seen.name == regime):
                found[leg, value.round] = value.value
    return found


def ratio_in_rounds(
    figures: Figures, one: tuple[Point, PointSummary], other: tuple[Point, PointSummary]
) -> Estimate | None:
    """The first over the second: the median of both in the same rounds.

    Of too few common rounds the ratio of the sustained figures; None where one has none.

    Args:
        figures: The run that holds both points.
        one: Point of the numerator, with its figures in the regime to compare.
        other: Point of the denominator, likewise.
    """
    mine, its = (by_round(figures, point, summary.regime) for point, summary in (one, other))
    common = [mine[key] / its[key] for key in mine if its.get(key)]
    return paired(common) or ratio(one[1].sustained, other[1].sustained)
