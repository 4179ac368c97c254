"""Tracks that report the same twice: one is shown, the other serves as a check.

The kernel's accounts in /proc and perf's software events count the same of a process tree. perf's
are exact, need no look at each process, and are read faster: where they are watched they are shown.
Those of /proc stay in the export. Context switches of /proc are a lower bound, and check nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.profile.tracks import Track, distinct

BY_NAME = "counters"
"""Sets of events that were named by hand begin so: those are shown, whatever else is."""
_SHOWN = {
    "proc:cpu_time": "perf:task-clock",
    "proc:minor_faults": "perf:page-faults",
    "proc:voluntary_switches": "perf:context-switches",
    "proc:involuntary_switches": "perf:context-switches",
}
"""What is shown in the place of what."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Events that must come to the same."""

    what: str
    shown: str
    others: tuple[str, ...]
    least: float
    """Counted: of less, the steps of either counter and when it began are no small share."""


CHECKS = (
    Check(what="CPU time", shown="perf:task-clock", others=("proc:cpu_time",), least=1.0),
    Check(
        what="Page faults",
        shown="perf:page-faults",
        others=("proc:minor_faults", "proc:major_faults"),
        least=10_000.0,
    ),
)


def event_of(track: Track) -> str:
    """The event of a track's counters; tracks of several are of memory."""
    return track.counters[0].event


def shown_for(track: Track) -> str | None:
    """The event that is shown in the place of a track's."""
    return _SHOWN.get(event_of(track))


def named(tracks: Sequence[Track], sets: Sequence[str]) -> list[Track]:
    """The tracks with unique names; those that another track represents are marked as duplicates.

    `sets`: of each track the name of its set of counters.
    """
    present = {event_of(track) for track in tracks}
    is_double = [
        shown_for(track) in present and not of.startswith(BY_NAME)
        for track, of in zip(tracks, sets, strict=True)
    ]
    shown = iter(distinct([t for t, double in zip(tracks, is_double, strict=True) if not double]))
    return [
        msgspec.structs.replace(track, name=f"{track.name} [{event_of(track)}]", double=True)
        if double
        else next(shown)
        for track, double in zip(tracks, is_double, strict=True)
    ]
