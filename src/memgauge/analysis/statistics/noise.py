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

Where steps were found, a series looks less noisy and less correlated beside them than it is, since
cuts follow slow noise, the more so the shorter the pieces are. There the correlation of neighbours
is corrected by the bias that it has within pieces (Marriott and Pope, "Bias in the estimation of
autocorrelations", Biometrika 41, 1954: (1 + 3 rho) / n, here for pieces of the mean length) and
taken one standard error larger.

What would invalidate it: a level that moves from place to place without ever staying; noise whose
correlation falls slowly, such as 1/f noise.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA

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

MOST_BESIDE = 0.95
FAR = 3.0
"""Deviations: values farther out count as this far for the correlation of neighbours."""


class Noise(msgspec.Struct, frozen=True):
    """Of a series beside its steps."""

    deviation: float
    """Of independent values whose means would scatter as much."""
    freedom: float
    """Degrees of freedom that are behind it, at least 1."""


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


def noise_beside(levelled: Sequence[float | None], pieces: int, least: float) -> Noise:
    """The long-run noise of a series of which steps were removed.

    Args:
        levelled: Values as distances from the median of their piece; None is missing.
        pieces: How many pieces there are.
        least: Deviation that single values have at least.
    """
    known = [value for value in levelled if value is not None]
    count = len(known)
    spread = MAD_TO_SIGMA * median(map(abs, known)) if known else 0.0
    deviation = max(least, spread * math.sqrt(count / max(1, count - pieces)))
    correlation = _neighbours(levelled, FAR * deviation)
    corrected = correlation + (1 + 3 * max(0.0, correlation)) * pieces / max(1, count)
    corrected += math.sqrt(max(0.0, 1 - correlation**2) / max(1, count))
    rho = min(MOST_BESIDE, max(0.0, corrected))
    ratio = (1 + rho) / (1 - rho)
    return Noise(deviation * math.sqrt(ratio), max(1.0, count / ratio - pieces))


def _neighbours(levelled: Sequence[float | None], far: float) -> float:
    """Of neighbours that are both known."""
    clipped = [None if v is None else max(-far, min(far, v)) for v in levelled]
    pairs = [
        (one, other) for one, other in pairwise(clipped) if one is not None and other is not None
    ]
    squares = sum(one * one + other * other for one, other in pairs) / 2
    return sum(one * other for one, other in pairs) / squares if squares else 0.0
