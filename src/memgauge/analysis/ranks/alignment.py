"""One time for all ranks: what to add to the clock of each run.

Runs of one node have one clock, which began at different moments, each of which is recorded on the
kernel's. Nodes are put beside each other by their wall clocks, which are as far apart as whatever
sets them leaves them: milliseconds, by NTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.analysis.profile.lanes import lanes_of
from memgauge.analysis.profile.timeline import Grid
from memgauge.analysis.ranks.rank_runs import NodeKey, RankRun

MOST_BINS = 600
"""Of a job's timeline; that of a rank alone is finer."""


def offsets_of(ranks: Sequence[RankRun]) -> dict[int, int]:
    """Ns to add to stamps of each rank's run, by rank; those that do not record where are left out.

    The job's time begins anywhere: only differences of it mean something.
    """
    shifts: dict[NodeKey, int] = {}
    found: dict[int, int] = {}
    reference_ns: int | None = None
    for rank in ranks:
        if rank.run is None or rank.place is None or rank.node is None:
            continue
        epoch_ns = rank.run.start.clock.epoch_raw_ns
        # The wall clock when the kernel's raw one showed zero.
        wall_ns = rank.place.wall_ns - rank.place.at_ns - epoch_ns
        reference_ns = wall_ns if reference_ns is None else reference_ns
        shift_ns = shifts.setdefault(rank.node, wall_ns - reference_ns)
        found[rank.rank] = epoch_ns + shift_ns
    return found


class Span(msgspec.Struct, frozen=True):
    """When a rank's program ran, in the job's time."""

    begin_ns: int
    end_ns: int


def spans_of(ranks: Sequence[RankRun], offsets: Mapping[int, int]) -> dict[int, Span]:
    """When each program ran, as far as its run tells; the last reading of one that was killed."""
    found = {}
    for rank in ranks:
        offset_ns, process = offsets.get(rank.rank), rank.process
        if offset_ns is None or process is None or rank.run is None:
            continue
        end_ns = process.end_ns
        if end_ns is None:
            read = [lane.pace.last_ns for lane in lanes_of(rank.run)[0]]
            end_ns = max([process.begin_ns, *read])
        found[rank.rank] = Span(process.begin_ns + offset_ns, end_ns + offset_ns)
    return found


def common_grid(
    ranks: Sequence[RankRun], spans: Mapping[int, Span], most_bins: int = MOST_BINS
) -> Grid | None:
    """Bins over the whole job, in its time; None where nothing of it was read.

    Args:
        ranks: All ranks.
        spans: When the program of each ran.
        most_bins: How many bins there may be.
    """
    intervals = [
        lane.interval_ns
        for rank in ranks
        if rank.run is not None and rank.rank in spans
        for lane in rank.run.lanes
    ]
    begin_ns = min((span.begin_ns for span in spans.values()), default=0)
    end_ns = max((span.end_ns for span in spans.values()), default=0)
    if end_ns <= begin_ns or not intervals:
        return None
    bin_ns = max(min(intervals), -(-(end_ns - begin_ns) // most_bins))
    return Grid(begin_ns=begin_ns, end_ns=end_ns, bin_ns=bin_ns)
