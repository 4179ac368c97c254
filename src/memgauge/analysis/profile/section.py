"""Section on a profile: timeline, phases, totals of regions, and what impairs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.profile.charts import chart_of, is_drawn
from memgauge.analysis.profile.phases import Phase, Roles, phases_of, roles_of
from memgauge.analysis.profile.routes import route_table
from memgauge.analysis.profile.tables import counters_table, phase_table, tracks_table
from memgauge.analysis.profile.threads_tables import counted_table, threads_table
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.totals_tables import (
    beside_table,
    marked_of,
    region_tables,
    totals_table,
    whole_of,
)
from memgauge.analysis.profile.traffic_chart import traffic_chart
from memgauge.analysis.profile.verdicts import phases_words, process_words, verdicts_of
from memgauge.analysis.section import AnswerFigure, AnswerLine, Section, Table, section_of
from memgauge.model.run import Run

NAME = "profile"
_MOST_PROGRAMS = 3
"""With a line each in the opening."""


class Profile(msgspec.Struct, frozen=True):
    """A profile, analysed once."""

    timeline: Timeline | None
    phases: list[Phase]
    notes: list[str]


def is_profile(run: Run) -> bool:
    """Whether the run holds a timeline of a program."""
    return any(NAME in start.experiments for start in run.starts)


def profile_of(run: Run) -> Profile:
    """Timeline and phases of a run; works on one that was killed at any moment."""
    timeline, notes = timeline_of(run)
    return Profile(timeline, phases_of(timeline) if timeline else [], notes)


def _tables(run: Run, timeline: Timeline, roles: Roles, phases: Sequence[Phase]) -> list[Table]:
    whole = whole_of(timeline, roles)
    further = [threads_table(run), counted_table(run), beside_table(run)]
    return [
        totals_table(run, timeline, whole),
        phase_table(phases),
        *region_tables(timeline, whole, marked_of(timeline, roles)),
        *(table for table in further if table is not None),
        tracks_table(timeline),
        *route_table(timeline),
        counters_table(timeline),
    ]


def analyse(figures: Figures) -> Section:
    """The section of a profile."""
    found = profile_of(figures.run)
    timeline = found.timeline
    verdicts = verdicts_of(figures.run, timeline, found.phases, found.notes)
    section = section_of(NAME, verdicts=verdicts)
    if timeline is None:
        return section
    charts = [chart_of(timeline, found.phases)] if is_drawn(timeline) else []
    roles = roles_of(timeline)
    traffic = traffic_chart(roles, found.phases)
    return msgspec.structs.replace(
        section,
        tables=_tables(figures.run, timeline, roles, found.phases),
        charts=[*charts, *([traffic] if traffic else [])],
        opening=_opening(figures.run, timeline, roles, found.phases),
    )


def _opening(
    run: Run, timeline: Timeline, roles: Roles, phases: Sequence[Phase]
) -> list[AnswerLine]:
    """A line for each program, one for the memory traffic beside it, and one for its phases."""
    # Of a profile that was killed it is not known how its program ended.
    ended = [one for one in run.processes if one.end_ns is not None or run.end is not None]
    programs = ended[:_MOST_PROGRAMS]
    return [
        *(
            AnswerLine(label="" if at else "Program", figures=[], detail=process_words(run, one))
            for at, one in enumerate(programs)
        ),
        *_traffic(timeline, roles),
        AnswerLine(label="Phases", figures=[], detail=phases_words(phases)),
    ]


def _traffic(timeline: Timeline, roles: Roles) -> Iterator[AnswerLine]:
    """Mean rates over the whole run; a line without figures where nothing was counted."""
    totals = [one for one in whole_of(timeline, roles) if one.group == "memory"]
    figures = [
        AnswerFigure(name=one.name, value=one.per_s * 1e-9, unit="GB/s", digits=2)
        for one in totals
        if one.unit == "B" and one.per_s is not None
    ]
    if figures:
        yield AnswerLine(
            label="Memory", figures=figures, detail="means, of the whole machine while it ran"
        )
    else:
        yield AnswerLine(label="Memory", figures=[], detail="traffic was not counted")
