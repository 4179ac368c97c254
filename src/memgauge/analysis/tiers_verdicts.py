"""What two competing groups of threads mean for who must split threads between them, in words."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from memgauge.analysis.intervals import has_interval
from memgauge.analysis.ratios import ratio
from memgauge.analysis.section import Estimate, Verdict
from memgauge.analysis.tiers_rules import COARSE, LOSS, PLAIN, Fall, Shape, best_splits, shape_of
from memgauge.analysis.tiers_rules import tolerated as tolerated_of
from memgauge.analysis.tiers_rules import winners as winners_of
from memgauge.analysis.tiers_splits import Contest
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.units import format_count

SLIGHT = 0.05
"""A fall that never goes deeper is slight."""
MUCH_WIDER = 2.0
WIDE = 0.1
"""Of the median: below it a spread is nobody's trouble."""
OUTSIDE = 0.01
"""Share of a visit that is worth a sentence."""
MOST_ADVICE = 8
MORE_BUDGET = "give more --budget, or measure on a quiet machine"


def verdicts(contests: Sequence[Contest]) -> list[Verdict]:
    """The advice for each, then the first in each regime at length."""
    told = [contest for contest in contests if len(contest.splits) > 1]
    if not told:
        text = "No two splits of the threads have a visit that counts: nothing is told of them."
        remedy = "leave --split out, and measure on a quiet machine"
        return [Verdict(level="warning", text=text, remedy=remedy)]
    found = [advice(contest, several=len(told) > 1) for contest in told[:MOST_ADVICE]]
    if len(told) > MOST_ADVICE:
        text = f"The table holds {len(told) - MOST_ADVICE} more kinds of work, teams and regimes."
        found.append(Verdict(level="note", text=text))
    found += _translation(told)
    firsts = {contest.regime: contest for contest in reversed(told)}
    for contest in [one for one in told if firsts[one.regime] is one]:
        found += _at_length(contest)
    return found


def _at_length(contest: Contest) -> Iterator[Verdict]:
    shape = shape_of(contest.sums, guess=contest.published)
    yield from _shape(contest, shape)
    yield from _cheapest(contest)
    yield from _loss(contest)
    yield from _latency(contest)
    yield from _fluctuation(contest)
    yield from _left_out(contest)


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
    if shape.kind == "not told":
        return Verdict(
            level="warning",
            text=f"Which split is best cannot be told: {_why_not(contest, shape)}{about}.",
            remedy=MORE_BUDGET,
        )
    known = f" (the sums are known to {shape.margin:.0%})" if shape.margin > COARSE else ""
    text = f"{_limit(contest, shape)}{known}{_no_gain(contest)}{about}"
    return Verdict(level="good", text=f"{text}.")


def _why_not(contest: Contest, shape: Shape) -> str:
    if math.isfinite(shape.margin):
        return f"the sums are known to {shape.margin:.0%} only"
    if len(contest.splits) < 3:
        return "two splits are too few"
    return "too few visits for intervals"


def _give_best(contest: Contest, won: Sequence[int]) -> str:
    gains = dict(contest.gains)
    best = max(won, key=lambda k: gains[k].value)
    found = best_splits([one for one in contest.sums if one[0] in won], guess=contest.published)
    like = found[1] if found else []
    text = (
        f"Give {of_threads(best, contest)} to B ({contest.b}): together they beat "
        f"{contest.alone_is} by {_less_one(gains[best])}"
    )
    return text + (f"; {_listed(like)} in B do as well within the noise" if like else "")


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
                f"; whether a split beats {contest.alone_is} cannot be told (at best, with {k}, "
                f"{_signed(best)})"
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


def _shape(contest: Contest, shape: Shape) -> Iterator[Verdict]:
    values = [one.value for _, one in contest.sums]
    fall = shape.fall
    if fall is not None:
        slightly = "only slightly " if fall.deepest < SLIGHT else ""
        start = format_count(fall.start, "thread")
        text = (
            f"The sum of both falls {slightly}from {start} in B on: by {fall.at_start:.1%} there "
            f"and {fall.deepest:.1%} with {fall.deepest_at}, from the "
            f"{fall.level:.1f} GB/s that are usual before"
        )
    elif shape.kind == "level":
        text = (
            f"The sum of both stays level over all splits, within {shape.margin:.1%} about "
            f"{(max(values) + min(values)) / 2:.1f} GB/s"
        )
    elif shape.kind == "holds":
        text = (
            f"The sum of both lies between {min(values):.1f} and {max(values):.1f} GB/s and falls "
            f"for good nowhere"
        )
    else:
        text = f"Whether the sum falls cannot be told: {_why_not(contest, shape)}"
        yield Verdict(level="note", text=f"{text} ({contest.name}).", remedy=MORE_BUDGET)
        return
    yield Verdict(level="note", text=f"{text} ({contest.name}).")


def _cheapest(contest: Contest) -> Iterator[Verdict]:
    """Which split with threads in both groups has the largest sum."""
    shared = [(split.k, split.total) for split in contest.shared]
    found = best_splits(shared, guess=contest.published)
    if found is None or len(shared) < 2:
        return
    k, like = found
    total = dict(shared)[k]
    text = f"Of the splits with threads in both groups {k} in B costs least: {total.value:.1f} GB/s"
    gain = dict(contest.gains).get(k)
    if gain is not None:
        text += f", {between(gain)} of {contest.alone_is}"
    text += f"; {_listed(like)} cannot be told from it" if like else ""
    yield Verdict(level="note", text=f"{text}.")


def _listed(splits: Sequence[int]) -> str:
    return format_cpu_list(list(splits)).replace("-", " to ").replace(",", ", ")


def _loss(contest: Contest) -> Iterator[Verdict]:
    losses = dict(contest.losses)
    if not losses:
        return
    told = tolerated_of(contest.losses)
    whole = f"what {all_threads(contest)} reach on its memory ({contest.alone_is})"
    if told.most is not None:
        text = (
            f"A loses less than 5% of {whole} with up to {told.most} in B: "
            f"{between(losses[told.most])}"
        )
        after = next((k for k in losses if k > told.most), None)
        text += f"; with {after} it loses {between(losses[after])}" if after else ""
    elif told.loses is not None and told.loses == min(losses):
        text = f"With {told.loses} in B A already loses {between(losses[told.loses])} of {whole}"
    else:
        first = min(losses)
        text = (
            f"Whether A loses 5% of {whole} cannot be told: {between(losses[first])}, {first} in B"
        )
    yield Verdict(level="note", text=f"{text}. A thread less is part of it.")


def _translation(contests: Sequence[Contest]) -> Iterator[Verdict]:
    """What translating every element's address leaves of B's bandwidth alone."""
    whole = {(one.what, one.threads, one.regime): one for one in contests}
    for (what, threads, regime), direct in whole.items():
        translated = whole.get((f"{what}-translated", threads, regime))
        found = None if translated is None else ratio(_alone_b(translated), _alone_b(direct))
        if found is not None:
            yield Verdict(
                level="note",
                text=f"Where each element's address is translated anew, {all_threads(direct)} "
                f"reach {between(found)} of what they reach on B's memory ({direct.b}) with "
                f"addresses translated once ({direct.name}): that much is code, not memory.",
            )


def _alone_b(contest: Contest) -> Estimate | None:
    return next((split.b for split in contest.splits if split.k == contest.threads), None)


def _latency(contest: Contest) -> Iterator[Verdict]:
    yield from _latency_of("A", contest.a, [(s.k, s.latency_a) for s in contest.splits])
    yield from _latency_of("B", contest.b, [(s.k, s.latency_b) for s in contest.splits])


def _latency_of(
    group: str, memory: str, cells: Sequence[tuple[int, Estimate | None]]
) -> Iterator[Verdict]:
    told = [(one.value, k) for k, one in cells if one is not None]
    if len(told) > 1:
        (low, low_k), (high, high_k) = min(told), max(told)
        yield Verdict(
            level="note",
            text=f"A load from what {group} reads ({memory}) takes {low:.0f} ns with {low_k} in B "
            f"and {high:.0f} ns with {high_k}, the least and the most of all splits.",
        )


def width(spread: Estimate) -> float:
    """From the 5% to the 95% quantile of single iterations, over their median."""
    return spread.high - spread.low


def _fluctuation(contest: Contest) -> Iterator[Verdict]:
    """Where single iterations of one group vary much more than those of the other."""
    pairs = [
        (width(split.spread_a), width(split.spread_b), split)
        for split in contest.shared
        if split.spread_a is not None and split.spread_b is not None
    ]
    if not pairs:
        return
    a, b = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
    wider, narrower = ("B", "A") if b > a else ("A", "B")
    if max(a, b) < WIDE or max(a, b) < MUCH_WIDER * min(a, b):
        return
    split = max(pairs, key=lambda pair: pair[1] if b > a else pair[0])[2]
    spreads = {"A": split.spread_a, "B": split.spread_b}
    yield Verdict(
        level="note",
        text=f"Threads of {wider} fluctuate: with {split.k} in B nine tenths of their iterations "
        f"run at {_range(spreads[wider])} of the median, those of {narrower} at "
        f"{_range(spreads[narrower])}. How long a piece of work takes there is hard to foretell.",
    )


def _range(spread: Estimate | None) -> str:
    return "" if spread is None else f"{spread.low:.0%} to {spread.high:.0%}"


def _left_out(contest: Contest) -> Iterator[Verdict]:
    shares = [(split.k, split.shares) for split in contest.splits if split.shares is not None]
    if not shares:
        return
    k, most = max(shares, key=lambda one: one[1].outside)
    if contest.fixed_iterations is not None and most.outside > OUTSIDE:
        yield Verdict(
            level="note",
            text=f"Of {contest.fixed_iterations} iterations each, {most.outside:.0%} of the time "
            f"lay outside of the time in which all threads were at work ({k} in B, the most of "
            f"all splits): it is in no figure.",
        )
    k, most = max(shares, key=lambda one: one[1].warm_up)
    if most.warm_up > OUTSIDE:
        yield Verdict(
            level="note",
            text=f"Up to {most.warm_up:.0%} as many iterations as count were left out while "
            f"threads warmed up ({k} in B).",
        )
