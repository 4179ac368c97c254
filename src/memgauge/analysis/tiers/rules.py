"""Rules by which the bandwidth of two competing groups is judged, over how its threads are split.

The sum *falls* from the first split on from which every sum lies more than a margin below the
median of those before it, back to the best one and to three of them at least. The median, since the
best of many sums is partly luck; back to the best, since a sum that rose first is not what it falls
from. The price: behind a sharp peak a fall is found a split late. The margin is 1%, or
what noise explains if that is more: the 97.5% point of a sum's distance from so many others. Noise
is that of the figures' own intervals. Published figures have none: there it is estimated from how
far each sum lies from the line between its neighbours (second differences, as Gasser, Sroka and
Jennen-Steinmetz 1986; the median of their sizes, so that a step or a bend does not count). A fall
then needs two sums, for one alone is too easily luck, and of two the 95% point is enough.

What would invalidate it: sums that differ between splits by something else than the split, such as
an unlucky placement of pages that stays for the whole run.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA, has_interval
from memgauge.analysis.statistics.significance import NORMAL, p_value, stand

PLAIN = 0.01
"""A difference below this share matters to nobody."""
LOSS = 0.05
"""What group A may lose before it is reported."""
ONE_SUM = NORMAL
TWO_SUMS = 1.644854
"""97.5% and 95% point of the normal distribution."""
LEVEL_SIGMAS = 3.0
"""To either side of the median: hardly one of some twenty level sums lies further off."""
LEAST_SUMS = 3
LEAST_BEFORE = 3
LEAST_KNOWN = 0.5
"""Share of the sums that must have an interval: rounds that are much alike leave one without."""
LEAST_RESIDUALS = 3
LEAST_FALLEN = 2
"""Sums of a fall where noise is only guessed from the curve."""
COARSE = 0.05
"""A margin beyond it is too wide to call a curve level."""

Sums = Sequence[tuple[int, Estimate]]
"""Number of threads in group B, rising, and what both groups reach together."""


class Noise(msgspec.Struct, frozen=True):
    """Standard deviation of one sum, as a share of it, and whether the curve gave it."""

    share: float
    guessed: bool

    def margin(self, before: int) -> float:
        """How far a sum may lie from the median of so many others by chance, as a share; 1%."""
        sigmas = TWO_SUMS if self.guessed else ONE_SUM
        return max(PLAIN, sigmas * self.share * math.sqrt(1 + 1 / before))


class Fall(msgspec.Struct, frozen=True):
    """Where and how far a sum falls."""

    start: int
    """The first split that lies lower, and with it all after it."""
    level: float
    """GB/s before: the median."""
    at_start: float
    """How far the first lies below it, as a share,"""
    deepest: float
    """and the lowest."""
    deepest_at: int


class Shape(msgspec.Struct, frozen=True):
    """What the sum does as threads move from A to B."""

    kind: Literal["falls", "level", "holds", "not known"]
    """level: all sums lie within the margin about one value. holds: they do not, and none falls for
    good. not known: too few sums, or too noisy."""
    margin: float
    fall: Fall | None = None


def noise_of(sums: Sums, *, guess: bool) -> Noise | None:
    """From the intervals, root mean square; None where half of the sums have none.

    `guess` it from the curve where there are no intervals: of published sums only, since measured
    ones can be measured longer.
    """
    known = [one for _, one in sums if has_interval(one) and one.value > 0]
    if known and len(known) >= LEAST_KNOWN * len(sums):
        squares = [((one.high - one.low) / 2 / NORMAL / one.value) ** 2 for one in known]
        return Noise(math.sqrt(sum(squares) / len(squares)), guessed=False)
    if not guess or known:
        return None
    residuals = [
        _residual(*(sums[at + step] for step in (-1, 0, 1))) for at in range(1, len(sums) - 1)
    ]
    if len(residuals) < LEAST_RESIDUALS:
        return None
    return Noise(median(map(abs, residuals)) * MAD_TO_SIGMA, guessed=True)


def _residual(
    before: tuple[int, Estimate], at: tuple[int, Estimate], after: tuple[int, Estimate]
) -> float:
    """Of a sum from the line between its neighbours, in its own standard deviations, as a share."""
    weight = (after[0] - at[0]) / (after[0] - before[0])
    line = weight * before[1].value + (1 - weight) * after[1].value
    return (at[1].value - line) / math.sqrt(1 + weight**2 + (1 - weight) ** 2) / at[1].value


def shape_of(sums: Sums, *, guess: bool) -> Shape:
    """Whether the sum falls for good, and from where; `guess` as of `noise_of`."""
    noise = noise_of(sums, guess=guess)
    if noise is None or len(sums) < LEAST_SUMS:
        return Shape("not known", math.inf)
    values = [one.value for _, one in sums]
    margin = max(PLAIN, LEVEL_SIGMAS * noise.share)
    fall = _fall(sums, noise)
    if fall is not None:
        return Shape("falls", margin, fall)
    if margin > COARSE:
        return Shape("not known", margin)
    is_level = max(values) - min(values) <= 2 * margin * median(values)
    return Shape("level" if is_level else "holds", margin)


def _fall(sums: Sums, noise: Noise) -> Fall | None:
    splits, values = [k for k, _ in sums], [one.value for _, one in sums]
    best = max(range(len(values)), key=values.__getitem__)
    highest_from = _highest_from(values)
    last = _last_start(sums, noise)
    for start in range(best + 1, last):
        before = values[max(0, min(best, start - LEAST_BEFORE)) : start]
        level = median(before)
        if highest_from[start] < level * (1 - noise.margin(len(before))):
            lowest = min(range(start, len(values)), key=values.__getitem__)
            return Fall(
                start=splits[start],
                level=level,
                at_start=1 - values[start] / level,
                deepest=1 - values[lowest] / level,
                deepest_at=splits[lowest],
            )
    return None


def _last_start(sums: Sums, noise: Noise) -> int:
    """Where a fall must have begun: one sum of it has an interval, or there are two."""
    if noise.guessed:
        return len(sums) - LEAST_FALLEN + 1
    return max(at for at, (_, one) in enumerate(sums) if has_interval(one)) + 1


def _highest_from(values: Sequence[float]) -> list[float]:
    """At each place the highest value there or behind."""
    found = [*values]
    for at in range(len(found) - 2, -1, -1):
        found[at] = max(found[at], found[at + 1])
    return found


def best_splits(sums: Sums, *, guess: bool) -> tuple[int, list[int]] | None:
    """The split with the largest sum, and the others within noise of it.

    None without sums; and where no noise is known, for then all may be the best.
    """
    if not sums:
        return None
    best_k, best = max(sums, key=lambda one: one[1].value)
    noise = noise_of(sums, guess=guess)
    if noise is None:
        return None
    margin = NORMAL * math.sqrt(2) * noise.share
    like = [k for k, one in sums if k != best_k and one.value >= best.value * (1 - margin)]
    return best_k, like


def winners(gains: Sums) -> list[int]:
    """Splits whose sum beats A alone by more than 1% beyond chance, all of them taken together.

    `gains` are ratios to A alone; without intervals none is found.
    """
    standing = stand([p_value(one) for _, one in gains])
    return [
        k
        for (k, one), stands in zip(gains, standing, strict=True)
        if stands and one.low > 1 and one.value > 1 + PLAIN
    ]


class Tolerated(msgspec.Struct, frozen=True):
    """How many threads group B may have before A loses more than 5%."""

    most: int | None
    """None: less than 5% is not even certain with the fewest threads that were measured."""
    loses: int | None
    """The fewest threads with which A surely loses more; None: it never surely does."""


def tolerated(losses: Sums) -> Tolerated:
    """From A's loss as a share, for each number of threads in B from the fewest on."""
    most = None
    for k, loss in losses:
        if (loss.high if has_interval(loss) else loss.value) >= LOSS:
            break
        most = k
    sure = [k for k, loss in losses if (loss.low if has_interval(loss) else loss.value) >= LOSS]
    return Tolerated(most, min(sure, default=None))
