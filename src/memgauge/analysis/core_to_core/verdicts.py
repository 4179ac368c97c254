"""What the latencies mean: near and far, groups against claims, moves, contention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.core_to_core.figures import (
    Matrix,
    PairResult,
    TeamResult,
    named_cpus,
)
from memgauge.analysis.core_to_core.groups import FoundLevel, Grouping
from memgauge.analysis.core_to_core.moves import Watched
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.same_rounds import ratio_in_rounds
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.points.core_to_core import FETCH_ADD, STORE, SWAP
from memgauge.model.units import format_count, format_duration

ASYMMETRIC = 0.05
"""Two directions that differ by more, by the whole interval, are called unlike."""


def pair_verdicts(
    figures: Figures, matrix: Matrix, grouping: Grouping | None, watched: Sequence[Watched]
) -> Iterator[Verdict]:
    """Latency first, then groups, then what changed meanwhile.

    Args:
        figures: The run.
        matrix: All pairs that were measured in it.
        grouping: Groups of their CPUs; None: too few pairs were measured to tell.
        watched: Their distances over the rounds, those that changed most first.
    """
    yield from _latency(matrix)
    yield from _groups(matrix, grouping)
    yield from _moves(figures, watched)
    yield from _directions(figures, matrix)
    if not matrix.is_whole:
        yield Verdict(
            level="note",
            text=f"{len(matrix.measured)} of {matrix.pairs_possible} pairs of CPUs were measured; "
            "where a table or a picture stands for others, they are inferred from measured pairs "
            "that share the same by the topology.",
            remedy="increase --pairs and --budget to measure more",
        )


def _latency(matrix: Matrix) -> Iterator[Verdict]:
    found = sorted(matrix.results.get(STORE, {}).values(), key=lambda one: one.ns)
    if not found:
        return
    near, far = found[0], found[-1]
    text = f"A line that another CPU wrote arrives after {_figure(near)}"
    if len(found) > 1:
        text += f" at best ({_cpus(near)}) and {_figure(far)} at worst ({_cpus(far)})"
    swap = matrix.results.get(SWAP, {}).get(near.pair)
    if swap is not None:
        text += f"; by compare-and-swap it takes {swap.ns:.1f} ns between {_cpus(near)}"
    few = not has_interval(near.figure)
    yield Verdict(
        level="note" if few else "good",
        text=f"{text}.",
        remedy="increase --budget" if few else None,
    )


def _figure(result: PairResult) -> str:
    known = result.figure
    if known is None or not has_interval(known):
        return f"{result.ns:.1f} ns (too few samples for an interval)"
    return f"{known.value:.1f} ns ({known.low:.1f}..{known.high:.1f})"


def _cpus(result: PairResult) -> str:
    return f"CPUs {result.pair[0]} and {result.pair[1]}"


def _groups(matrix: Matrix, grouping: Grouping | None) -> Iterator[Verdict]:
    if len(matrix.cpus) < 3:
        yield Verdict(
            level="note",
            text="Which CPUs are near each other cannot be told from one pair: there is no other "
            "distance beside which it is near or far.",
        )
        return
    if grouping is None:
        yield Verdict(
            level="note",
            text="Groups of CPUs cannot be told: too few pairs were measured.",
            remedy="increase --budget",
        )
        return
    for level in grouping.levels:
        yield _level(level)
    missed = grouping.not_found
    if missed:
        names = "; ".join(f"by {one.name}: {named_cpus(one.groups)}" for one in missed)
        yield Verdict(
            level="note",
            text=f"The topology claims groups that latencies do not show ({names}): pairs within "
            "them are not nearer by so much that they form groups of their own.",
        )
    if not grouping.levels and not missed:
        yield Verdict(
            level="good", text="No group of CPUs is nearer than the others, and none is claimed."
        )


def _level(level: FoundLevel) -> Verdict:
    distances = f"{level.within_ns:.0f} ns within, {level.across_ns:.0f} ns across"
    count = format_count(len(level.groups), "group")
    text = f"Latencies show {count} of CPUs, {named_cpus(level.groups)} ({distances})"
    if level.claimed is not None:
        return Verdict(level="good", text=f"{text}: those of one {level.claimed} by the topology.")
    return Verdict(
        level="warning", text=f"{text}: by the topology they share nothing that others do not."
    )


def _moves(figures: Figures, watched: Sequence[Watched]) -> Iterator[Verdict]:
    """What of a host's moves can be told from the distances over the rounds."""
    hypervisor = figures.run.start.system.virtualisation
    known = [one for one in watched if one.samples > 1]
    if not known:
        return
    moved = [one for one in known if one.far_ns is not None and one.changes]
    if moved:
        yield _moved(moved, len(known), hypervisor)
    elif hypervisor:
        longest = max(known, key=lambda one: one.seconds)
        subject = "The pair" if len(known) == 1 else f"Each of {len(known)} pairs"
        yield Verdict(
            level="note",
            text=f"{subject} kept its distance for {format_duration(longest.seconds)}: no move of "
            "a virtual CPU was seen. Moves that leave distances as they are cannot be seen.",
        )


def _moved(moved: Sequence[Watched], known: int, hypervisor: str | None) -> Verdict:
    most = moved[0]
    pair = f"CPUs {most.pair[0]} and {most.pair[1]}"
    far_ns = most.far_ns or 0.0
    text = (
        f"The distance of {pair} changed {format_count(most.changes, 'time')} in "
        f"{format_duration(most.seconds)} between {most.near_ns:.0f} ns "
        f"({most.near_share:.0%} of the samples) and {far_ns:.0f} ns"
    )
    if known > 1:
        text += f", the most of {known} pairs, of which {len(moved)} have two distances"
    cause = (
        "the host moved a virtual CPU at least as often, and at the smaller distance both shared "
        "a core complex"
        if hypervisor
        else "the cause is not known: the threads were pinned, and no hypervisor was detected"
    )
    return Verdict(level="note", text=f"{text}: {cause}.")


def _directions(figures: Figures, matrix: Matrix) -> Iterator[Verdict]:
    """The pair across nodes whose two homes of the line differ most."""
    stores = matrix.results.get(STORE, {})
    found = {}
    for (one, other), there in stores.items():
        back = stores.get((other, one))
        if one < other and back is not None:
            over = ratio_in_rounds(
                figures, (there.point, there.summary), (back.point, back.summary)
            )
            if over is not None and has_interval(over):
                found[one, other] = over
    unlike = {
        pair: over
        for pair, over in found.items()
        if over.low > 1 + ASYMMETRIC or over.high < 1 - ASYMMETRIC
    }
    if not unlike:
        return
    pair = max(unlike, key=lambda pair: max(unlike[pair].value, 1 / unlike[pair].value))
    over = unlike[pair]
    yield Verdict(
        level="note",
        text=f"The node of the line matters: between CPUs {pair[0]} and {pair[1]}, a line on the "
        f"node of {pair[0]} takes {over.value:.2f} ({over.low:.2f}..{over.high:.2f}) times as long "
        f"as one on the node of {pair[1]}.",
    )


def contended_verdicts(teams: Sequence[TeamResult]) -> Iterator[Verdict]:
    """What the largest team reaches together, over one thread alone."""
    added = [team for team in teams if team.operation == FETCH_ADD]
    if not added:
        return
    alone, most = added[0], added[-1]
    reached = most.millions_per_s
    if reached is None or alone.threads != 1 or most.threads == 1:
        return
    share = ratio(reached, alone.millions_per_s)
    text = (
        f"{most.threads} threads that add to one line at once reach {reached.value:.1f} million "
        "additions a second together"
    )
    if share is not None:
        interval = f" ({share.low:.2f}..{share.high:.2f})" if has_interval(share) else ""
        text += f", {share.value:.2f}{interval} times what one thread reaches alone"
    yield Verdict(level="good" if has_interval(reached) else "note", text=f"{text}.")
