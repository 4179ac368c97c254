"""Where a rising curve bends, and whether it does beyond chance.

A line of one piece, of two and of three are compared in turn, and with them a line that bends by
and by (see `segmented`). A further breakpoint must explain more than chance would in one of thirty
curves without it: an F test at each place that it might have, its probability multiplied by the
number of places (Bonferroni); half of it, because only bends downwards count. The noise is that of
the intervals, or what the larger line leaves where that is more. Two breakpoints must also explain
more than a line that bends by and by, whose slope falls everywhere: a curve that saturates smoothly
has no two places that stand out.

The slope falls at every bend, and at least two points lie beyond it. The interval of a sharp bend
holds the places whose likelihood is within that of 95% (half of 3.84, the point of chi-square);
that of a gradual one the places between which the slope does 80% of its fall.

What would invalidate it: with gaps between the places, a bend lies anywhere in the gap; values
whose errors are alike in neighbouring places look like a bend.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval, regularized_beta
from memgauge.analysis.statistics.segmented import Gradual, Line, gradual, lines

LEAST_POINTS = 5
"""For one bend; each further one takes two more."""
MOST_BENDS = 2
LEAST_ERROR = 0.003
"""Share of the largest value: lines need not fit any closer."""
LEAST_CHANGE = 0.2
"""Of the slope before: a bend takes away at least as much of it."""
CHANCE = 0.03
"""Of a bend more than there is."""
EDGE = 0.1
"""Of a gradual fall that lies before its interval, and as much beyond it."""
_CHI2 = 3.84
_Z = 1.96

Curve = Sequence[tuple[int, Estimate]]
"""Values by place, places ascending."""


class Bend(msgspec.Struct, frozen=True):
    """A place from which on the curve rises less."""

    place: int
    low: int
    high: int
    """It lies between these places, of those measured; a gradual one extends over them."""
    gain_before: float
    gain_after: float
    """What one more of the place brings."""
    is_gradual: bool = False
    """The slope falls by and by; it has fallen half at `place`."""


def find_bends(curve: Curve) -> list[Bend]:
    """The bends that the curve surely has, with the gains beside each."""
    if len(curve) < LEAST_POINTS:
        return []
    xs = [float(place) for place, _ in curve]
    best = max(estimate.value for _, estimate in curve)
    if best <= 0:
        return []
    ys = [estimate.value / best for _, estimate in curve]
    variance = _variance([estimate for _, estimate in curve], best)
    fits = lines(xs, ys, min(MOST_BENDS, (len(xs) - LEAST_POINTS) // 2 + 1))
    chosen = _chosen(fits, len(xs), variance)
    smooth = gradual(xs, ys) if len(chosen.places) == MOST_BENDS else None
    if smooth is not None and not _explains_more(chosen, smooth, len(xs), variance):
        return [_by_and_by(curve, smooth, best)]
    return _sharp(curve, fits, chosen, best, variance)


def _variance(estimates: Sequence[Estimate], best: float) -> float:
    """Of values in units of the largest one, by their intervals; the least where one has none."""
    if not all(has_interval(estimate) for estimate in estimates):
        return LEAST_ERROR**2
    halves = [(estimate.high - estimate.low) / 2 / best for estimate in estimates]
    return max(LEAST_ERROR**2, median(half * half for half in halves) / _Z**2)


def _chosen(fits: Sequence[Line], count: int, variance: float) -> Line:
    """The line with as many breakpoints as explain more than chance, one by one."""
    chosen = next(fit for fit in fits if not fit.places)
    for bends in range(1, MOST_BENDS + 1):
        falling = [fit for fit in fits if len(fit.places) == bends and _falls(fit)]
        larger = min(falling, key=lambda fit: fit.error, default=None)
        if larger is None or _probability(chosen, larger, count, variance) > CHANCE:
            break
        chosen = larger
    return chosen


def _probability(smaller: Line, larger: Line, count: int, variance: float) -> float:
    """At most that of the gain by chance: one of the places of the further bend."""
    # Of each breakpoint the place and the slope, and the first piece.
    free = max(1, count - 2 - 2 * len(larger.places))
    left = larger.error / free
    gain = smaller.error - larger.error
    places = (count - 3) / 2
    if left > variance:
        return places * _beyond_f(gain / left, free)
    return places * math.erfc(math.sqrt(max(0.0, gain) / variance / 2))


def _beyond_f(value: float, free: int) -> float:
    """P(F with 1 and `free` degrees of freedom > value)."""
    return regularized_beta(free / (free + max(0.0, value)), free / 2, 0.5)


def _explains_more(line: Line, smooth: Gradual, count: int, variance: float) -> bool:
    """By more than the one parameter that it has besides (Schwarz 1978)."""
    left = max(variance, min(line.error, smooth.error) / count)
    return (smooth.error - line.error) / left > math.log(count)


def _falls(fit: Line) -> bool:
    """Each slope is less than the one before, which still rose."""
    return all(
        before > 0 and after <= (1 - LEAST_CHANGE) * before
        for before, after in pairwise(fit.slopes)
    )


def _sharp(
    curve: Curve, fits: Sequence[Line], chosen: Line, best: float, variance: float
) -> list[Bend]:
    allowed = _allowed(fits, chosen, len(curve), variance)
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


def _allowed(
    fits: Sequence[Line], chosen: Line, count: int, variance: float
) -> list[tuple[int, ...]]:
    """Places of as many bends that fit nearly as well."""
    mean = max(chosen.error / count, variance)
    limit = max(chosen.error, count * LEAST_ERROR**2) + count * mean * math.expm1(_CHI2 / count)
    alike = (fit for fit in fits if len(fit.places) == len(chosen.places) and _falls(fit))
    return [fit.places for fit in alike if fit.error <= limit]


def _by_and_by(curve: Curve, smooth: Gradual, best: float) -> Bend:
    first, last = smooth.slopes[0], smooth.slopes[-1]

    def fallen(share: float) -> int:
        until = first - share * (first - last)
        at = next(at for at, slope in enumerate(smooth.slopes) if slope <= until)
        return curve[at][0]

    return Bend(fallen(0.5), fallen(EDGE), fallen(1 - EDGE), first * best, last * best, True)
