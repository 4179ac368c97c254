"""Pictures of a job of ranks: the ranks over time, the timeline of all, and what each took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.profile.charts import chart_of
from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.ranks.job import Job
from memgauge.analysis.ranks.spreads import (
    RegionSpread,
    cpu_seconds,
    seconds_in,
    waiting_seconds,
)
from memgauge.analysis.section import Axis, Chart, Series
from memgauge.model.text import plain

MOST_ROWS = 40
"""Ranks drawn: of more, those that use most and least processor time."""
COLUMNS = 20
ON_CPU, WAITING, NEITHER, OFF_CPU = (
    "on a CPU",
    "waiting for a processor",
    "neither",
    "not on a CPU",
)
MOST_COLOURS = 8
"""Regions with a colour of their own; the rest of a rank's time is one more."""


def drawn(job: Job) -> list[int]:
    """The ranks that pictures show."""
    numbers = sorted(job.timelines)
    if len(numbers) <= MOST_ROWS:
        return numbers
    by_time = sorted(numbers, key=lambda rank: cpu_seconds(job, rank) or 0.0)
    half = MOST_ROWS // 2
    return sorted([*by_time[:half], *by_time[-half:]])


def _note_of(shown: Sequence[int], job: Job) -> str:
    if len(shown) == len(job.timelines):
        return ""
    half = MOST_ROWS // 2
    return (
        f" Of {len(job.timelines)} ranks the {half} that used most and the {half} that used least "
        "processor time."
    )


def over_time(job: Job) -> Chart | None:
    """Processor use of each rank over the time of the job; None where it is not known."""
    grid, shown = job.grid, drawn(job)
    if grid is None or not any(roles_of(job.timelines[rank]).cpu for rank in shown):
        return None
    columns = min(COLUMNS, grid.bins)
    ends = [at * grid.bins // columns for at in range(columns + 1)]
    x: list[float | str] = [
        f"{min(begin * grid.bin_ns, grid.end_ns - grid.begin_ns) * 1e-9:.3g}" for begin in ends[:-1]
    ]
    if len(set(x)) < len(x):
        x = [f"{begin * grid.bin_ns * 1e-9:.6g}" for begin in ends[:-1]]
    series = []
    for rank in shown:
        timeline = job.timelines[rank]
        tracks = roles_of(timeline).cpu
        cells: list[float | None] = []
        for begin, end in pairwise(ends):
            means = [traced.mean(begin, end) for traced in tracks]
            known = [mean for mean in means if mean is not None]
            cells.append(sum(known) if known and len(known) == len(means) else None)
        series.append(Series(name=f"rank {rank}", x=x, y=cells))
    return Chart(
        name="ranks-over-time",
        title="Cores that each rank uses, over time",
        kind="heatmap",
        x=Axis(title="Time", unit="s"),
        y=Axis(title="CPU use", unit="cores"),
        rows=Axis(title="", unit=""),
        series=series,
        note="One time for all ranks; columns are labelled with their begin. A dash: its program "
        "did not run, or was not read." + _note_of(shown, job),
    )


def timeline_chart(job: Job) -> Chart | None:
    """What all ranks did together, with the phases of the job."""
    if job.whole is None or not job.whole.tracks:
        return None
    chart = chart_of(job.whole, job.phases)
    return msgspec.structs.replace(
        chart,
        name="ranks-timeline",
        title="Timeline of the job",
        note="Figures of programs are those of all ranks added up; memory traffic, power and "
        "network are counted once for each node. Numbers above are phases. Drag to move along the "
        "run, turn the wheel while holding Ctrl or Alt to zoom, double-click to see the whole run.",
    )


def shares_chart(job: Job, regions: Sequence[RegionSpread]) -> Chart | None:
    """A bar for each rank: its regions where it marked some, else what its time went to."""
    shown = [rank for rank in drawn(job) if job.lasts_s(rank)]
    if not shown:
        return None
    parts = _region_parts(job, shown, regions) if regions else _time_parts(job, shown)
    kept = {name: values for name, values in parts.items() if any(values)}
    if not kept:
        return None
    what = "regions" if regions else "time"
    return Chart(
        name="ranks-shares",
        title=f"The {what} of each rank",
        kind="stack",
        x=Axis(title="Rank", unit=""),
        y=Axis(title="Time", unit="s", from_zero=True),
        series=[
            Series(name=name, x=[str(rank) for rank in shown], y=values)
            for name, values in kept.items()
        ],
        note=(
            "Time in all regions of a name; regions that lie in each other are each drawn whole."
            if regions
            else "Run time of each program: on a CPU; waiting for a processor, which other ranks "
            "or programs had; or neither. Threads that run or wait at once add up, so that their "
            "bar may be longer than the run."
        )
        + _note_of(shown, job),
    )


def _region_parts(
    job: Job, shown: Sequence[int], regions: Sequence[RegionSpread]
) -> dict[str, list[float | None]]:
    names = [one.spread.name for one in regions][:MOST_COLOURS]
    return {
        name: [
            seconds_in(
                [r for r in job.timelines[rank].regions if plain(r.name) == name],
                job.timelines[rank],
            )
            for rank in shown
        ]
        for name in names
    }


def _time_parts(job: Job, shown: Sequence[int]) -> dict[str, list[float | None]]:
    """Time on processors, waiting for one where that is known, and the rest of the run time."""
    cpu = [cpu_seconds(job, rank) for rank in shown]
    waiting = [waiting_seconds(job, rank) for rank in shown]
    is_told = any(value is not None for value in waiting)
    rest = [
        None
        if lasted is None or used is None or (is_told and waited is None)
        else max(0.0, lasted - used - (waited or 0.0))
        for lasted, used, waited in zip(map(job.lasts_s, shown), cpu, waiting, strict=True)
    ]
    return {ON_CPU: cpu, WAITING: waiting, NEITHER if is_told else OFF_CPU: rest}
