"""Least-squares fits of a curve by a line that bends, sharply or gradually.

Sharp: a continuous line of straight pieces, its breakpoints at places that were measured (Hudson,
"Fitting Segmented Curves Whose Join Points Have to Be Estimated", JASA 61, 1966; two breakpoints by
all pairs, as Lerman, Applied Statistics 29, 1980). The sums that a fit needs of each breakpoint
follow from sums over the points beyond it, so that a fit costs the same however long the curve is;
of a long curve every few places are tried, and then all places around the best.

Gradual: a line and one curved term, whose slope falls throughout: the bent cable, a parabola
between two straight pieces (Chiu, Lockhart and Routledge, "Bent-Cable Regression Theory and
Applications", JASA 101, 2006), the hyperbola between them (Griffiths and Miller, Communications in
Statistics 2, 1973), and an exponential approach. It has one parameter less than two breakpoints.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import msgspec

MOST_PLACES = 48
"""Places of which all pairs are tried."""


class Line(msgspec.Struct, frozen=True):
    """A line of straight pieces: indices of its breakpoints, the slope of each piece, the error."""

    places: tuple[int, ...]
    slopes: tuple[float, ...]
    error: float
    """Sum of squares."""


class Gradual(msgspec.Struct, frozen=True):
    """A line whose slope falls by and by."""

    slopes: tuple[float, ...]
    """At each point."""
    error: float


def lines(xs: Sequence[float], ys: Sequence[float], most: int) -> list[Line]:
    """The best line for every choice of at most so many places, each two points from the end.

    Args:
        xs: Places, ascending.
        ys: Values beside them.
        most: Breakpoints at most, 0 to 2.
    """
    sums = _Sums(xs, ys)
    inner = range(1, len(xs) - 2)
    found = {places: fit for places in _few(inner, most) if (fit := sums.line(places))}
    best = min((fit for fit in found.values() if len(fit.places) == 2), key=_error, default=None)
    if best is not None and len(inner) > MOST_PLACES:
        step = len(inner) // MOST_PLACES + 1
        near = [range(max(1, at - step), min(inner.stop, at + step + 1)) for at in best.places]
        pairs = {(one, other) for one in near[0] for other in near[1] if one < other}
        found |= {places: fit for places in pairs if (fit := sums.line(places))}
    return list(found.values())


def gradual(xs: Sequence[float], ys: Sequence[float]) -> Gradual | None:
    """The best line of one curved term among those whose slope falls; None without any."""
    found = (_curved(xs, ys, *shape) for shape in _shapes(xs))
    return min((one for one in found if one is not None), key=_error, default=None)


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


def _error(fit: Line | Gradual) -> float:
    return fit.error


def _few(inner: range, most: int) -> Iterator[tuple[int, ...]]:
    """No place, each one, and pairs, of a long curve those of every few places."""
    yield ()
    if most >= 1:
        yield from ((place,) for place in inner)
    if most >= 2:
        yield from combinations(inner[:: len(inner) // MOST_PLACES + 1], 2)


class _Sums:
    """Over the points from each index on: how many, and their products."""

    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self._xs = xs
        from_end: list[tuple[float, ...]] = [(0.0,) * 5]
        for x, y in zip(reversed(xs), reversed(ys), strict=True):
            terms = (1.0, x, x * x, y, x * y)
            from_end.append(tuple(a + b for a, b in zip(from_end[-1], terms, strict=True)))
        self._beyond = from_end[::-1]
        self._squares = sum(y * y for y in ys)

    def line(self, places: tuple[int, ...]) -> Line | None:
        """Least squares on 1, x and max(0, x - place) for each place, ascending."""
        # Columns as (first index, u, v): u + v x from there on.
        columns = [(0, 1.0, 0.0), (0, 0.0, 1.0)]
        columns += [(place, -self._xs[place], 1.0) for place in places]
        right = [self._with_values(*column) for column in columns]
        matrix = [[self._product(one, other) for other in columns] for one in columns]
        weights = solve(matrix, right)
        if weights is None:
            return None
        slopes = tuple(sum(weights[1 : 2 + at]) for at in range(len(places) + 1))
        explained = sum(a * b for a, b in zip(weights, right, strict=True))
        return Line(places, slopes, max(0.0, self._squares - explained))

    def _with_values(self, begin: int, level: float, slope: float) -> float:
        sums = self._beyond[begin]
        return level * sums[3] + slope * sums[4]

    def _product(self, one: tuple[int, float, float], other: tuple[int, float, float]) -> float:
        count, first, second, _, _ = self._beyond[max(one[0], other[0])]
        both = one[1] * other[2] + one[2] * other[1]
        return one[1] * other[1] * count + both * first + one[2] * other[2] * second


Shape = tuple[Callable[[float], float], Callable[[float], float]]
"""A curved term and its slope, which rises throughout."""


def _shapes(xs: Sequence[float]) -> Iterator[Shape]:
    span = xs[-1] - xs[0]
    for step in range(1, 12):
        middle = xs[0] + span * step / 12
        for width in (0.08, 0.16, 0.32, 0.64):
            yield _cable(middle, width * span)
            yield _hyperbola(middle, width * span / 2)
    for scale in (0.06, 0.09, 0.13, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5):
        yield _exponential(xs[0], scale * span)


def _cable(middle: float, half: float) -> Shape:
    def value(x: float) -> float:
        inside = (x - middle + half) ** 2 / (4 * half)
        return x - middle if x >= middle + half else inside if x > middle - half else 0.0

    return value, lambda x: min(1.0, max(0.0, (x - middle + half) / (2 * half)))


def _hyperbola(middle: float, width: float) -> Shape:
    return (
        lambda x: math.hypot(x - middle, width),
        lambda x: (x - middle) / math.hypot(x - middle, width),
    )


def _exponential(first: float, scale: float) -> Shape:
    return (
        lambda x: math.exp(-(x - first) / scale),
        lambda x: -math.exp(-(x - first) / scale) / scale,
    )


def _curved(
    xs: Sequence[float],
    ys: Sequence[float],
    value: Callable[[float], float],
    slope: Callable[[float], float],
) -> Gradual | None:
    """Least squares on 1, x and the curved term; None where the slope does not fall from above."""
    columns = [[1.0] * len(xs), list(xs), [value(x) for x in xs]]
    right = [_dot(column, ys) for column in columns]
    weights = solve([[_dot(one, other) for other in columns] for one in columns], right)
    if weights is None or weights[2] >= 0:
        return None
    slopes = tuple(weights[1] + weights[2] * slope(x) for x in xs)
    fitted = [_dot(weights, row) for row in zip(*columns, strict=True)]
    error = sum((y - fit) ** 2 for y, fit in zip(ys, fitted, strict=True))
    return Gradual(slopes, error) if slopes[0] > 0 else None


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(a, b, strict=True))
