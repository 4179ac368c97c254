"""Cache levels and their capacities from latency over footprint.

The curve of log latency over footprint is cut into constant pieces by optimal partitioning (Jackson
et al. 2005, an exact dynamic program), with a penalty for each cut as in the Bayesian information
criterion (Yao 1988). A piece that is long and flat is a plateau; plateaus less than 1.6 times apart
are one level, seen through different levels of address translation or beside a neighbour; short,
steep or uneven pieces are transitions and no level. A level ends where the latency passes the
geometric mean of its own and that of the next level, where the two explain it equally well: its
capacity lies between the last footprint below that and the first above. What counts as uneven, and
as above, grows with the noise of the curve.

Where plateaus do not explain the curve (it does not end on one, or takes more than two octaves from
one to the next), hit shares may: see `gradual_levels`.

What would invalidate it: fewer than about three footprints an octave, a walk that a prefetcher can
follow, or a cache whose share changes during the run.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, zip_longest
from statistics import median, pstdev

from memgauge.analysis.statistics.gradual_levels import gradual_levels
from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA
from memgauge.analysis.statistics.level import Level

SMALLEST_STEP = 0.06
"""Log latency that pieces may waver by: smaller steps, even when significant, are no level."""
LEAST_POINTS = 3
LEAST_OCTAVES = 0.9
STEEPEST = 0.32
"""Log latency an octave that a plateau may rise by; transitions rise by far more."""
MOST_UNEVEN = 0.08
"""Standard deviation of log latency on a plateau; a transition beside noise has more."""
LEAST_RATIO = 1.6
"""Latency of a level over that of the one below."""
ON_PLATEAU = 1.15
"""Up to this multiple of the plateau's latency a footprint fits wholly."""
OF_NOISE = 2.0
"""Standard deviations of noise that a plateau may be uneven by, and a footprint lie above it."""
MOST_NOISE = 0.12
"""Of log latency: a curve with more of it is judged as if it had no more."""
LONGEST = 2.0
"""Octaves from one plateau to the next; a longer rise is no transition between two plateaus."""


Curve = Sequence[tuple[int, float]]
Piece = tuple[int, int]


def find_levels(curve: Curve) -> list[Level]:
    """Levels from (footprint in bytes, latency in ns) in any order, nearest level first."""
    points = sorted((size, ns) for size, ns in curve if size > 0 and ns > 0)
    if len(points) < LEAST_POINTS:
        return []
    logs = [math.log(ns) for _, ns in points]
    noise = min(noise_of(logs), MOST_NOISE)
    pieces = partition(logs, penalty_of(logs))
    plateaus = [piece for piece in pieces if _is_plateau(points, piece, noise)]
    groups = _grouped(points, plateaus)
    found = [
        _level(points, group, beyond, noise)
        for group, beyond in zip_longest(groups, groups[1:])
        if group is not None
    ]
    if _explains(points, found, groups):
        return found
    return gradual_levels(points, noise_of(logs)) or found


def noise_of(logs: Sequence[float]) -> float:
    """Standard deviation, from second differences, which neither a plateau nor a slope has."""
    bends = [abs(a - 2 * b + c) for a, b, c in zip(logs, logs[1:], logs[2:], strict=False)]
    return MAD_TO_SIGMA * median(bends) / math.sqrt(6) if bends else 0.0


def penalty_of(logs: Sequence[float]) -> float:
    """Cost of one cut: 3 variances times log n, a cut having a place and a mean (Yao 1988)."""
    return 3 * max(noise_of(logs), SMALLEST_STEP) ** 2 * math.log(len(logs))


def _explains(points: Curve, found: Sequence[Level], groups: Sequence[Sequence[Piece]]) -> bool:
    """Whether the curve is one of plateaus, from the first footprint to the last."""
    if not found or found[-1].capacity_high_bytes is not None:
        return False
    firsts = [points[group[0][0]][0] for group in groups]
    ends = [points[0][0], *(points[group[-1][1] - 1][0] for group in groups[:-1])]
    return all(math.log2(first / end) <= LONGEST for end, first in zip(ends, firsts, strict=True))


def partition(values: Sequence[float], penalty: float) -> list[Piece]:
    """Pieces [begin, end) of least squared error plus `penalty` for each piece; exact."""
    count = len(values)
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]

    def error(begin: int, end: int) -> float:
        return squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)

    cost = [0.0] * (count + 1)
    cut = [0] * (count + 1)
    for end in range(1, count + 1):
        cost[end], cut[end] = min(
            (cost[begin] + error(begin, end) + penalty, begin) for begin in range(end)
        )
    pieces: list[Piece] = []
    end = count
    while end:
        pieces.append((cut[end], end))
        end = cut[end]
    return pieces[::-1]


def _is_plateau(points: Curve, piece: Piece, noise: float) -> bool:
    begin, end = piece
    if end - begin < LEAST_POINTS:
        return False
    octaves = [math.log2(size) for size, _ in points[begin:end]]
    logs = [math.log(ns) for _, ns in points[begin:end]]
    if octaves[-1] - octaves[0] < LEAST_OCTAVES:
        return False
    uneven = max(MOST_UNEVEN, OF_NOISE * noise)
    return abs(_slope(octaves, logs)) <= STEEPEST and pstdev(logs) <= uneven


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Least-squares slope."""
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    products = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return products / sum((x - x_mean) ** 2 for x in xs)


def _grouped(points: Curve, plateaus: Sequence[Piece]) -> list[list[Piece]]:
    """Plateaus in groups that are too alike to be more than one level."""
    groups: list[list[Piece]] = []
    for plateau in plateaus:
        if groups and _latency(points, plateau) < LEAST_RATIO * _latency(points, groups[-1][0]):
            groups[-1].append(plateau)
        else:
            groups.append([plateau])
    return groups


def _latency(points: Curve, piece: Piece) -> float:
    return median(ns for _, ns in points[slice(*piece)])


def _level(
    points: Curve, like: Sequence[Piece], beyond: Sequence[Piece] | None, noise: float
) -> Level:
    """The level of a group: latency from its longest plateau, capacity from where it ends."""
    longest = max(like, key=lambda piece: piece[1] - piece[0])
    latencies = [ns for _, ns in points[slice(*longest)]]
    last = _latency(points, like[-1])
    start = like[-1][0]
    above = max(ON_PLATEAU, math.exp(OF_NOISE * noise))
    fits = max(start + 1, _first_above(points, start, last * above))
    edge = fits
    if beyond is not None:
        edge = max(fits, _first_above(points, start, math.sqrt(last * _latency(points, beyond[0]))))
    return Level(
        latency_ns=median(latencies),
        latency_low_ns=min(latencies),
        latency_high_ns=max(latencies),
        first_bytes=points[like[0][0]][0],
        fits_bytes=points[fits - 1][0],
        capacity_low_bytes=points[edge - 1][0],
        capacity_high_bytes=points[edge][0] if edge < len(points) else None,
    )


def _first_above(points: Curve, start: int, limit_ns: float) -> int:
    """Index from which on two footprints in a row lie above the limit: one alone is noise."""
    for index in range(start, len(points)):
        if all(ns > limit_ns for _, ns in points[index : index + 2]):
            return index
    return len(points)
