"""A job of ranks, analysed once: its time, its nodes, the timeline of each rank and of all."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.profile.phases import Activity, Phase, activity_of, phases_of, roles_of
from memgauge.analysis.profile.timeline import Grid, Timeline, timeline_of
from memgauge.analysis.ranks.alignment import Span, common_grid, offsets_of, spans_of
from memgauge.analysis.ranks.rank_runs import NodeKey, RankRun
from memgauge.analysis.ranks.whole import whole_timeline
from memgauge.model.text import plain


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All ranks over one time."""

    ranks: list[RankRun]
    """All of the job, also those without a run."""
    nodes: dict[NodeKey, str]
    """A name for each node, in the order of their first ranks."""
    offsets: dict[int, int]
    """Ns from a run's clock to the job's time, by rank."""
    spans: dict[int, Span]
    """When the program of each rank ran, as far as known."""
    grid: Grid | None
    timelines: dict[int, Timeline]
    """Of each rank, on the bins of the grid, on the clock of its run."""
    leaders: dict[int, RankRun]
    """The ranks whose runs hold what is counted of a whole node: one a node."""
    whole: Timeline | None
    """Of all ranks; None where nothing was read."""
    phases: list[Phase]
    """Of the whole."""
    notes: list[str]
    """What was left out, a clause each."""

    def name_of(self, rank: RankRun) -> str:
        """The node of a rank; empty if it is not recorded."""
        return "" if rank.node is None else self.nodes[rank.node]

    def begins_s(self, rank: int) -> float | None:
        """From the begin of the job to that of a rank's program."""
        span = self.spans.get(rank)
        if span is None:
            return None
        return (span.begin_ns - min(one.begin_ns for one in self.spans.values())) * 1e-9

    def lasts_s(self, rank: int) -> float | None:
        """How long a rank's program ran."""
        span = self.spans.get(rank)
        return None if span is None else (span.end_ns - span.begin_ns) * 1e-9

    def activity(self, rank: int, phase: Phase) -> Activity:
        """What a rank's program did in a phase of the job."""
        timeline = self.timelines.get(rank)
        if timeline is None:
            return Activity()
        return activity_of(timeline, roles_of(timeline), phase.begin_bin, phase.end_bin)


def job_of(ranks: Sequence[RankRun]) -> Job:
    """The ranks of a job, analysed; works on one that was killed at any moment."""
    offsets = offsets_of(ranks)
    spans = spans_of(ranks, offsets)
    grid = common_grid(ranks, spans)
    nodes = _named(list(dict.fromkeys(rank.node for rank in ranks if rank.node is not None)))
    timelines: dict[int, Timeline] = {}
    notes: list[str] = []
    for rank in ranks:
        if grid is None or rank.run is None or rank.rank not in spans:
            continue
        made, left_out = timeline_of(rank.run, grid=grid.shifted(-offsets[rank.rank]))
        notes += [f"rank {rank.rank}: {note}" for note in left_out]
        if made is not None:
            timelines[rank.rank] = made
    leaders = _leaders(ranks)
    shown = {
        number: nodes[rank.node] if len(nodes) > 1 and rank.node is not None else ""
        for number, rank in leaders.items()
    }
    whole = whole_timeline(grid, timelines, shown) if grid is not None and timelines else None
    return Job(
        ranks=[*ranks],
        nodes=nodes,
        offsets=offsets,
        spans=spans,
        grid=grid,
        timelines=timelines,
        leaders=leaders,
        whole=whole,
        phases=phases_of(whole) if whole is not None and whole.tracks else [],
        notes=notes,
    )


def _leaders(ranks: Sequence[RankRun]) -> dict[int, RankRun]:
    """The first rank of each node that says it leads."""
    found: dict[NodeKey, RankRun] = {}
    for rank in ranks:
        if rank.place is not None and rank.node is not None and rank.place.leads:
            found.setdefault(rank.node, rank)
    return {rank.rank: rank for rank in found.values()}


def _named(nodes: Sequence[NodeKey]) -> dict[NodeKey, str]:
    names: dict[NodeKey, str] = {}
    for node in nodes:
        name = plain(node[0].partition(".")[0]) or "node"
        alike = sum(1 for other in names if other[0].partition(".")[0] == node[0].partition(".")[0])
        names[node] = name if not alike else f"{name} ({alike + 1})"
    return names
