"""Where a rising curve bends: the line of straight pieces that fits it best.

The continuous line of straight pieces with least squared error, its breakpoints at places that were
measured, found by trying all of them (segmented regression: Hudson, "Fitting Segmented Curves Whose
Join Points Have to Be Estimated", JASA 61, 1966; for two breakpoints all pairs, as Lerman, Applied
Statistics 29, 1980). Each breakpoint costs a place and a slope in the Bayesian information
criterion (Schwarz 1978), the noise known where all points have intervals, else taken from the fit.
The slope falls at every bend, and at least two points lie beyond it. A bend's interval holds the
places whose likelihood is within that of 95% (half of 3.84, the point of chi-square).

What would invalidate it: with gaps between the places, a bend lies anywhere in the gap.
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import median

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval

LEAST_POINTS = 5
"""For one bend; each further one takes two more."""
MOST_BENDS = 2
LEAST_ERROR = 0.003
"""Share of the largest value: straight pieces need not fit any closer."""
LEAST_CHANGE = 0.2
"""Of the slope before: a bend takes away at least as much of it."""
_CHI2 = 3.84

Curve = Sequence[tuple[int, Estimate]]
"""Values by place, places ascending."""


class Bend(msgspec.Struct, frozen=True):
    """A place from which on the curve rises less."""

    place: int
    low: int
    high: int
    """It lies between these places, of those measured."""
    gain_before: float
    gain_after: float
    """What one more of the place brings."""


class _Fit(msgspec.Struct, frozen=True):
    """A line of straight pieces: its places, the slope of each piece and the squared error."""

    places: tuple[int, ...]
    slopes: tuple[float, ...]
    error: float


def find_bends(curve: Curve) -> list[Bend]:
    """Breakpoints of the fit that the criterion prefers, with the gains beside each."""
    if len(curve) < LEAST_POINTS:
        return []
    xs = [float(place) for place, _ in curve]
    best = max(estimate.value for _, estimate in curve)
    fits = [fit for fit in _fits(xs, [e.value / best for _, e in curve]) if _falls(fit)]
    variance = _variance([estimate for _, estimate in curve], best)
    chosen = min(fits, key=lambda fit: _criterion(fit, len(xs), variance), default=None)
    if chosen is None:
        return []
    allowed = _allowed(fits, chosen, len(xs), variance)
    return [
        Bend(
            place=curve[place][0],
            low=curve[min(places[at] for places in allowed)][0],
            high=curve[max(places[at] for places in allowed)][0],
            gain_before=chosen.slopes[at] * best,
            gain_after=chosen.slopes[at + 1] * best,
        )
        for at, place in enumerate(chosen.places)
    ]


def _variance(estimates: Sequence[Estimate], best: float) -> float | None:
    """Of values in units of the largest one, by their intervals; None where one has none."""
    if not all(has_interval(estimate) for estimate in estimates):
        return None
    halves = [(estimate.high - estimate.low) / 2 / best for estimate in estimates]
    return max(LEAST_ERROR**2, median(half * half for half in halves) / _CHI2)


def _criterion(fit: _Fit, count: int, variance: float | None) -> float:
    """-2 log likelihood and the cost of places, slopes and level; less is better."""
    cost = (2 + 2 * len(fit.places)) * math.log(count)
    if variance is not None:
        return fit.error / variance + cost
    return count * math.log(max(fit.error, count * LEAST_ERROR**2)) + cost


def _allowed(
    fits: Sequence[_Fit], chosen: _Fit, count: int, variance: float | None
) -> list[tuple[int, ...]]:
    """Places of as many bends that fit nearly as well."""
    mean = max(chosen.error / count, LEAST_ERROR**2, variance or 0.0)
    limit = max(chosen.error, count * LEAST_ERROR**2) + count * mean * math.expm1(_CHI2 / count)
    alike = (fit for fit in fits if len(fit.places) == len(chosen.places))
    return [fit.places for fit in alike if fit.error <= limit]


def _falls(fit: _Fit) -> bool:
    """Each slope is less than the one before, which still rose."""
    return all(
        before > 0 and after <= (1 - LEAST_CHANGE) * before
        for before, after in pairwise(fit.slopes)
    )


def _fits(xs: Sequence[float], ys: Sequence[float]) -> list[_Fit]:
    """The best line for every choice of at most two places that the number of points allows."""
    most = min(MOST_BENDS, (len(xs) - LEAST_POINTS) // 2 + 1)
    inner = range(1, len(xs) - 2)
    hinges = {place: [max(0.0, x - xs[place]) for x in xs] for place in inner}
    columns = [[1.0] * len(xs), list(xs), *hinges.values()]
    products = [[_dot(one, other) for other in columns] for one in columns]
    targets = [_dot(column, ys) for column in columns]
    squares = _dot(ys, ys)
    choices = (places for count in range(most + 1) for places in combinations(inner, count))
    fits = (_fit(places, products, targets, squares) for places in choices)
    return [fit for fit in fits if fit is not None]


def _fit(
    places: tuple[int, ...],
    products: Sequence[Sequence[float]],
    targets: Sequence[float],
    squares: float,
) -> _Fit | None:
    """Least squares on 1, x and max(0, x - place) for each place, from the sums over all points.

    The column of a place stands one behind it: 1 and x are the first two, the least place is 1.
    """
    used = (0, 1, *(place + 1 for place in places))
    right = [targets[at] for at in used]
    weights = solve([[products[row][at] for at in used] for row in used], right)
    if weights is None:
        return None
    slopes = tuple(sum(weights[1 : 2 + at]) for at in range(len(places) + 1))
    return _Fit(places, slopes, max(0.0, squares - _dot(weights, right)))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(a, b, strict=True))


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float] | None:
    """The solution of a small linear system by elimination with pivots; None where singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    count = len(rows)
    for at in range(count):
        pivot = max(range(at, count), key=lambda row: abs(rows[row][at]))
        if abs(rows[pivot][at]) < 1e-12:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(count):
            if row != at:
                factor = rows[row][at] / rows[at][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at], strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]
