"""Noise of a series whose level may change: its deviation, and how far neighbours share it.

Everything is taken from differences, because a level that changes now and then touches few of them
(Tecuapetla-Gomez and Munk, "Autocovariance estimation in regression with a discontinuous signal and
m-dependent errors", Scandinavian Journal of Statistics 44, 2017); the largest are left out, because
they may be changes.

The correlation of neighbours follows from differences over one place, two and four: the mean
squares of the first two stand to each other as 1 + correlation where noise is autoregressive
(Chakar, Lebarbier, Levy-Leduc and Robin, "A robust approach for estimating change-points in the
mean of an AR(1) process", Bernoulli 23, 2017). What counts for the mean of many values is the
long-run deviation: the one that independent values would need for their means to scatter as much.

What would invalidate it: a level that moves from place to place without ever staying.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

KEPT = ((1, 0.75, 0.5147), (2, 0.5, 0.3247), (4, 0.5, 0.3247))
"""Neighbours of which the mean is taken; share of their differences, the smallest, that noise is
taken from; and the mean of that share of the absolute values of standard normal numbers."""
LONGER = ((8, 0.5, 0.3247), (16, 0.5, 0.3247), (32, 0.5, 0.3247))
"""The same where the level is known not to change."""
LEAST_BLOCKS = 24
"""Means of neighbours tell of drifting noise where there are as many of them."""
MOST_CORRELATED = 0.97
"""Of neighbours: above it noise is a drift, and lasts as long as what it would hide."""
CHANCE = 3.0
"""Over the root of the number of values: by so much the correlation is known at best."""
FEW = 12.0
"""Values of which noise is taken to be twice what it looks."""


def long_run_deviation(values: Sequence[float]) -> float:
    """Deviation of independent values whose means would scatter as those of `values` do.

    Args:
        values: In the order in which they were measured; their level may change between some.
    """
    alone = _from_steps(_steps(values, 1), *KEPT[0][1:]) / math.sqrt(2)
    correlation = correlation_of(values)
    # A sum of AR(1) noise scatters as independent noise of this deviation.
    slow = alone / math.sqrt(1 - correlation) * math.sqrt((1 + correlation) / (1 - correlation))
    found = max(slow, _of_means([values], KEPT[1:]))
    # Few differences tell the noise badly: it may well be larger than it looks.
    return found * (1 + FEW / max(1, len(values)))


def deviation_within(stretches: Sequence[Sequence[float]]) -> float:
    """The same of stretches in each of which the level stays: from means of many neighbours."""
    return _of_means(stretches, (*KEPT[1:], *LONGER))


def correlation_of(values: Sequence[float]) -> float:
    """Of neighbours: the least that differs from what was found by no more than chance, 0 to 0.97.

    The least, because the long-run noise grows without bound where it comes near to 1.
    """
    share, of_normal = KEPT[0][1:]
    one, two, four = (_from_steps(_steps(values, lag), share, of_normal) for lag in (1, 2, 4))
    if min(one, two) <= 0:
        return 0.0
    # Of AR(1) noise the squares are as 1 : 1 + c : (1 + c)(1 + c^2).
    near, far = (two / one) ** 2 - 1, math.sqrt(max(0.0, (four / two) ** 2 - 1))
    found = min(near, far) - CHANCE / math.sqrt(len(values))
    return min(MOST_CORRELATED, max(0.0, found))


def _of_means(
    stretches: Sequence[Sequence[float]], widths: Sequence[tuple[int, float, float]]
) -> float:
    """The largest of what means of neighbours show, of each width that has enough of them."""
    found = 0.0
    for width, share, of_normal in widths:
        steps = [step for values in stretches for step in _steps(_means(values, width), 1)]
        if len(steps) >= LEAST_BLOCKS - 1:
            found = max(found, _from_steps(steps, share, of_normal) * math.sqrt(width / 2))
    return found


def _means(values: Sequence[float], width: int) -> list[float]:
    last = len(values) - width + 1
    return [math.fsum(values[at : at + width]) / width for at in range(0, last, width)]


def _steps(values: Sequence[float], lag: int) -> list[float]:
    if lag == 1:
        return [after - before for before, after in pairwise(values)]
    return [after - before for before, after in zip(values, values[lag:], strict=False)]


def _from_steps(steps: Sequence[float], share: float, of_normal: float) -> float:
    """Standard deviation of normal steps, from the smallest share of their absolute values."""
    ordered = sorted(abs(step) for step in steps)
    kept = ordered[: math.ceil(share * len(ordered))]
    return math.fsum(kept) / len(kept) / of_normal if kept else 0.0
