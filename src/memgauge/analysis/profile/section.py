"""Section on a profile: timeline, phases, totals of regions, and what impairs them."""

from __future__ import annotations

import msgspec

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.profile.charts import chart_of
from memgauge.analysis.profile.phases import Phase, phases_of, roles_of
from memgauge.analysis.profile.tables import (
    counters_table,
    phase_table,
    totals_table,
    tracks_table,
)
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.verdicts import verdicts_of
from memgauge.analysis.section import Section, section_of
from memgauge.model.run import Run

NAME = "profile"


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


def analyse(figures: Figures) -> Section:
    """The section of a profile."""
    found = profile_of(figures.run)
    timeline = found.timeline
    verdicts = verdicts_of(figures.run, timeline, found.phases, found.notes)
    section = section_of(NAME, verdicts=verdicts)
    if timeline is None:
        return section
    return msgspec.structs.replace(
        section,
        tables=[
            phase_table(found.phases),
            tracks_table(timeline),
            totals_table(timeline, roles_of(timeline)),
            counters_table(timeline),
        ],
        charts=[chart_of(timeline, found.phases)],
    )
