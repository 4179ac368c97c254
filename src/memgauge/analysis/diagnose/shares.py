"""From paired slowdowns to shares of time, with intervals that assume no distribution.

Under pressure a program takes p times as long as beside arithmetic, in the same round, and a
reference that does nothing but wait for memory r times as long. A program that waits for memory for
a share s of its time, and for nothing else that pressure reaches, takes p = 1 + s (r - 1). So each
round gives s = (p - 1) / (r - 1).

Where errors of p and r are symmetric, p - 1 - s (r - 1) is symmetric about 0 at the true s in every
round, whatever the pressure was in it: each round's s lies above the true one with probability 1/2,
as often as p - 1 - s (r - 1) is above 0, as long as r is above 1. The interval between two order
statistics of these s holds by the sign test (David and Nagaraja, Order Statistics, 3rd edition,
7.1), and it holds the uncertainty of the reference too. A round in which the reference did not slow
down tells nothing of s that is finite: it counts as a value beyond all others, on the side that its
p - 1 is on, so that weak pressure widens the interval instead of moving it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import paired

LEAST_ROUNDS = 8
"""Below it no share is given: six would do for an interval, of no use."""


def slowdown(ratios: Sequence[float], confidence: float = 0.95) -> Estimate | None:
    """Median with its interval; None: too few rounds.

    Args:
        ratios: Time under a treatment over that under its baseline, of each round.
        confidence: Of the interval, from 0 to 1.
    """
    return None if len(ratios) < LEAST_ROUNDS else paired(ratios, confidence)


def share(slowdowns: Sequence[tuple[float, float]], confidence: float = 0.95) -> Estimate | None:
    """Share of time for which a program behaves like a reference; above 1 if it is hurt more.

    Args:
        slowdowns: (of the program, of the reference) of each round; 1 is no slowdown.
        confidence: Of the interval, from 0 to 1.

    Returns:
        None: too few rounds, or so weak a pressure that an end of the interval is not finite.
    """
    if len(slowdowns) < LEAST_ROUNDS:
        return None
    ordered = sorted(_of_round(program, reference) for program, reference in slowdowns)
    found = _order_interval(ordered, confidence)
    if found is None or not all(map(math.isfinite, found)):
        return None
    return Estimate(median(ordered), *found)


def spanning(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """From the least to the most that any of them allows, and the middle of their values.

    It holds what is true wherever any of them does.

    Args:
        estimates: One at least.

    Returns:
        None: one of them is not known.
    """
    return _spanning(estimates, math.inf)


def spanning_shares(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """The same of shares of a program's time, which is never more than all of it.

    A share above 1 is not possible: pressure slows that reference down by less than what the
    program does. Where another reference allows 1 or less, the interval ends at 1, and holds the
    true share as often as before. Where all give more, the least of them is left as it is.

    Args:
        estimates: By several references; one at least.

    Returns:
        None: one of them is not known.
    """
    return _spanning(estimates, 1.0)


def _spanning(estimates: Sequence[Estimate | None], most: float) -> Estimate | None:
    known = [one for one in estimates if one is not None]
    if len(known) < len(estimates):
        return None
    values = [one.value for one in known]
    highs = [one.high for one in known]
    least = min(values)
    return Estimate(
        (least + max(least, min(most, max(values)))) / 2,
        min(one.low for one in known),
        max(min(highs), min(most, max(highs))),
    )


def _of_round(program: float, reference: float) -> float:
    if reference > 1:
        return (program - 1) / (reference - 1)
    return math.copysign(math.inf, program - 1)


def _order_interval(ordered: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """The two of the ordered values between which `paired` puts its interval."""
    ranks = paired([float(place) for place in range(len(ordered))], confidence)
    return None if ranks is None else (ordered[int(ranks.low)], ordered[int(ranks.high)])
