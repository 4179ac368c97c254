"""Section on a job of the mini-app: correctness, time of each phase, scaling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from memgauge.analysis.fft3d.phases import PhaseTimes, Timelines, bypasses, phase_figures
from memgauge.analysis.fft3d.ranks import JobFacts, Rank, facts_of, on, ranks_of
from memgauge.analysis.fft3d.scaling import step_figures
from memgauge.analysis.fft3d.shape import NAME, Pencils
from memgauge.analysis.fft3d.sizes import Sized, are_sizes, sizes_charts, sizes_table
from memgauge.analysis.fft3d.tables import (
    measured_table,
    phase_table,
    ranks_chart,
    ranks_table,
    scaling_chart,
    scaling_phases_table,
    scaling_table,
)
from memgauge.analysis.fft3d.timeline import transform_chart
from memgauge.analysis.fft3d.traffic_chart import traffic_chart
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.ranks.parts import parts_of
from memgauge.analysis.ranks.rank_runs import crowded, missing, why_not_watched
from memgauge.analysis.section import Chart, Section, Verdict, section_of
from memgauge.model.run import Run
from memgauge.model.text import plain
from memgauge.model.units import format_bytes


def analyse(figures: Figures) -> Section:
    """The section of a job; works on one that was killed at any moment."""
    run = figures.run
    section = section_of(NAME)
    facts = facts_of(run)
    if facts is None or not facts.steps:
        text = "The run does not record which transforms were requested."
        return msgspec.structs.replace(section, verdicts=[Verdict(level="problem", text=text)])
    ranks = ranks_of(run, facts)
    last = facts.steps[-1]
    timelines = Timelines()
    bypass = bypasses(run.start.system.architecture)
    sized = _sized(ranks, facts, timelines, bypass=bypass)
    phases = sized[-1].phases if sized else []
    steps = [one for one in (step_figures(ranks, step) for step in facts.steps) if one is not None]
    verdicts = [*_checked(run), *missing(ranks)]
    if phases and all(one.measured_read is None and one.measured_write is None for one in phases):
        verdicts.append(_not_measured(ranks))
        verdicts += [*_crowded(run, facts), *_cached(run, facts)]
    verdicts += _too_short(phases)
    verdicts += _where(run, facts)
    tables = [
        phase_table(one.phases, one.step, bypass=bypass, tile=facts.tile, whole=one is sized[-1])
        for one in sized
    ]
    counted = (measured_table(one.phases, one.step) for one in sized)
    tables += [table for table in counted if table is not None]
    charts = [*_timeline(ranks, last, timelines), ranks_chart(ranks, last)] if phases else []
    if (traffic := traffic_chart(phases, last)) is not None:
        charts.append(traffic)
    together = parts_of(ranks)
    if are_sizes(facts.steps) and steps and sized:
        tables.insert(0, sizes_table(steps))
        charts[:0] = sizes_charts(sized)
    elif len(facts.steps) > 1 and steps:
        tables[:0] = [scaling_table(steps, facts), scaling_phases_table(steps)]
        charts.insert(0, scaling_chart(steps, facts))
    return msgspec.structs.replace(
        section,
        verdicts=verdicts,
        tables=[*tables, ranks_table(ranks, last, facts.gpus), *together.compared()],
        charts=[*charts, *together.pictured()],
    )


def _sized(
    ranks: Sequence[Rank], facts: JobFacts, timelines: Timelines, *, bypass: bool
) -> list[Sized]:
    """The phases of every size of which a transform ended; of numbers of ranks, of the last."""
    steps = facts.steps if are_sizes(facts.steps) else facts.steps[-1:]
    found = [
        Sized(step=step, phases=phase_figures(ranks, step, timelines, bypass=bypass))
        for step in steps
    ]
    return [one for one in found if one.phases]


def _timeline(ranks: Sequence[Rank], step: Pencils, timelines: Timelines) -> Iterator[Chart]:
    """Of the first rank that recorded a transform, where that is long enough."""
    taking_part = (rank for rank in ranks if on(rank, step))
    for rank in islice(taking_part, 1):
        chart = transform_chart(rank, step, timelines)
        if chart is not None:
            yield chart


def _checked(run: Run) -> Iterator[Verdict]:
    """Verdicts on the checks of each step; failures are also in the run's own verdicts."""
    if not run.validations:
        yield Verdict(level="warning", text="The result was not checked: the job did not end.")
    for one in run.validations:
        for check in one.checks:
            yield Verdict(
                level="good" if check.passed else "problem",
                text=f"{plain(one.subject)}: relative error {check.average_relative_error:.2g}, "
                f"{'within' if check.passed else 'beyond'} the bound of {check.epsilon:.2g}.",
            )


def _not_measured(ranks: Sequence[Rank]) -> Verdict:
    reason = why_not_watched(ranks, "memory")
    because = f": {plain(reason).rstrip('.')}" if reason else ""
    return Verdict(
        level="note", text=f"Traffic of the re-sorting phases was not measured{because}."
    )


def _too_short(phases: Sequence[PhaseTimes]) -> Iterator[Verdict]:
    """Phases of which no figure is known, for readings are too far apart."""
    for one in phases:
        for way, found in (("read", one.measured_read), ("written", one.measured_write)):
            if found is None or found.mean_at_least is None or found.mean_at_most is None:
                continue
            yield Verdict(
                level="note",
                text=f"{one.title} is too short for {found.rate_hz:g} Hz: at least "
                f"{found.mean_at_least * 1e-6:.2f}, at most {found.mean_at_most * 1e-6:.2f} MB "
                f"{way} in a mean transform.",
                remedy="use a larger --size, or sample more often (--rate)",
            )


def _crowded(run: Run, facts: JobFacts) -> Iterator[Verdict]:
    """Whether more ranks ran on the first rank's node than it has CPUs."""
    node = facts.nodes.get(0, "the first node")
    yield from crowded(len(_on_first_node(facts)), len(run.start.system.cpus), node)


def _cached(run: Run, facts: JobFacts) -> Iterator[Verdict]:
    """Whether a node's arrays fit its last-level caches, by those of the first rank's node."""
    caches = [cache for cache in run.start.system.caches if cache.type != "instruction"]
    level = max((cache.level for cache in caches), default=0)
    room_bytes = sum(cache.bytes for cache in caches if cache.level == level)
    last = facts.steps[-1]
    there = [rank for rank in _on_first_node(facts) if rank < last.grid.ranks]
    held_bytes = last.arrays * last.local_bytes * len(there)
    if 0 < held_bytes <= room_bytes:
        yield Verdict(
            level="note",
            text=f"The arrays of a node's ranks ({format_bytes(held_bytes)}) fit into its "
            f"L{level} caches ({format_bytes(room_bytes)}): the expected traffic need not reach "
            "memory.",
            remedy="use a larger --size",
        )


def _on_first_node(facts: JobFacts) -> list[int]:
    return [rank for rank, node in facts.nodes.items() if node == facts.nodes.get(0)]


def _where(run: Run, facts: JobFacts) -> Iterator[Verdict]:
    last = facts.ranks - 1
    names = "rank-0" if last == 0 else f"rank-0 to rank-{last}"
    place = plain(str(run.directory))
    yield Verdict(
        level="note",
        text=f"Runs of the ranks: {names} in {place}; 'memgauge report {place}/rank-0' shows the "
        "timeline of the first.",
    )
