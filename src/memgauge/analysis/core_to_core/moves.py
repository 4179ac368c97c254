"""Pairs whose latency has two levels over the rounds, as when a host moves virtual CPUs.

The levels are the regimes of the pair's threads (`figures/regimes.py`): two classes of all its
ping-pongs, far enough apart. Each change from one sample to the next is at least one move. Moves
that leave the distance as it was, and those that are undone before the next sample, are not seen,
so what is counted is a least number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.core_to_core.figures import Pair
from memgauge.analysis.figures.regimes import team_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.model.points.core_to_core import STORE, CoreToCoreRequested
from memgauge.model.records import Point, Sample


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """How the distance of one pair went over the rounds."""

    pair: Pair
    samples: int
    """Whose distance is known."""
    seconds: float
    """From the first of them to the last, over all legs of the run."""
    changes: int
    """From one sample to the next; 0 where there is one distance."""
    near_ns: float
    far_ns: float | None
    """None: one distance."""
    near_share: float
    """Of the samples; 1 where there is one distance."""


@once
def watched_pairs(figures: Figures) -> list[Watched]:
    """Each pair with at least two samples, those that changed most first."""
    found = []
    for point in figures.run.points_of("core_to_core"):
        requested = CoreToCoreRequested.of(point.requested)
        first, second = requested.first_cpu, requested.second_cpu
        if requested.operation == STORE and first is not None and second is not None:
            one = _watched(figures, point, (first, second))
            if one is not None:
                found.append(one)
    return sorted(found, key=lambda one: (-one.changes, one.pair))


def _watched(figures: Figures, point: Point, pair: Pair) -> Watched | None:
    regimes = figures.teams[team_of(point)]
    samples = figures.run.samples_of(point.point)
    legs: dict[int, list[tuple[str, Sample]]] = {}
    for leg, sample in zip(figures.run.legs.get(point.point, []), samples, strict=True):
        regime = regimes.of(sample.pingpong_ns)
        if regime is not None and regime.pingpong_ns is not None and sample.threads:
            legs.setdefault(leg, []).append((regime.name, sample))
    every = [name for of_leg in legs.values() for name, _ in of_leg]
    if len(every) < 2:
        return None
    near, *far = regimes.regimes
    return Watched(
        pair=pair,
        samples=len(every),
        seconds=sum(_span_s([sample for _, sample in of_leg]) for of_leg in legs.values()),
        changes=sum(
            one != other for of_leg in legs.values() for (one, _), (other, _) in pairwise(of_leg)
        ),
        near_ns=near.pingpong_ns or 0.0,
        far_ns=far[0].pingpong_ns if far else None,
        near_share=sum(name == near.name for name in every) / len(every),
    )


def _span_s(samples: Sequence[Sample]) -> float:
    stamps = [sample.threads[0].begin_ns[0] for sample in samples]
    return max(0, stamps[-1] - stamps[0]) * 1e-9
