"""The rising curve nearest to some values, and how far they lie from it.

Least squares under order: neighbours that fall are pooled into their mean until none does (Ayer,
Brunk, Ewing, Reid and Silverman, "An empirical distribution function for sampling with incomplete
information", Annals of Mathematical Statistics 26, 1955); exact.
"""

import math
from collections.abc import Sequence


def rising(values: Sequence[float]) -> list[float]:
    """The values that rise, or stay, and lie nearest to `values` in squares."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            before, of = pools.pop()
            mean, count = (mean * count + before * of) / (count + of), count + of
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


def unevenness(values: Sequence[float]) -> float:
    """Root mean square of what keeps the values from rising; 0 without values."""
    if not values:
        return 0.0
    left = [value - fit for value, fit in zip(values, rising(values), strict=True)]
    return math.sqrt(math.fsum(one * one for one in left) / len(left))
