"""Two groups of threads beside each other as plain data, for `--json`."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.tiers.advice import advice
from memgauge.analysis.tiers.figures import Contest, Split, contests, loss_of
from memgauge.analysis.tiers.rules import best_splits, shape_of, tolerated, winners


class SpreadFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Bandwidth of single iterations over their median."""

    p5: float
    p95: float


class SplitFigures(msgspec.Struct, frozen=True, kw_only=True):
    """So many of the threads in group B. Bandwidth in GB/s, medians over passes."""

    b_threads: int
    a: Figure | None
    """None: no thread is in the group."""
    b: Figure | None
    sum: Figure | None
    sum_sustained: Figure | None
    """90th percentile of the sum over sampling passes."""
    each_of_a: Figure | None
    each_of_b: Figure | None
    sum_over_a_alone: Figure | None
    """None: B has no thread, or A alone was not measured."""
    loss_of_a: Figure | None
    """Share of what all threads reach on A's memory."""
    iterations_of_a: SpreadFigures | None
    """None: too few iterations."""
    iterations_of_b: SpreadFigures | None
    latency_a_ns: Figure | None
    """Of a load from what A reads while both are at work; None: not measured."""
    latency_b_ns: Figure | None
    outside_share: float | None
    """Of the time of all iterations: while not all threads were at work; in no figure."""
    warm_up_share: float | None
    """Iterations left out while threads warmed up, for each that counts."""
    passes: int
    set_aside: int


class TierFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of work by one team in one regime, over all splits."""

    work: str
    """As in the names of points: `copy`, `75r/d0-200`."""
    threads: int
    """Of both groups."""
    regime: str | None
    memory_a: str
    memory_b: str
    fixed_iterations: int | None
    published: bool
    a_alone: Figure | None
    a_alone_is: str
    splits: list[SplitFigures]
    sum: Literal["falls", "level", "holds", "not known"]
    """What the sum does as threads move from A to B; holds: neither level nor falling for good."""
    margin: float | None
    """Share within which a sum is level; None: no noise is known."""
    falls_from: int | None
    """Threads in B from which on the sum lies lower."""
    falls_by: float | None
    """There, as a share of the median before."""
    deepest_fall: float | None
    beats_a_alone: list[int]
    """Splits whose sum does, by more than 1% and beyond chance."""
    costs_least: int | None
    """Of splits with threads in both groups;"""
    like_it: list[int]
    """and those within noise of it."""
    loses_little_up_to: int | None
    """Threads in B with which A loses less than 5%; None: not even with the fewest."""
    loses_more_from: int | None
    """Threads in B with which A surely loses more than 5%; None: with none."""
    advice: str


def tier_figures(figures: Figures) -> list[TierFigures]:
    """Of a run; empty where it holds no competition."""
    return [contest_figures(contest) for contest in contests(figures)]


def contest_figures(contest: Contest) -> TierFigures:
    """One competition, measured or published, as data."""
    shape = shape_of(contest.sums, guess=contest.published)
    fall, margin = shape.fall, shape.margin
    cheapest = best_splits(
        [(split.k, split.total) for split in contest.shared], guess=contest.published
    )
    little = tolerated(contest.losses)
    return TierFigures(
        work=contest.what,
        threads=contest.threads,
        regime=contest.regime or None,
        memory_a=contest.a,
        memory_b=contest.b,
        fixed_iterations=contest.fixed_iterations,
        published=contest.published,
        a_alone=figure(contest.alone),
        a_alone_is=contest.alone_is,
        splits=[_split(contest, split) for split in contest.splits],
        sum=shape.kind,
        margin=margin if margin != float("inf") else None,
        falls_from=fall.start if fall else None,
        falls_by=fall.at_start if fall else None,
        deepest_fall=fall.deepest if fall else None,
        beats_a_alone=winners(contest.gains),
        costs_least=cheapest[0] if cheapest else None,
        like_it=cheapest[1] if cheapest else [],
        loses_little_up_to=little.most,
        loses_more_from=little.loses,
        advice=advice(contest).text,
    )


def _split(contest: Contest, split: Split) -> SplitFigures:
    in_a = contest.threads - split.k
    shares = split.shares
    return SplitFigures(
        b_threads=split.k,
        a=figure(split.a),
        b=figure(split.b),
        sum=figure(split.total),
        sum_sustained=figure(split.sustained),
        each_of_a=figure(scaled(split.a, 1 / in_a)) if in_a else None,
        each_of_b=figure(scaled(split.b, 1 / split.k)) if split.k else None,
        sum_over_a_alone=figure(ratio(split.total, contest.alone)) if split.k else None,
        loss_of_a=figure(loss_of(split, contest.alone)) if split.k else None,
        iterations_of_a=_spread(split.spread_a),
        iterations_of_b=_spread(split.spread_b),
        latency_a_ns=figure(split.latency_a),
        latency_b_ns=figure(split.latency_b),
        outside_share=None if shares is None else shares.outside,
        warm_up_share=None if shares is None else shares.warm_up,
        passes=split.passes,
        set_aside=split.set_aside,
    )


def _spread(spread: Estimate | None) -> SpreadFigures | None:
    return None if spread is None else SpreadFigures(p5=spread.low, p95=spread.high)
