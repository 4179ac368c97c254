"""The timeline of a whole job: the programs' own figures added up, each node's own taken once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import msgspec

from memgauge.analysis.profile.process_lifetime import is_own
from memgauge.analysis.profile.timeline import Grid, Timeline, Traced
from memgauge.analysis.profile.tracks import Track


def whole_timeline(
    grid: Grid, timelines: Mapping[int, Timeline], leaders: Mapping[int, str]
) -> Timeline:
    """All tracks of a job, in its time.

    Args:
        grid: Bins of all the timelines, in the job's time.
        timelines: That of each rank, on those bins.
        leaders: Ranks whose node's tracks are taken, with the name of the node; empty for a job on
            one node.
    """
    own: dict[tuple[str, str, str], list[Traced]] = {}
    of_nodes: list[Traced] = []
    for rank, timeline in timelines.items():
        for traced in timeline.tracks:
            if is_own(traced.track):
                track = traced.track
                own.setdefault((track.name, track.family, track.unit), []).append(traced)
            elif rank in leaders:
                of_nodes.append(_named(traced, leaders[rank]))
    return Timeline(
        begin_ns=grid.begin_ns,
        bin_ns=grid.bin_ns,
        bins=grid.bins,
        end_ns=grid.end_ns,
        tracks=[*map(_unmarked, of_nodes), *(_added(parts) for parts in own.values())],
        doubles=[],
        marks_ns=[grid.begin_ns, grid.end_ns],
        regions=[],
        paces=[],
    )


def _named(traced: Traced, node: str) -> Traced:
    """With the node's name, where there are several."""
    if not node:
        return traced
    track = traced.track
    place = ", ".join(filter(None, (track.place, node)))
    told: Track = msgspec.structs.replace(
        track, name=f"{track.name}, {node}", panel=f"{track.panel}, {node}", place=place
    )
    return msgspec.structs.replace(traced, track=told)


def _unmarked(traced: Traced) -> Traced:
    ends = [(traced.sums[at], traced.covered_s[at]) for at in (0, -1)]
    around = [(total, total) for total, _ in ends]
    return msgspec.structs.replace(traced, at_marks=ends, around_marks=around)


def _added(parts: Sequence[Traced]) -> Traced:
    """The sum over ranks: one that has not begun, or has ended, adds nothing.

    Known wherever it is of any rank. Least and most of a sum are not those of its parts: they are
    left at the mean.
    """
    sums = [sum(values) for values in zip(*(part.sums for part in parts), strict=True)]
    steps = [
        max(after - before for before, after in ends)
        for ends in zip(*(pairwise(part.covered_s) for part in parts), strict=True)
    ]
    covered_s = [*accumulate(steps, initial=0.0)]
    means: list[float | None] = [
        (after - before) / seconds if seconds > 0 else None
        for (before, after), seconds in zip(pairwise(sums), steps, strict=True)
    ]
    even = [_sum([part.even[at] for part in parts]) for at in range(len(steps))]
    return Traced(
        track=parts[0].track,
        interval_ns=max(part.interval_ns for part in parts),
        sums=sums,
        covered_s=covered_s,
        low=means,
        high=means,
        even=even,
        at_marks=[(sums[0], covered_s[0]), (sums[-1], covered_s[-1])],
        around_marks=[(sums[0], sums[0]), (sums[-1], sums[-1])],
        estimates=sum(part.estimates for part in parts),
        went_back=sum(part.went_back for part in parts),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
