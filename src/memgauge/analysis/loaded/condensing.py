"""A course over time condensed to few steps, each of which keeps the sums of what it stands for.

Neighbours are merged, the two most alike first: those whose merging adds least to the squared
deviation of the rates from those of their step, weighted by time (Ward, "Hierarchical Grouping to
Optimize an Objective Function", JASA 58, 1963, with neighbours in time alone). Time and amounts are
conserved exactly; what is lost is how rates vary inside a step, of which `variation_kept` is the
share that is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import msgspec


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time, and what was counted in it of two kinds."""

    begin_s: float
    end_s: float
    known_s: float
    """Time of it in which both were counted; above 0."""
    amounts: tuple[float, float]

    @property
    def rates(self) -> tuple[float, float]:
        """Of both kinds, a second."""
        first, second = self.amounts
        return first / self.known_s, second / self.known_s


def merged(one: Piece, other: Piece) -> Piece:
    """Both as one piece; `other` follows `one`."""
    return Piece(
        begin_s=one.begin_s,
        end_s=other.end_s,
        known_s=one.known_s + other.known_s,
        amounts=(one.amounts[0] + other.amounts[0], one.amounts[1] + other.amounts[1]),
    )


def condensed(
    pieces: Sequence[Piece], most: int, worth: float = 0.0, least: float = 0.0
) -> list[Piece]:
    """At most `most` pieces, made of neighbours.

    Args:
        pieces: In order of time; at least one.
        most: How many to leave, at least 1.
        worth: Share of the whole deviation that a border between two pieces must account for;
            others are removed too. 0 keeps all borders that `most` allows.
        least: Difference of rates below which all are taken for the same.
    """
    left = [*pieces]
    costs = [_cost(*pair) for pair in pairwise(left)]
    whole = _whole(pieces)
    worth *= max(deviation(pieces, [whole]), whole.known_s * least**2)
    while costs:
        at = min(range(len(costs)), key=costs.__getitem__)
        if len(left) <= most and (not worth or costs[at] >= worth):
            break
        left[at : at + 2] = [merged(left[at], left[at + 1])]
        del costs[at]
        for place in (at - 1, at):
            if 0 <= place < len(costs):
                costs[place] = _cost(left[place], left[place + 1])
    return left


def variation_kept(
    fine: Sequence[Piece], steps: Sequence[Piece], least: float = 0.0
) -> float | None:
    """Share of the time-weighted variance of the rates of `fine` that lies between the steps.

    Args:
        fine: In order of time; what begins in no step counts for none.
        steps: In order of time.
        least: Difference of rates below which all are taken for the same.

    Returns:
        From 0, where one step stands for all, to 1, where rates vary in no step; None where the
        rates do not vary at all.
    """
    inside = [[one for one in fine if step.begin_s <= one.begin_s < step.end_s] for step in steps]
    known = [one for members in inside for one in members]
    if not known:
        return None
    mean = _whole(known)
    whole = deviation(known, [mean])
    if whole <= mean.known_s * least**2:
        return None
    lost = math.fsum(deviation(members, [_whole(members)]) for members in inside if members)
    return min(1.0, max(0.0, 1 - lost / whole))


def deviation(fine: Sequence[Piece], steps: Sequence[Piece]) -> float:
    """Squared deviation of the rates from those of their step, times seconds.

    Args:
        fine: In order of time.
        steps: In order of time, one of which holds the begin of each of `fine`.
    """
    total = []
    at = 0
    for one in fine:
        while at + 1 < len(steps) and one.begin_s >= steps[at].end_s:
            at += 1
        total.append(one.known_s * _squared(one, steps[at]))
    return math.fsum(total)


def _whole(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        begin_s=pieces[0].begin_s,
        end_s=pieces[-1].end_s,
        known_s=math.fsum(one.known_s for one in pieces),
        amounts=(
            math.fsum(one.amounts[0] for one in pieces),
            math.fsum(one.amounts[1] for one in pieces),
        ),
    )


def _squared(one: Piece, other: Piece) -> float:
    (a, b), (c, d) = one.rates, other.rates
    return (a - c) ** 2 + (b - d) ** 2


def _cost(one: Piece, other: Piece) -> float:
    """By how much merging both adds to the deviation."""
    weight = one.known_s * other.known_s / (one.known_s + other.known_s)
    return weight * _squared(one, other)
