"""Run-to-run drift: how far the pace of the whole machine changed while it was measured.

A point's interval says how well its figure is known for this stretch of time. A shared machine
changes its pace for all points at once (clock frequency, neighbours), and another run meets another
pace. So the run is cut into blocks of rounds; in each block every point's figure is compared with
its figure over the whole run, and the median over points is the machine's pace in that block. Its
spread over blocks gives a prediction interval for another stretch (Student's t, as for one more
draw from a normal population: Hahn and Meeker, *Statistical Intervals*, 1991).

What would invalidate it: changes slower than the run, which no single run can see; fewer points
than tell a common pace from their own noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, stdev

from memgauge.analysis.figures.speeds import Value, fast_quantile, values_of
from memgauge.model.records import Point, Sample

BLOCKS = 8
STUDENT_T = 2.365
"""97.5% point of Student's t with 7 degrees of freedom."""

LEAST_VALUES = 12
"""Of a point in one block, for a figure."""

LEAST_POINTS = 5
"""In one block, for a median that is the machine's and not a point's."""


def run_to_run_drift(
    points: Mapping[str, Point], samples: Mapping[str, Sequence[Sample]], rounds: int
) -> float | None:
    """Half width of the 95% prediction interval of the machine's pace, as a share of it.

    None where there are too few points or rounds to tell. Only points of one thread that runs alone
    count: those of several also see where a hypervisor puts them, as do those of one that others
    run beside, which the ping-pong of its samples shows.

    Args:
        points: All points of the run, by name.
        samples: Samples by name of point, in order of time; a point without samples may be missing.
        rounds: Rounds begun over all legs of the run, which are cut into blocks; 0: none.
    """
    paces: list[list[float]] = [[] for _ in range(BLOCKS)]
    for name, point in points.items():
        taken = samples.get(name, ())
        if point.role == "slice" and point.threads == 1 and rounds and _ran_alone(taken):
            for block, pace in _paces(point, taken, rounds):
                paces[block].append(pace)
    if any(len(block) < LEAST_POINTS for block in paces):
        return None
    return STUDENT_T * stdev(median(block) for block in paces) * math.sqrt(1 + 1 / BLOCKS)


def _ran_alone(samples: Sequence[Sample]) -> bool:
    return all(sample.pingpong_ns is None for sample in samples)


def _paces(point: Point, samples: Sequence[Sample], rounds: int) -> list[tuple[int, float]]:
    """Block and the point's speed in it, over that of the whole run."""
    clean = values_of(point, samples).clean
    blocks: list[list[Value]] = [[] for _ in range(BLOCKS)]
    for value in clean:
        blocks[min(BLOCKS - 1, value.round * BLOCKS // rounds)].append(value)
    quantile = fast_quantile(point)
    whole = _quantile(clean, quantile) if clean else 0.0
    sign = 1 if point.quantity == "bandwidth" else -1
    return [
        (index, (_quantile(block, quantile) / whole) ** sign)
        for index, block in enumerate(blocks)
        if len(block) >= LEAST_VALUES and whole > 0
    ]


def _quantile(values: Sequence[Value], quantile: float) -> float:
    ordered = sorted(value.value for value in values)
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))]
