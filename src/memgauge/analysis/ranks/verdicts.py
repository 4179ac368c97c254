"""Verdicts on a job of ranks: what is missing, who failed, who is slowest, how uneven it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.profile.moments import begins, lasts
from memgauge.analysis.ranks.job import Job
from memgauge.analysis.ranks.rank_runs import RankRun, crowded, missing, named, why_not_watched
from memgauge.analysis.ranks.sockets import THROUGHOUT, SocketGroup
from memgauge.analysis.ranks.spreads import (
    RegionSpread,
    Spread,
    cpu_seconds,
    spread_of,
    waiting_seconds,
)
from memgauge.analysis.ranks.tables import ending_of
from memgauge.analysis.section import Verdict
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.text import plain
from memgauge.model.units import format_count, format_duration

UNEVEN = 0.1
"""Imbalance that is a warning."""
LEAST_OVER = 0.01
"""Of the run time: an excess over the mean of less is none."""
LEAST_WAITING = 0.1
"""Of the run time: waiting for a processor that is a warning."""
LATE_S = 0.5
LATE_SHARE = 0.02
"""Of the job: a rank that begins so much after the first began late."""
MOST_NOTES = 6


def verdicts_of(
    job: Job, groups: Sequence[SocketGroup], regions: Sequence[RegionSpread]
) -> list[Verdict]:
    """All verdicts on a job, whatever of it is there.

    Args:
        job: The job.
        groups: Its sockets.
        regions: Its marked regions over ranks.
    """
    times = spread_of("run time", "s", {rank.rank: job.lasts_s(rank.rank) for rank in job.ranks})
    return [
        *missing(job.ranks),
        *_failed(job),
        *_slowest(job, regions, times),
        *_waiting(job, times),
        *_late(job),
        *_crowded(job),
        *_phases(job),
        *_not_counted(job, groups),
        *_in_part(groups),
        *_clocks(job),
        *(Verdict(level="warning", text=f"{plain(note)}.") for note in job.notes[:MOST_NOTES]),
    ]


def _failed(job: Job) -> Iterator[Verdict]:
    """Programs that did not exit with 0, those that ended alike together, the first to end first.

    A launcher ends the other ranks when one has failed: the first is where to look.
    """
    endings: dict[str, list[int]] = {}
    ended = [rank for rank in job.ranks if _has_failed(rank)]
    ended.sort(key=lambda rank: job.spans[rank.rank].end_ns if rank.rank in job.spans else 0)
    for rank in ended:
        endings.setdefault(ending_of(rank) or "", []).append(rank.rank)
    for at, (ending, numbers) in enumerate(endings.items()):
        what, _, number = ending.partition(" ")
        how = f"ended by signal {number}" if what == "signal" else f"exited with {number}"
        whose = "their programs" if len(numbers) > 1 else "its program"
        first = ", before the others" if at == 0 and len(endings) > 1 else ""
        yield Verdict(level="problem", text=f"{named(sorted(numbers))}: {whose} {how}{first}.")


def _has_failed(rank: RankRun) -> bool:
    process = rank.process
    return process is not None and (process.signal is not None or bool(process.exit_code))


def _slowest(job: Job, regions: Sequence[RegionSpread], times: Spread | None) -> Iterator[Verdict]:
    """The rank that others wait for, as far as anything shows it."""
    numbers = [rank.rank for rank in job.ranks]
    cpu = spread_of("CPU time", "s", {rank: cpu_seconds(job, rank) for rank in numbers})
    if times is not None and times.ranks > 1:
        last = max(job.spans, key=lambda rank: job.spans[rank].end_ns)
        first = min(job.spans, key=lambda rank: job.spans[rank].end_ns)
        apart_s = (job.spans[last].end_ns - job.spans[first].end_ns) * 1e-9
        yield Verdict(
            level="note",
            text=f"{format_count(times.ranks, 'rank')} ran for {format_duration(times.least)} to "
            f"{format_duration(times.most)}; rank {last} ended last, "
            f"{format_duration(apart_s)} after rank {first}, the first.",
        )
    if cpu is not None and cpu.ranks > 1 and cpu.imbalance is not None:
        yield _uneven(
            cpu,
            0.0 if times is None else times.most,
            f"Processor time is uneven by {cpu.imbalance:.0%}: rank {cpu.most_rank} has most, "
            f"{format_duration(cpu.most)}, and rank {cpu.least_rank} least, "
            f"{format_duration(cpu.least)}."
            + ("" if regions else " An MPI library that waits actively hides who waits."),
            None if regions else "mark regions (docs/profile.md) to compare the work itself",
        )
    uneven = [one for one in regions if (one.spread.imbalance or 0.0) > UNEVEN]
    # What matters is the time that the others could be spared.
    uneven.sort(key=lambda one: one.spread.median - one.spread.most)
    for one in uneven[:3]:
        spread = one.spread
        yield Verdict(
            level="warning",
            text=f"{spread.name}: rank {spread.most_rank} takes {format_duration(spread.most)}, "
            f"{spread.imbalance:.0%} more than the mean, and rank {spread.least_rank} "
            f"{format_duration(spread.least)}.",
        )


def _uneven(spread: Spread, longest_s: float, text: str, remedy: str | None) -> Verdict:
    over_s = spread.most * (1 - 1 / (1 + (spread.imbalance or 0.0)))
    uneven = (spread.imbalance or 0.0) > UNEVEN and over_s > LEAST_OVER * longest_s
    return Verdict(
        level="warning" if uneven else "good", text=text, remedy=remedy if uneven else None
    )


def _waiting(job: Job, times: Spread | None) -> Iterator[Verdict]:
    """Ranks that other ranks or programs kept from the processors."""
    numbers = [rank.rank for rank in job.ranks]
    waiting = spread_of("waiting", "s", {rank: waiting_seconds(job, rank) for rank in numbers})
    if waiting is None or times is None or waiting.most < LEAST_WAITING * times.most:
        return
    yield Verdict(
        level="warning",
        text=f"Threads of a rank waited {format_duration(waiting.least)} to "
        f"{format_duration(waiting.most)} for a processor, rank {waiting.most_rank} longest, "
        f"in runs of up to {format_duration(times.most)}: other ranks or programs had them.",
        remedy="give each rank processors of its own",
    )


def _late(job: Job) -> Iterator[Verdict]:
    if job.grid is None:
        return
    least_s = max(LATE_S, LATE_SHARE * (job.grid.end_ns - job.grid.begin_ns) * 1e-9)
    late = {rank: begin for rank in job.spans if (begin := job.begins_s(rank) or 0.0) > least_s}
    if late:
        latest = max(late, key=lambda rank: late[rank])
        yield Verdict(
            level="warning",
            text=f"{named(sorted(late))} began late: rank {latest} "
            f"{format_duration(late[latest])} after the first.",
        )


def _crowded(job: Job) -> Iterator[Verdict]:
    for node, name in job.nodes.items():
        there = [rank for rank in job.ranks if rank.node == node and rank.run is not None]
        cpus = {cpu for rank in there if rank.run for cpu in rank.run.start.system.allowed_cpus}
        yield from crowded(len(there), len(cpus), name)


def _phases(job: Job) -> Iterator[Verdict]:
    if len(job.phases) > 1:
        at = max(range(len(job.phases)), key=lambda one: job.phases[one].duration_s)
        longest = job.phases[at]
        yield Verdict(
            level="note",
            text=f"{format_count(len(job.phases), 'phase')} over all ranks; the longest is phase "
            f"{longest.number}, which begins at {begins(longest)} s and lasts "
            f"{lasts(job.phases, at)} s.",
        )


def _not_counted(job: Job, groups: Sequence[SocketGroup]) -> Iterator[Verdict]:
    """Why memory traffic or energy of sockets is missing, by the runs that should hold them."""
    for component, what, known in (
        ("memory", "Memory traffic", any(one.traffic_bytes is not None for one in groups)),
        ("energy", "Energy", any(one.energy_j is not None for one in groups)),
    ):
        reason = None if known else why_not_watched(job.ranks, component)
        if reason is not None:
            yield Verdict(
                level="note",
                text=f"{what} was not counted: {plain(reason).rstrip('.')}.",
                about="conditions",
            )


def _in_part(groups: Sequence[SocketGroup]) -> Iterator[Verdict]:
    for one in groups:
        if one.known is not None and one.known < THROUGHOUT:
            yield Verdict(
                level="warning",
                text=f"Sockets {format_cpu_list(one.sockets)} of {one.node} were counted for "
                f"{one.known:.0%} of the time in which their ranks ran: by rank {one.counted_by}, "
                "from its begin to its end.",
            )


def _clocks(job: Job) -> Iterator[Verdict]:
    if len(job.nodes) > 1:
        yield Verdict(
            level="note",
            text=f"{len(job.nodes)} nodes are put beside each other by their wall clocks: moments "
            "of different nodes are as exact as those agree, within a node exact.",
            about="conditions",
        )
