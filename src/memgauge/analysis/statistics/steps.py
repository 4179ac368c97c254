"""By how much a series steps where it changes its level, and how likely chance makes such a step.

Where it steps is found by `change_points`. The size of a step is the difference between the medians
of the pieces before and after it. The standard error of a median is 1.25 times that of a mean, and
the difference is taken as Student's t with the long-run noise beside the steps, so that neighbours
that share a disturbance count for less. Where a piece is short, disturbed values that happen to be
neighbours must not explain it either. The place of a step was chosen among many, so its p value is
multiplied by the number of places that it could have had (Bonferroni); it holds for the series.

What would invalidate it: a level that drifts without ever staying, which looks like several steps;
steps that were just large enough to be found, whose sizes come out too large.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from memgauge.analysis.statistics.change_points import LEAST_ERRORS, SHORT, Signal, cuts_of
from memgauge.analysis.statistics.noise import Noise, noise_beside
from memgauge.analysis.statistics.student import half_width, two_sided

OF_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, of normal values: the root of pi / 2."""


class Piece(msgspec.Struct, frozen=True):
    """Places [begin, end) in which the level stays."""

    begin: int
    end: int


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the level."""

    place: int
    """Of the first value at the new level."""
    low: int
    high: int
    """The first value at the new level is between these places, with 95% confidence."""
    before: Piece
    after: Piece
    """The pieces that it separates."""
    size: float
    half_width: float
    """Of the 95% interval of the size."""
    p_value: float
    """That a series without any step has one like this somewhere."""


def steps_of(values: Sequence[float | None], floor: float, least: int) -> list[Step]:
    """The steps of a series, in order.

    Args:
        values: In the order in which they were measured; None is missing.
        floor: Steps below this size do not matter.
        least: Fewest places of a piece.
    """
    length = len(values)
    middle = level_of(values, Piece(0, length))
    if middle is None:
        return []
    # From its middle, since `change_points` ignores differences that are small beside the level.
    centred = [None if value is None else value - middle for value in values]
    cuts = cuts_of([Signal(centred, floor)], length, least)
    if not cuts:
        return []
    pieces = [Piece(*ends) for ends in pairwise([0, *(cut.place for cut in cuts), length])]
    noise = noise_of_pieces(values, pieces, floor)
    places = max(1, length - 2 * least + 1)
    found = []
    for cut, (before, after) in zip(cuts, pairwise(pieces), strict=True):
        size, error = difference(values, before, after, noise.deviation)
        chance = max(two_sided(size / error, noise.freedom), _chance(values, before, after))
        found.append(
            Step(
                place=cut.place,
                low=cut.low,
                high=cut.high,
                before=before,
                after=after,
                size=size,
                half_width=error * half_width(noise.freedom),
                p_value=min(1.0, places * chance),
            )
        )
    return found


def noise_of_pieces(values: Sequence[float | None], pieces: Sequence[Piece], floor: float) -> Noise:
    """The long-run noise of a series beside the steps between its pieces.

    Args:
        values: The series.
        pieces: All of its pieces, in order.
        floor: Steps below this size do not matter.
    """
    return noise_beside(levelled_by(values, pieces), len(pieces), floor / LEAST_ERRORS)


def _chance(values: Sequence[float | None], before: Piece, after: Piece) -> float:
    """That disturbed values look like this step; 0 where both pieces are long."""
    short, long = sorted((known_in(values, before), known_in(values, after)), key=len)
    if not short:
        return 1.0
    return chance_of_short(short, long) if len(short) < SHORT else 0.0


def pieces_between(steps: Sequence[Step], length: int) -> list[Piece]:
    """The pieces that the steps leave, in order; one where there is no step."""
    return [Piece(*ends) for ends in pairwise([0, *(step.place for step in steps), length])]


def levelled_by(values: Sequence[float | None], pieces: Sequence[Piece]) -> list[float | None]:
    """The values as distances from the median of their piece."""
    found: list[float | None] = []
    for piece in pieces:
        inside = values[piece.begin : piece.end]
        middle = level_of(values, piece)
        found += [None if value is None or middle is None else value - middle for value in inside]
    return found


def level_of(values: Sequence[float | None], piece: Piece) -> float | None:
    """The median of a piece; None where none of its values is known."""
    known = known_in(values, piece)
    return median(known) if known else None


def known_in(values: Sequence[float | None], piece: Piece) -> list[float]:
    """The values of a piece that are not missing."""
    return [value for value in values[piece.begin : piece.end] if value is not None]


def difference(
    values: Sequence[float | None], before: Piece, after: Piece, noise: float
) -> tuple[float, float]:
    """Difference between the medians of two pieces, and its standard error.

    Args:
        values: Of which both pieces have some.
        before: One piece.
        after: The other one.
        noise: Long-run deviation of the values in a piece.
    """
    first, second = known_in(values, before), known_in(values, after)
    error = OF_MEDIAN * noise * math.sqrt(1 / max(1, len(first)) + 1 / max(1, len(second)))
    if not first or not second:
        return 0.0, math.inf
    return median(second) - median(first), error


def chance_of_short(short: Sequence[float], long: Sequence[float]) -> float:
    """That values like those of the long piece lie as the short piece does, beyond the middle.

    Disturbed values, some of which happen to be neighbours, look like a level. How frequent they
    are is seen in the long piece, one more than there are being granted.

    Args:
        short: Values of a piece.
        long: Values of its neighbour.
    """
    low, high = median(short), median(long)
    middle = (low + high) / 2
    sign = 1 if low > high else -1
    beyond = sum(sign * (value - middle) > 0 for value in long)
    share = (beyond + 1) / (len(long) + 1)
    found = sum(sign * (value - middle) > 0 for value in short)
    count = len(short)
    return sum(
        math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(found, count + 1)
    )
