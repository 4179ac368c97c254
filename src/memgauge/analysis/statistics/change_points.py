"""Where several tracks, looked at together, change their level.

Cuts are those of optimal partitioning (Jackson et al. 2005, an exact dynamic program over squared
error, each track in units of its own noise) among places that a screening found: those where the
means of two windows differ (Niu and Zhang, "The screening and ranking algorithm to detect DNA copy
number variations", Annals of Applied Statistics 6, 2012). So the time grows with the length of the
tracks, and only with the square of the number of candidates. A cut must explain more than chance
would: the bound of Laurent and Massart (Annals of Statistics 28, 2000) on the sum of squares of as
many tracks, at a probability that is small for all pairs of places together.

What chance explains is not all that matters: pieces whose medians lie closer than a reader would
care for are one. Medians, so that a spike is no level.

Noise of a track is its long-run noise (see `noise`): neighbours that share a disturbance tell less
than as many independent values. Where the pieces that were found are still less even inside than
that noise allows, it is raised to what they show, and the cuts are sought again.

Where a track keeps still (its values differ by a small part of what matters, for many places), it
has no noise, and what it does elsewhere says nothing about such a stretch: a program that waits
uses no processor at all, however unevenly others let it run before. So noise is that of the rest,
and the ends of a still stretch are cuts where nearly all values beyond them lie at another level.

A cut lies somewhere among the places that explain nearly as much: those whose squared error is
within 7.35 of the best, the 95% point of the likelihood ratio of a change point (Hansen, "Sample
splitting and threshold estimation", Econometrica 68, 2000), the error in squares of the long-run
noise (Bai, "Estimation of a change point in multiple regression models", Review of Economics and
Statistics 79, 1997).

What would invalidate it: levels that last for fewer than `least` places, or that drift for ever.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median, median_low

import msgspec

from memgauge.analysis.statistics.noise import deviation_within, long_run_deviation

MOST_CANDIDATES = 300
LIKELY = 7.35
"""Squares of the noise within which a place explains as much as the best: -2 log(1 - root 0.95)."""
MOST_TRIES = 4
"""Times that cuts are sought, the noise raised in between."""
UNEVEN = 1.15
"""Times the noise that was assumed: below, what pieces show is not another noise."""
SHORT = 16
"""Places of a piece that must hold its level nearly throughout, twice as clear of its errors."""
LEAST_CHANGE = 0.1
"""Of the larger of two levels: less is no other level,"""
LEAST_OF_ALL = 0.05
"""and of the largest level of the track in the whole run."""
LEAST_ERRORS = 3.0
"""Standard errors between the levels of neighbours, twice as many where one is short."""

STILL_SHARE = 0.1
"""Of the floor: values that differ by less keep still, where as many as `SHORT` do so in a row."""
MOSTLY = 0.9
"""Of a piece: still, or beyond the level of a still neighbour."""

LARGEST = 1e150
"""No quantity has such a value, and squares of larger ones overflow."""

Piece = tuple[int, int]


class Signal(msgspec.Struct, frozen=True):
    """One track; None where it is not known."""

    values: Sequence[float | None]
    floor: float
    """Differences below this one do not matter, whatever the noise."""
    least: int = 0
    """Places: in a shorter piece no difference of this track matters."""


class _Sums(msgspec.Struct, frozen=True):
    """Of a track in units of its noise, up to each place."""

    count: list[int]
    sum: list[float]
    square: list[float]

    def error(self, begin: int, end: int) -> float:
        count = self.count[end] - self.count[begin]
        if not count:
            return 0.0
        total = self.sum[end] - self.sum[begin]
        return max(0.0, self.square[end] - self.square[begin] - total * total / count)

    def apart(self, begin: int, middle: int, end: int) -> float:
        """Squared error that a cut in the middle takes away."""
        left, right = self.count[middle] - self.count[begin], self.count[end] - self.count[middle]
        if not left or not right:
            return 0.0
        before = (self.sum[middle] - self.sum[begin]) / left
        after = (self.sum[end] - self.sum[middle]) / right
        return (after - before) ** 2 * left * right / (left + right)


class _Stillness(msgspec.Struct, frozen=True):
    """Where a track keeps still."""

    stretches: list[Piece]

    def covers(self, piece: Piece) -> bool:
        """Whether nearly all places of a piece are in one still stretch."""
        return any(
            min(end, piece[1]) - max(begin, piece[0]) >= MOSTLY * (piece[1] - piece[0])
            for begin, end in self.stretches
        )

    def ends(self, length: int) -> set[int]:
        return {place for piece in self.stretches for place in piece if 0 < place < length}


class Cut(msgspec.Struct, frozen=True):
    """Where one piece ends and the next begins."""

    place: int
    """Of the first value of the next piece."""
    low: int
    high: int
    """It lies between these places, with 95% confidence."""


def pieces_of(signals: Sequence[Signal], length: int, least: int) -> list[Piece]:
    """Pieces [begin, end) in which all tracks keep their level.

    Args:
        signals: Tracks over the same places; those without any value are ignored.
        length: Number of places, and of values of each track.
        least: Fewest places of a piece, unless all of `length` is shorter.
    """
    places = [cut.place for cut in cuts_of(signals, length, least)]
    return list(pairwise([0, *places, length]))


def cuts_of(signals: Sequence[Signal], length: int, least: int) -> list[Cut]:
    """Where tracks change their level, in order.

    Args:
        signals: Tracks over the same places; those without any value are ignored.
        length: Number of places, and of values of each track.
        least: Fewest places of a piece, unless all of `length` is shorter.
    """
    usable = [_with_squares(signal) for signal in signals]
    reported = [signal for signal in usable if any(value is not None for value in signal.values)]
    if not reported or length < 2 * least:
        return []
    still = [_stillness(signal) for signal in reported]
    ends = set().union(*(one.ends(length) for one in still))
    noises = [_noise_beside(*pair) for pair in zip(reported, still, strict=True)]
    for _ in range(MOST_TRIES):
        sums = [_sums(signal, noise) for signal, noise in zip(reported, noises, strict=True)]
        candidates = sorted({*_screened(sums, length, least), *ends})
        cuts = _partition(sums, candidates, ends, length, least)
        cuts = _settled(sums, cuts, ends, length, least)
        pieces = _merged(reported, noises, still, list(pairwise([0, *cuts, length])))
        raised = _raised(reported, noises, pieces)
        if len(pieces) == 1 or raised == noises:
            break
        noises = raised
    return [
        Cut(one[1], *_likely(sums, one[0], one[1], other[1], least))
        for one, other in pairwise(pieces)
    ]


def _with_squares(signal: Signal) -> Signal:
    """A signal without the values that are none: counters that lie about their scale give such."""
    if all(value is None or abs(value) < LARGEST for value in signal.values):
        return signal
    kept = [v if v is not None and abs(v) < LARGEST else None for v in signal.values]
    return msgspec.structs.replace(signal, values=kept)


def noise_of(signal: Signal) -> float:
    """Standard deviation of the long-run noise, at least what the floor stands for."""
    return _noise_beside(signal, _stillness(signal))


def _noise_beside(signal: Signal, stillness: _Stillness) -> float:
    still = {place for piece in stillness.stretches for place in range(*piece)}
    moving = [v for at, v in enumerate(signal.values) if v is not None and at not in still]
    return max(signal.floor / LEAST_ERRORS, long_run_deviation(moving))


def _stillness(signal: Signal) -> _Stillness:
    """The stretches in which the values stay together, each as long as it can be."""
    stretches: list[Piece] = []
    begin, low, high = 0, math.inf, -math.inf
    for at, value in enumerate([*signal.values, None]):
        low, high = (low, high) if value is None else (min(low, value), max(high, value))
        if value is not None and high - low <= STILL_SHARE * signal.floor:
            continue
        if at - begin >= SHORT:
            stretches.append((begin, at))
        if value is None:
            begin, low, high = at + 1, math.inf, -math.inf
            continue
        # On from the first place since which all values, this one too, stay together.
        begin, low, high = at, value, value
        if stretches and stretches[-1][1] == at:
            continue
        while begin > 0 and (before := signal.values[begin - 1]) is not None:
            if max(high, before) - min(low, before) > STILL_SHARE * signal.floor:
                break
            begin, low, high = begin - 1, min(low, before), max(high, before)
    return _Stillness(stretches)


def _raised(
    signals: Sequence[Signal], noises: Sequence[float], pieces: Sequence[Piece]
) -> list[float]:
    """The noise of each track, raised where its pieces show more than was assumed."""
    found = []
    for signal, noise in zip(signals, noises, strict=True):
        within = deviation_within([_known(signal, piece) for piece in pieces])
        found.append(within if within > UNEVEN * noise else noise)
    return found


def _likely(sums: Sequence[_Sums], begin: int, cut: int, end: int, least: int) -> tuple[int, int]:
    """The first and the last place that explains nearly as much as the cut does."""
    places = range(begin + min(least, cut - begin), end - min(least, end - cut) + 1)
    gains = [sum(one.apart(begin, place, end) for one in sums) for place in places]
    enough = max(gains) - LIKELY
    likely = [place for place, gain in zip(places, gains, strict=True) if gain >= enough]
    return min(cut, *likely), max(cut, *likely)


def _sums(signal: Signal, noise: float) -> _Sums:
    known = [value for value in signal.values if value is not None]
    # From its middle, so that squares of large levels do not drown small differences.
    middle = median(known)
    units = [None if v is None else (v - middle) / (noise or 1.0) for v in signal.values]
    return _Sums(
        list(accumulate((unit is not None for unit in units), initial=0)),
        list(accumulate((unit or 0.0 for unit in units), initial=0.0)),
        list(accumulate(((unit or 0.0) ** 2 for unit in units), initial=0.0)),
    )


def penalty_of(tracks: int, length: int) -> float:
    """What one more piece must explain, in squares of the noise."""
    chance = 3 * math.log(max(length, 8))
    return tracks + 2 * math.sqrt(tracks * chance) + 2 * chance


def _screened(sums: Sequence[_Sums], length: int, least: int) -> list[int]:
    """Places that stand out in windows of several widths, the clearest first."""
    found: dict[int, float] = {}
    enough = 2 * math.log(length)
    width = least
    while 2 * width <= length:
        apart = [
            max(one.apart(at - width, at, at + width) for one in sums)
            for at in range(width, length - width + 1)
        ]
        for at, value in enumerate(apart):
            near = apart[max(0, at - least // 2) : at + least // 2 + 1]
            if value > enough and value == max(near):
                place = at + width
                found[place] = max(found.get(place, 0.0), value)
        width *= 2
    clearest = sorted(found, key=lambda place: -found[place])[:MOST_CANDIDATES]
    return sorted(clearest)


def _partition(
    sums: Sequence[_Sums], candidates: Sequence[int], free: set[int], length: int, least: int
) -> list[int]:
    """The candidates that squared error and penalty prefer; exact among them.

    Cuts at places in `free` carry no penalty.
    """
    penalty = penalty_of(len(sums), length)
    places = [0, *candidates, length]
    cost = [0.0] + [math.inf] * (len(places) - 1)
    cut = [0] * len(places)
    for end in range(1, len(places)):
        for begin in range(end):
            if places[end] - places[begin] < least or math.isinf(cost[begin]):
                continue
            error = sum(one.error(places[begin], places[end]) for one in sums)
            needed = 0.0 if places[begin] in free else penalty
            if cost[begin] + error + needed < cost[end]:
                cost[end], cut[end] = cost[begin] + error + needed, begin
    cuts = []
    at = cut[-1]
    while at:
        cuts.append(places[at])
        at = cut[at]
    return cuts[::-1]


def _settled(
    sums: Sequence[_Sums], cuts: Sequence[int], fixed: set[int], length: int, least: int
) -> list[int]:
    """Each cut where it explains most between its neighbours, but for those in `fixed`."""
    settled = list(cuts)
    for at in range(len(settled)):
        if settled[at] in fixed:
            continue
        before = settled[at - 1] if at else 0
        after = settled[at + 1] if at + 1 < len(settled) else length
        first = max(before + least, settled[at] - least)
        last = min(after - least, settled[at] + least)
        settled[at] = max(
            range(first, last + 1),
            key=lambda place: sum(one.apart(before, place, after) for one in sums),
            default=settled[at],
        )
    return settled


def _merged(
    signals: Sequence[Signal],
    noises: Sequence[float],
    still: Sequence[_Stillness],
    pieces: list[Piece],
) -> list[Piece]:
    """Without cuts that no reader would care for, the least of them first."""
    largest = [_largest(signal, pieces) for signal in signals]

    def weight(one: Piece, other: Piece) -> float:
        return max(
            _matters(
                signal,
                None if stillness.covers(one) or stillness.covers(other) else noise,
                most,
                one,
                other,
            )
            for signal, noise, stillness, most in zip(signals, noises, still, largest, strict=True)
        )

    weights = [weight(one, other) for one, other in pairwise(pieces)]
    while weights and min(weights) < 1:
        at = weights.index(min(weights))
        pieces[at : at + 2] = [(pieces[at][0], pieces[at + 1][1])]
        del weights[at]
        for near in (at - 1, at):
            if 0 <= near < len(weights):
                weights[near] = weight(pieces[near], pieces[near + 1])
    return pieces


def _largest(signal: Signal, pieces: Sequence[Piece]) -> float:
    levels = [_known(signal, piece) for piece in pieces]
    return max((abs(median(level)) for level in levels if level), default=0.0)


def _known(signal: Signal, piece: Piece) -> list[float]:
    return [value for value in signal.values[slice(*piece)] if value is not None]


def _matters(
    signal: Signal, noise: float | None, largest: float, one: Piece, other: Piece
) -> float:
    """How far two pieces lie apart, in units of what would matter.

    Without noise, where one of them keeps still, that is what nearly all values of both keep apart.
    """
    if min(one[1] - one[0], other[1] - other[0]) < signal.least:
        return 0.0
    low, high = sorted((_known(signal, one), _known(signal, other)), key=lambda v: median(v or [0]))
    if not low or not high:
        return 0.0
    change = LEAST_CHANGE * max(abs(median(low)), abs(median(high)))
    needed = max(signal.floor, change, LEAST_OF_ALL * largest)
    if noise is None:
        apart = _passed(high, 1, MOSTLY) + _passed(low, -1, MOSTLY)
    else:
        # The standard error of a median is 1.25 times that of a mean.
        error = 1.25 * noise * math.sqrt(1 / len(low) + 1 / len(high))
        errors = (2 if min(len(low), len(high)) < SHORT else 1) * LEAST_ERRORS
        needed = max(needed, errors * error)
        apart = _facing(high, 1) + _facing(low, -1)
    return max(0.0, apart) / needed if needed else 0.0


def _passed(level: Sequence[float], sign: int, share: float) -> float:
    """What this share of the values passes, as seen from below (sign 1) or from above (-1)."""
    ordered = sorted(sign * value for value in level)
    return ordered[math.floor((1 - share) * len(ordered))]


def _facing(level: Sequence[float], sign: int) -> float:
    """The level as seen from below (sign 1), or its negative from above (-1).

    The median of a long piece; of a short one what three quarters of it pass, so that a few spikes
    in a row are no level.
    """
    if len(level) < SHORT:
        return _passed(level, sign, 0.75)
    return median_low(sign * value for value in level)
