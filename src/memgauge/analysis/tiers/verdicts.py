"""What two competing groups of threads mean for who must split threads between them."""

from collections.abc import Iterator, Sequence
from statistics import median

from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.tiers.advice import (
    advice,
    all_threads,
    between,
    listed,
    remedy_for,
    why_not,
)
from memgauge.analysis.tiers.figures import Contest
from memgauge.analysis.tiers.rules import Shape, best_splits, shape_of
from memgauge.analysis.tiers.rules import tolerated as tolerated_of
from memgauge.model.units import format_count

SLIGHT = 0.05
"""A fall that never goes deeper is slight."""
MUCH_WIDER = 2.0
WIDE = 0.1
"""Of the median: a smaller spread matters to nobody."""
OUTSIDE = 0.01
"""Share of a sampling pass that is worth a sentence."""
MOST_ADVICE = 8


def verdicts(contests: Sequence[Contest]) -> list[Verdict]:
    """The advice for each, then the first in each regime at length."""
    known = [contest for contest in contests if len(contest.splits) > 1]
    if not known:
        text = "No two splits of the threads have a usable sample: nothing is known about them."
        alone = any(contest.splits for contest in contests)
        remedy = "omit --split, and " if alone else "increase --budget, use fewer --threads, or "
        remedy += "measure on a quiet machine"
        return [Verdict(level="warning", text=text, remedy=remedy)]
    found = [advice(contest, several=len(known) > 1) for contest in known[:MOST_ADVICE]]
    if len(known) > MOST_ADVICE:
        more = format_count(len(known) - MOST_ADVICE, "more combination")
        text = f"The table lists {more} of workload, team and regime."
        found.append(Verdict(level="note", text=text))
    found += _translation(known)
    firsts = {contest.regime: contest for contest in reversed(known)}
    for contest in [one for one in known if firsts[one.regime] is one]:
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
        text = f"Whether the sum falls cannot be determined: {why_not(contest, shape)}"
        yield Verdict(level="note", text=f"{text} ({contest.name}).", remedy=remedy_for(contest))
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
    text += f"; {listed(like)} cannot be distinguished from it" if like else ""
    yield Verdict(level="note", text=f"{text}.")


def _loss(contest: Contest) -> Iterator[Verdict]:
    losses = dict(contest.losses)
    if not losses:
        return
    known = tolerated_of(contest.losses)
    whole = f"what {all_threads(contest)} reach on its memory ({contest.alone_is})"
    if known.most is not None:
        text = (
            f"A loses less than 5% of {whole} with up to {known.most} in B: "
            f"{between(losses[known.most])}"
        )
        after = next((k for k in losses if k > known.most), None)
        text += f"; with {after} it loses {between(losses[after])}" if after else ""
    elif known.loses is not None and known.loses == min(losses):
        text = f"With {known.loses} in B A already loses {between(losses[known.loses])} of {whole}"
    else:
        first = min(losses)
        text = (
            f"Whether A loses 5% of {whole} cannot be determined: {between(losses[first])}, "
            f"{first} in B"
        )
    yield Verdict(
        level="note", text=f"{text}. This includes the effect of having one thread fewer."
    )


def _translation(contests: Sequence[Contest]) -> Iterator[Verdict]:
    """What translating every element's address leaves of B's bandwidth alone."""
    whole = {(one.what, one.threads, one.regime): one for one in contests}
    for (what, threads, regime), direct in whole.items():
        translated = whole.get((f"{what}-translated", threads, regime))
        found = None if translated is None else ratio(_alone_b(translated), _alone_b(direct))
        if found is not None:
            yield Verdict(
                level="note",
                text="If each element's address is translated at each access, "
                f"{all_threads(direct)} reach {between(found)} of what they reach on B's "
                f"memory ({direct.b}) with addresses translated once ({direct.name}): this "
                "difference comes from the code, not from the memory.",
            )


def _alone_b(contest: Contest) -> Estimate | None:
    return next((split.b for split in contest.splits if split.k == contest.threads), None)


def _latency(contest: Contest) -> Iterator[Verdict]:
    yield from _latency_of("A", contest.a, [(s.k, s.latency_a) for s in contest.splits])
    yield from _latency_of("B", contest.b, [(s.k, s.latency_b) for s in contest.splits])


def _latency_of(
    group: str, memory: str, latencies: Sequence[tuple[int, Estimate | None]]
) -> Iterator[Verdict]:
    known = [(one.value, k) for k, one in latencies if one is not None]
    if len(known) > 1:
        (low, low_k), (high, high_k) = min(known), max(known)
        yield Verdict(
            level="note",
            text=f"A load from the memory that {group} reads ({memory}) takes between {low:.0f} "
            f"ns, with {format_count(low_k, 'thread')} in B, and {high:.0f} ns, with {high_k}.",
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
        text=f"The speed of threads in {wider} fluctuates: with "
        f"{format_count(split.k, 'thread')} in B, nine tenths of their "
        f"iterations run at {_range(spreads[wider])} of the median, those of {narrower} at "
        f"{_range(spreads[narrower])}. The time that a piece of work takes there cannot be "
        f"predicted well.",
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
            text=f"With {contest.fixed_iterations} iterations per thread, {most.outside:.0%} of "
            "the time lay outside the time in which all threads were at work "
            f"({format_count(k, 'thread')} in B, the largest share of all splits); no figure "
            "includes it.",
        )
    k, most = max(shares, key=lambda one: one[1].warm_up)
    if most.warm_up > OUTSIDE:
        yield Verdict(
            level="note",
            text=f"Up to {most.warm_up:.0%} of the number of counted iterations were left out in "
            f"addition, while threads warmed up ({format_count(k, 'thread')} in B).",
        )
