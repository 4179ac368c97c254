"""How alike ranks are: each figure and each marked region over all of them.

Imbalance is the most over the mean, less one (Pearce and others, "Quantifying the Effectiveness of
Load Balance Algorithms", ICS 2012, section 3): 0 where all are alike; of times, the share by which
the slowest rank exceeds what an even distribution would take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import fmean, median

import msgspec

from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.process_lifetime import is_own
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.ranks.job import Job
from memgauge.model.record_kinds.programs import Region
from memgauge.model.text import plain

MOST_REGIONS = 100
"""Names of regions that are compared, those that take longest."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over ranks."""

    name: str
    unit: str
    ranks: int
    """Of which it is known."""
    least: float
    least_rank: int
    median: float
    most: float
    most_rank: int
    imbalance: float | None
    """The most over the mean, less one; None where the mean is 0."""


class RegionSpread(msgspec.Struct, frozen=True, kw_only=True):
    """A marked region over ranks: seconds in which a rank was in it, in any of its threads."""

    spread: Spread
    times: int
    """How often ranks were in it, the most of any."""
    first_s: float
    """From the begin of the job to the first of its first begins,"""
    apart_s: float
    """and from there to the last rank's."""


def spread_of(name: str, unit: str, values: Mapping[int, float | None]) -> Spread | None:
    """A figure over the ranks of which it is known; None without any.

    Args:
        name: What it is.
        unit: Its unit; empty for a count.
        values: By rank.
    """
    known = {rank: value for rank, value in values.items() if value is not None}
    if not known:
        return None
    least = min(known, key=lambda rank: known[rank])
    most = max(known, key=lambda rank: known[rank])
    mean = fmean(known.values())
    return Spread(
        name=name,
        unit=unit,
        ranks=len(known),
        least=known[least],
        least_rank=least,
        median=median(known.values()),
        most=known[most],
        most_rank=most,
        imbalance=known[most] / mean - 1 if mean > 0 else None,
    )


def cpu_seconds(job: Job, rank: int) -> float | None:
    """Processor time of a rank's program and all it started."""
    timeline = job.timelines.get(rank)
    return None if timeline is None else _seconds(roles_of(timeline).cpu)


def waiting_seconds(job: Job, rank: int) -> float | None:
    """How long threads of a rank's program could have run, and had no processor."""
    timeline = job.timelines.get(rank)
    return None if timeline is None else _seconds(roles_of(timeline).waiting)


def _seconds(tracks: Sequence[Traced]) -> float | None:
    """Of all together, where each is known."""
    totals = [traced.total(0, len(traced.sums) - 1) for traced in tracks]
    known = [total for total in totals if total is not None]
    return sum(known) if known and len(known) == len(totals) else None


def most_resident(job: Job, rank: int) -> float | None:
    """The most memory that a rank's program was seen to have, in bytes."""
    timeline = job.timelines.get(rank)
    tracks = [] if timeline is None else roles_of(timeline).resident
    known = [value for traced in tracks for value in traced.high if value is not None]
    return max(known, default=None)


def spreads_of(job: Job) -> list[Spread]:
    """Every figure of the programs themselves: their time, then what was counted of them."""
    numbers = [rank.rank for rank in job.ranks]
    found = [
        spread_of("run time", "s", {rank: job.lasts_s(rank) for rank in numbers}),
        spread_of("CPU time", "s", {rank: cpu_seconds(job, rank) for rank in numbers}),
        spread_of("most resident", "B", {rank: most_resident(job, rank) for rank in numbers}),
        *_counted(job),
    ]
    return [spread for spread in found if spread is not None]


def _counted(job: Job) -> Iterator[Spread | None]:
    """Totals of each counter of the programs' own."""
    names: dict[tuple[str, str], dict[int, float | None]] = {}
    for rank, timeline in job.timelines.items():
        shown = [traced.track.name for traced in roles_of(timeline).cpu]
        for traced in timeline.tracks:
            track = traced.track
            if is_own(track) and not track.gauge and (len(shown) > 1 or track.name not in shown):
                key = (plain(track.name), track.counters[0].unit)
                names.setdefault(key, {})[rank] = _total(traced)
    for (name, unit), values in names.items():
        if any(values.values()):
            yield spread_of(name, unit, values)


def _total(traced: Traced) -> float | None:
    return traced.total(0, len(traced.sums) - 1)


def region_spreads(job: Job) -> list[RegionSpread]:
    """Marked regions by name, those that take longest first."""
    found: dict[str, dict[int, list[Region]]] = {}
    for rank, timeline in job.timelines.items():
        for region in timeline.regions:
            found.setdefault(plain(region.name), {}).setdefault(rank, []).append(region)
    spreads = [_region(job, name, by_rank) for name, by_rank in found.items()]
    return sorted(spreads, key=lambda one: -one.spread.most)[:MOST_REGIONS]


def _region(job: Job, name: str, by_rank: Mapping[int, Sequence[Region]]) -> RegionSpread:
    begins = {
        rank: (min(region.begin_ns for region in regions) - job.timelines[rank].begin_ns) * 1e-9
        for rank, regions in by_rank.items()
    }
    # A rank that never was in it spent no time there.
    values = {
        rank: seconds_in(by_rank.get(rank, ()), timeline)
        for rank, timeline in job.timelines.items()
    }
    spread = spread_of(name, "s", values)
    if spread is None:
        raise ValueError(f"region {name} of no rank")
    return RegionSpread(
        spread=spread,
        times=max(map(len, by_rank.values())),
        first_s=min(begins.values()),
        apart_s=max(begins.values()) - min(begins.values()),
    )


def seconds_in(regions: Sequence[Region], timeline: Timeline) -> float:
    """Time in which at least one of the regions was open."""
    ends = [(r.begin_ns, timeline.end_ns if r.end_ns is None else r.end_ns) for r in regions]
    ends.sort()
    reached = accumulate((end for _, end in ends), max, initial=timeline.begin_ns)
    return (
        sum(
            max(0, end - max(begin, before))
            for (begin, end), before in zip(ends, reached, strict=False)
        )
        * 1e-9
    )
