"""Which of many differences are more than chance: p values, and the rate of false discoveries.

A p value follows from an interval of 95% (Altman and Bland 2011, taking the log of a ratio as
normal). Of many comparisons some differ by chance; the differences that stand when the share of
false ones among them is held at 5% are found by Benjamini and Hochberg's procedure (1995), which
holds for figures that rise and fall together (Benjamini and Yekutieli 2001).
"""

import math
from collections.abc import Sequence

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import CONFIDENCE, has_interval

NORMAL = 1.959964
"""97.5% point of the normal distribution: half widths of intervals in standard errors."""

FALSE_SHARE = 1 - CONFIDENCE
"""Of the differences found, those that may be false."""


def p_value(estimate: Estimate) -> float | None:
    """Two-sided, that a ratio is 1, from its 95% interval; None without one."""
    if not has_interval(estimate) or estimate.low <= 0:
        return None
    distance = abs(math.log(estimate.value))
    towards = estimate.low if estimate.value > 1 else estimate.high
    error = abs(math.log(estimate.value / towards)) / NORMAL
    if not error:
        return 0.0 if distance else 1.0
    return math.erfc(distance / error / math.sqrt(2))


def stand(p_values: Sequence[float | None], share: float = FALSE_SHARE) -> list[bool]:
    """Which differences stand with `share` of them false (Benjamini and Hochberg 1995)."""
    ordered = sorted(p for p in p_values if p is not None)
    limit = -1.0
    for rank, p in enumerate(ordered, start=1):
        if p <= share * rank / len(ordered):
            limit = p
    return [p is not None and p <= limit for p in p_values]
