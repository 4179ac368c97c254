"""Variances of many figures, each known from few runs, that borrow strength from each other.

The variance of one figure over three runs is hardly known. Over many figures the variances are
taken as draws from one distribution, a scaled inverse chi-square: its scale and its degrees of
freedom follow from mean and variance of the logs of the sample variances (Smyth, *Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments*,
Statistical Applications in Genetics and Molecular Biology 3, 2004). Each figure's variance is then
the mean of its own and of the prior's, by degrees of freedom.

The prior's degrees of freedom are halved. Estimated from few figures they come out too large, and a
figure that varies more than the others would then be called different by chance. Where two degrees
of freedom stand behind each sample variance, an eighth is taken: in simulation with unequal
variances half of them let 10% to 12% of equal sides differ, and an eighth 6% to 9%.

What would invalidate it: two kinds of figures, one of which varies far more than the other; the
prior describes neither.
"""

import math
from collections.abc import Sequence
from statistics import fmean, variance

import msgspec

LEAST_VARIANCE = 1e-8
"""Of a log: a standard deviation of 0.01%. Values that repeat better are rounded, not certain."""

HALF = 0.5
"""Of the prior's degrees of freedom, those that count;"""
OF_FEW = 0.125
"""and those where the sample variances have only so many degrees of freedom:"""
FEW = 2


class Moderated(msgspec.Struct, frozen=True):
    """The variance of each figure, and how well these are known."""

    variances: list[float]
    freedom: float
    """Degrees of freedom of each."""


def moderated(variances: Sequence[float], freedom: int) -> Moderated:
    """Sample variances, each drawn towards what is common to all.

    Args:
        variances: Of each figure, at least two of them.
        freedom: Degrees of freedom of each sample variance, above 0.
    """
    floored = [max(one, LEAST_VARIANCE) for one in variances]
    scale, prior = _prior(floored, freedom)
    prior *= HALF if freedom > FEW else OF_FEW
    total = prior + freedom
    return Moderated(
        [(prior * scale + freedom * one) / total for one in floored],
        min(total, float(freedom * len(floored))),
    )


def _prior(variances: Sequence[float], freedom: int) -> tuple[float, float]:
    """Scale and degrees of freedom; those of all figures together where all vary alike."""
    half = freedom / 2
    logs = [math.log(one) - digamma(half) + math.log(half) for one in variances]
    left = variance(logs) - trigamma(half)
    if left <= 0:
        return math.exp(fmean(logs)), float(freedom * len(variances))
    prior = 2 * inverse_trigamma(left)
    scale = math.exp(fmean(logs) + digamma(prior / 2) - math.log(prior / 2))
    return scale, prior


_ASYMPTOTIC_FROM = 10.0


def digamma(x: float) -> float:
    """Derivative of the log of the gamma function, for x above 0 (DLMF 5.5.2 and 5.11.2)."""
    below = 0.0
    while x < _ASYMPTOTIC_FROM:
        below += 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return math.log(x) - 0.5 / x - series - below


def trigamma(x: float) -> float:
    """Derivative of the digamma function, for x above 0."""
    below = 0.0
    while x < _ASYMPTOTIC_FROM:
        below += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = square / x * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return 1 / x + square / 2 + series + below


def inverse_trigamma(y: float) -> float:
    """The x above 0 whose trigamma is y; by halving, since trigamma falls."""
    low, high = 1e-8, 1e8
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > y else (low, middle)
    return math.sqrt(low * high)
