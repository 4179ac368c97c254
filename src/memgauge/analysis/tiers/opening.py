"""What the page of two memories in competition begins with: who should get how many threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.section import AnswerFigure, AnswerLine, Cell
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.tiers.advice import advice, between, of_threads
from memgauge.analysis.tiers.figures import Contest
from memgauge.analysis.tiers.rules import best_splits, tolerated
from memgauge.model.units import format_count

MOST_ADVICE = 2
"""Regimes or kinds of work with a line each; verdicts have the others."""


def opening(contests: Sequence[Contest]) -> list[AnswerLine]:
    """The advice, then each memory alone, the best of both, and what A may give; of the first."""
    known = [contest for contest in contests if len(contest.splits) > 1]
    if not known:
        return [_cannot_be_told("Split", "no two splits of the threads have a usable sample")]
    first = known[0]
    return [*_advice(known), *_alone(first), *_together(first), *_kept(first)]


def _advice(known: Sequence[Contest]) -> Iterator[AnswerLine]:
    for at, contest in enumerate(known[:MOST_ADVICE]):
        said = advice(contest, several=len(known) > 1).text.removesuffix(".")
        yield AnswerLine(label="" if at else "Split", figures=[], detail=said)


def _alone(contest: Contest) -> Iterator[AnswerLine]:
    alone_b = next((split.b for split in contest.splits if split.k == contest.threads), None)
    found = [(f"A ({contest.a})", contest.alone), (f"B ({contest.b})", alone_b)]
    figures = [_figure(name, value, contest) for name, value in found if value is not None]
    if figures:
        as_measured = "" if contest.alone_is == "A alone" else f"; A: {contest.alone_is}"
        yield AnswerLine(
            label="Alone", figures=figures, detail=f"all of {contest.name}{as_measured}"
        )


def _together(contest: Contest) -> Iterator[AnswerLine]:
    """Of the splits with threads in both groups, the one with the largest sum."""
    shared = contest.shared
    if not shared:
        return
    best = best_splits([(split.k, split.total) for split in shared], guess=contest.published)
    if best is None:
        yield _cannot_be_told("Together", "too few passes show which split has the largest sum")
        return
    k, like = best
    split = next(split for split in shared if split.k == k)
    found = [("sum", split.total), ("A", split.a), ("B", split.b)]
    others = f"; {format_count(len(like), 'other split')} cannot be told from it" if like else ""
    yield AnswerLine(
        label="Together",
        figures=[_figure(name, value, contest) for name, value in found if value is not None],
        detail=f"with {of_threads(k, contest)} in B, the largest sum of both{others}",
    )


def _kept(contest: Contest) -> Iterator[AnswerLine]:
    """How many threads B may have before A loses more than 5%."""
    losses = dict(contest.losses)
    if not losses:
        return
    known = tolerated(contest.losses)
    first = min(losses)
    if known.most is not None:
        said = f"less than 5% with up to {known.most} in B: {between(losses[known.most])}"
    elif known.loses == first:
        said = f"{between(losses[first])} with {first} in B already"
    else:
        said = f"whether 5% or more cannot be told: {between(losses[first])} with {first} in B"
    yield AnswerLine(
        label="A loses", figures=[], detail=f"{said}, of what all threads reach on its memory"
    )


def _figure(name: str, value: Estimate, contest: Contest) -> AnswerFigure:
    """Published figures have no interval to be shown."""
    shown: Cell = value.value if contest.published else value
    return AnswerFigure(name=name, value=shown, unit="GB/s")


def _cannot_be_told(label: str, why: str) -> AnswerLine:
    return AnswerLine(label=label, figures=[], detail=f"cannot be told: {why}")
