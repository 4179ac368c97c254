"""How bandwidth grows with threads: where it tapers and saturates, and what siblings cost.

Bends: the continuous line of straight pieces with least squared error, its breakpoints at team
sizes that were measured, found by trying all of them (segmented regression: Hudson, "Fitting
Segmented Curves Whose Join Points Have to Be Estimated", JASA 61, 1966; for two breakpoints all
pairs, as Lerman, Applied Statistics 29, 1980). Each breakpoint costs a place and a slope in the
Bayesian information criterion (Schwarz 1978), the noise known where all teams have intervals, else
taken from the fit. The slope falls at every bend, and at least two teams lie beyond it. A bend's
interval holds the places whose likelihood is within that of 95% (half of 3.84, the point of
chi-square).

Bends are sought among teams of whole cores, and where cores are not told, among those before the
first drop: threads that share a core are another law.

What would invalidate it: fewer than five team sizes give no bend, and with gaps between the sizes a
bend lies anywhere in the gap.
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import median

import msgspec

from memgauge.analysis.intervals import has_interval
from memgauge.analysis.ratios import ratio
from memgauge.analysis.section import Estimate

LEAST_TEAMS = 5
"""For one bend; each further one takes two more."""
MOST_BENDS = 2
SATURATED = 0.1
"""Of the first slope: what is below it beyond a bend is saturation."""
DROP = 0.05
"""Below the team before, by more than this and than the intervals: a drop."""
NEAR_BEST = 0.05
LEAST_ERROR = 0.003
"""Of the best bandwidth: straight pieces are not asked to fit any closer."""
LEAST_CHANGE = 0.2
"""Of the slope before: a bend takes away at least as much of it."""
_CHI2 = 3.84


class Team(msgspec.Struct, frozen=True):
    """A number of threads and the bandwidth they reach together."""

    threads: int
    bandwidth: Estimate
    cores: int | None = None
    """Physical cores they run on; None: not told."""


class Bend(msgspec.Struct, frozen=True):
    """A team size from which on further threads bring less."""

    threads: int
    low: int
    high: int
    """It lies between these sizes, of those measured."""
    gain_before: float
    gain_after: float
    """Bandwidth that one more thread brings."""


class Drop(msgspec.Struct, frozen=True):
    """A team that reaches less than the next smaller one."""

    threads: int
    """Of the larger team."""
    before: int
    ratio: Estimate


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep over team sizes shows."""

    teams: int
    """Team sizes measured."""
    best: Team
    enough: int
    """The smallest team within 5% of the best, by the values."""
    enough_low: int
    enough_high: int
    """The smallest team that may be, and that surely is, by the intervals."""
    taper: Bend | None = None
    """The first bend."""
    saturation: Bend | None = None
    """The first bend beyond which threads bring next to nothing; it may be the first of all."""
    cores: int | None = None
    """Physical cores, where teams fill them first and share them after; else None."""
    sibling: Drop | None = None
    """The smallest team with two threads on a core against the one that fills the cores, be it a
    loss or not; None where teams are not told apart so, or none fills the cores."""
    drop: Drop | None = None
    """The first team far below the one before."""


def scaling_of(teams: Sequence[Team]) -> Scaling | None:
    """What the teams show, in any order; None without any."""
    known = {t.threads: t for t in teams if t.bandwidth.value > 0 and t.threads > 0}
    ordered = [known[threads] for threads in sorted(known)]
    if not ordered:
        return None
    cores = cores_first(ordered)
    drop = _first_drop(ordered)
    bends = _bends(_one_law(ordered, cores, drop))
    best = max(ordered, key=lambda team: team.bandwidth.value)
    enough, low, high = _enough(ordered, best)
    return Scaling(
        teams=len(ordered),
        best=best,
        enough=enough,
        enough_low=low,
        enough_high=high,
        taper=bends[0] if bends else None,
        saturation=next((bend for bend in bends if _is_flat(bend, bends[0])), None),
        cores=cores,
        sibling=_sibling(ordered, cores),
        drop=drop,
    )


def cores_first(ordered: Sequence[Team]) -> int | None:
    """Physical cores, where teams take a core for each thread until none is left, and share then.

    None where that is not so, not told, or no core is shared.
    """
    told = [(team.threads, team.cores) for team in ordered]
    most = max((cores for _, cores in told if cores is not None), default=0)
    if any(cores != min(threads, most) for threads, cores in told):
        return None
    return most if ordered[-1].threads > most else None


def _is_flat(bend: Bend, first: Bend) -> bool:
    return bend.gain_after <= SATURATED * first.gain_before


def _first_drop(ordered: Sequence[Team]) -> Drop | None:
    for before, after in pairwise(ordered):
        change = ratio(after.bandwidth, before.bandwidth)
        if change is not None and change.value < 1 - DROP and _surely_below(change):
            return Drop(after.threads, before.threads, change)
    return None


def _surely_below(change: Estimate) -> bool:
    return not has_interval(change) or change.high < 1


def _sibling(ordered: Sequence[Team], cores: int | None) -> Drop | None:
    full = next((team for team in ordered if team.threads == cores), None)
    shared = next((team for team in ordered if team.threads > (cores or 0)), None)
    if full is None or shared is None:
        return None
    change = ratio(shared.bandwidth, full.bandwidth)
    return None if change is None else Drop(shared.threads, full.threads, change)


def _one_law(ordered: Sequence[Team], cores: int | None, drop: Drop | None) -> Sequence[Team]:
    """The teams among which bends are sought."""
    if cores is not None:
        return [team for team in ordered if team.threads <= cores]
    if drop is not None:
        return [team for team in ordered if team.threads < drop.threads]
    return ordered


def _enough(ordered: Sequence[Team], best: Team) -> tuple[int, int, int]:
    """Smallest team near the best: by the values, at the least, and at the most."""
    share = 1 - NEAR_BEST
    low, high = _bounds(best.bandwidth)
    by_value = next(t for t in ordered if t.bandwidth.value >= share * best.bandwidth.value)
    may_be = next(t for t in ordered if _bounds(t.bandwidth)[1] >= share * low)
    surely = (t for t in ordered if _bounds(t.bandwidth)[0] >= share * high)
    return by_value.threads, may_be.threads, next(surely, best).threads


def _bounds(estimate: Estimate) -> tuple[float, float]:
    if has_interval(estimate):
        return estimate.low, estimate.high
    return estimate.value, estimate.value


class _Fit(msgspec.Struct, frozen=True):
    """A line of straight pieces: its places, the slope of each piece and the squared error."""

    places: tuple[int, ...]
    slopes: tuple[float, ...]
    error: float


def _bends(teams: Sequence[Team]) -> list[Bend]:
    """Breakpoints of the fit that the criterion prefers, with the gains beside each."""
    if len(teams) < LEAST_TEAMS:
        return []
    xs = [float(team.threads) for team in teams]
    best = max(team.bandwidth.value for team in teams)
    fits = [fit for fit in _fits(xs, [t.bandwidth.value / best for t in teams]) if _falls(fit)]
    variance = _variance(teams, best)
    chosen = min(fits, key=lambda fit: _criterion(fit, len(xs), variance), default=None)
    if chosen is None:
        return []
    allowed = _allowed(fits, chosen, len(xs), variance)
    return [
        Bend(
            threads=teams[place].threads,
            low=teams[min(places[at] for places in allowed)].threads,
            high=teams[max(places[at] for places in allowed)].threads,
            gain_before=chosen.slopes[at] * best,
            gain_after=chosen.slopes[at + 1] * best,
        )
        for at, place in enumerate(chosen.places)
    ]


def _variance(teams: Sequence[Team], best: float) -> float | None:
    """Of bandwidths in units of the best one, by their intervals; None where one has none."""
    if not all(has_interval(team.bandwidth) for team in teams):
        return None
    halves = [(t.bandwidth.high - t.bandwidth.low) / 2 / best for t in teams]
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
    most = min(MOST_BENDS, (len(xs) - LEAST_TEAMS) // 2 + 1)
    inner = range(1, len(xs) - 2)
    choices = (places for count in range(most + 1) for places in combinations(inner, count))
    return [fit for places in choices if (fit := _fit(xs, ys, places)) is not None]


def _fit(xs: Sequence[float], ys: Sequence[float], places: tuple[int, ...]) -> _Fit | None:
    """Least squares on 1, x and max(0, x - place) for each place."""
    rows = [[1.0, x, *(max(0.0, x - xs[place]) for place in places)] for x in xs]
    columns = list(zip(*rows, strict=True))
    products = [[_dot(a, b) for b in columns] for a in columns]
    weights = solve(products, [_dot(column, ys) for column in columns])
    if weights is None:
        return None
    error = sum((_dot(row, weights) - y) ** 2 for row, y in zip(rows, ys, strict=True))
    slopes = tuple(sum(weights[1 : 2 + at]) for at in range(len(places) + 1))
    return _Fit(places, slopes, error)


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
