"""One recommendation for who must split threads between two memories, with its interval."""

import math
from collections.abc import Sequence

from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.tiers.figures import Contest
from memgauge.analysis.tiers.rules import COARSE, LOSS, PLAIN, Fall, Shape, best_splits, shape_of
from memgauge.analysis.tiers.rules import winners as winners_of
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.units import format_count

MORE_BUDGET = "increase --budget, or measure on a quiet machine"
MORE_SPLITS = "give two --threads or more, and leave --split out"
LEAST_SPLITS = 3
"""Splits: with two there is none between the two memories alone, or nothing to set it beside."""


def between(estimate: Estimate, digits: int = 1) -> str:
    """A share with its interval, such as `0.8% (0.4% to 1.2%)`."""
    value = f"{estimate.value:.{digits}%}"
    if not has_interval(estimate):
        return value
    return f"{value} ({estimate.low:.{digits}%} to {estimate.high:.{digits}%})"


def of_threads(k: int, contest: Contest) -> str:
    """Such as `5 of 16 threads`."""
    return f"{k} of {format_count(contest.threads, 'thread')}"


def all_threads(contest: Contest) -> str:
    """Such as `all 16 threads`."""
    return {1: "the thread", 2: "both threads"}.get(
        contest.threads, f"all {contest.threads} threads"
    )


def advice(contest: Contest, *, several: bool = False) -> Verdict:
    """One recommendation, with its interval."""
    about = f" ({contest.name})" if several else ""
    won = winners_of(contest.gains)
    if won:
        return Verdict(level="good", text=f"{_give_best(contest, won)}{about}.")
    shape = shape_of(contest.sums, guess=contest.published)
    if shape.kind == "not known":
        return Verdict(
            level="warning",
            text=f"Which split is best cannot be determined: {why_not(contest, shape)}{about}.",
            remedy=remedy_for(contest),
        )
    known = f" (the sums are known to {shape.margin:.0%})" if shape.margin > COARSE else ""
    text = f"{_limit(contest, shape)}{known}{_no_gain(contest)}{about}"
    return Verdict(level="good", text=f"{text}.")


def why_not(contest: Contest, shape: Shape) -> str:
    """What hides how the sum goes."""
    if math.isfinite(shape.margin):
        return f"the sums are known to {shape.margin:.0%} only"
    if len(contest.splits) < LEAST_SPLITS:
        return "two splits are too few"
    return "too few passes for intervals"


def remedy_for(contest: Contest) -> str:
    """What makes it known how the sum goes: more time does not make more splits."""
    return MORE_BUDGET if len(contest.splits) >= LEAST_SPLITS else MORE_SPLITS


def _give_best(contest: Contest, won: Sequence[int]) -> str:
    gains = dict(contest.gains)
    best = max(won, key=lambda k: gains[k].value)
    found = best_splits([one for one in contest.sums if one[0] in won], guess=contest.published)
    like = found[1] if found else []
    text = (
        f"Give {of_threads(best, contest)} to B ({contest.b}): together they beat "
        f"{contest.alone_is} by {_less_one(gains[best])}"
    )
    return text + (f"; {listed(like)} in B do as well within the noise" if like else "")


def _less_one(gain: Estimate) -> str:
    return between(Estimate(gain.value - 1, gain.low - 1, gain.high - 1))


def _signed(gain: Estimate) -> str:
    return f"{gain.value - 1:+.1%} ({gain.low - 1:+.1%} to {gain.high - 1:+.1%})"


def _limit(contest: Contest, shape: Shape) -> str:
    fall = shape.fall
    if fall is None:
        lowest = min(contest.sums, key=lambda one: one[1].value)
        best = max(one.value for _, one in contest.sums)
        cost = 1 - lowest[1].value / best
        return (
            f"Give B ({contest.b}) as many of {all_threads(contest)} as its work needs: no "
            f"split costs more than {cost:.1%} of the best sum"
        )
    until = max((k for k, _ in contest.sums if k < fall.start), default=0)
    if until == 0:
        little = _cheap_until(contest, fall)
        return (
            f"Keep {all_threads(contest)} on A ({contest.a}) for the largest sum: with "
            f"{fall.start} in B it already lies {fall.at_start:.1%} lower"
            + (f", with up to {little} less than 5%" if little > fall.start else "")
        )
    return (
        f"Give at most {of_threads(until, contest)} to B ({contest.b}): from {fall.start} on the "
        f"sum lies {_least_fallen(contest, fall):.1%} lower or more"
    )


def _cheap_until(contest: Contest, fall: Fall) -> int:
    """The most threads in B before the sum lies 5% below what it falls from."""
    found = 0
    for k, total in contest.sums:
        if total.value <= fall.level * (1 - LOSS):
            break
        found = k
    return found


def _least_fallen(contest: Contest, fall: Fall) -> float:
    return min(1 - one.value / fall.level for k, one in contest.sums if k >= fall.start)


def _no_gain(contest: Contest) -> str:
    """That no split beats A alone, and by how much at most."""
    if not contest.gains:
        return "; what A reaches alone was not measured"
    k, best = max(contest.gains, key=lambda one: one[1].value)
    source = "" if has_interval(best) else ", by figures without an interval"
    if has_interval(best):
        highest = max(one.high for _, one in contest.gains)
        if best.low <= 1 < highest and highest - 1 > COARSE:
            return (
                f"; whether a split beats {contest.alone_is} cannot be determined (at best, with "
                f"{k}, {_signed(best)})"
            )
        if best.high < 1:
            return f"; no split reaches {contest.alone_is}: the best, {k} in B, {_below(best)}"
        return (
            f"; no split beats {contest.alone_is} by more than {max(highest - 1, PLAIN):.1%}: the "
            f"best, {k} in B, lies at {_signed(best)}"
        )
    if best.value < 1:
        return f"; no split reaches {contest.alone_is}: the best, {k} in B, {_below(best)}{source}"
    return (
        f"; no split beats {contest.alone_is} by more than {best.value - 1:.1%} ({k} in B{source})"
    )


def _below(gain: Estimate) -> str:
    if not has_interval(gain):
        return f"lies {1 - gain.value:.1%} below"
    return f"lies {between(Estimate(1 - gain.value, 1 - gain.high, 1 - gain.low))} below"


def listed(splits: Sequence[int]) -> str:
    """Such as `2, 4 to 6`."""
    return format_cpu_list(list(splits)).replace("-", " to ").replace(",", ", ")
