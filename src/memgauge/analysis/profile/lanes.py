"""The lanes of a profile: opened, their tracks named apart, and how evenly they were sampled."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub
from pathlib import Path

import msgspec

from memgauge.analysis.profile.duplicate_tracks import named
from memgauge.analysis.profile.rates import ordered_blocks
from memgauge.analysis.profile.tracks import Track, tracks_of
from memgauge.model.errors import RunFileError
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.record_kinds.programs import SampledRegions
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import BEGIN, END, LaneBlocks, LaneReader
from memgauge.model.storage.lane_writer import RecordedLane

MOST_TRACKS = 200
"""Most tracks; further ones are left out with a note."""
LATE = 2.0
"""A reading is late if the previous one is this many requested intervals ago."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How evenly a lane was sampled."""

    counters: str
    readings: int
    requested_ns: int
    span_ns: int
    late: int
    """Readings that came more than twice the requested interval after the previous one."""
    longest_ns: int
    """Between two readings."""
    reading_ns: float
    """Mean time that a reading took."""
    first_ns: int
    last_ns: int


class OpenLane(msgspec.Struct, frozen=True):
    """A lane that holds readings."""

    reader: LaneBlocks
    tracks: list[Track]
    pace: Pace


def lanes_of(run: Run) -> tuple[list[OpenLane], list[str]]:
    """Every lane that holds readings, its tracks named apart, and what had to be left out."""
    opened: list[OpenLane] = []
    notes: list[str] = []
    for lane in run.lanes:
        counters = run.counters[lane.counters]
        try:
            reader = LaneReader(run.directory / Path(lane.file).name, counters.slots)
        except RunFileError as error:
            notes.append(str(error))
            continue
        pace = _pace(reader, lane)
        if pace is not None:
            opened.append(OpenLane(reader, tracks_of(counters), pace))
        notes += reader.notes
    return _named(opened, notes), notes


def recorded_lane(sampled: SampledRegions, counters: CounterSet) -> OpenLane | None:
    """Readings that stand in a record, as a lane; None: they are of no use.

    Args:
        sampled: The record.
        counters: What it sampled.
    """
    rows = [[one.begin_ns, one.end_ns, *one.values] for one in sampled.readings]
    reader = RecordedLane(rows)
    lane = Lane(counters=sampled.counters, file="none", interval_ns=sampled.interval_ns)
    pace = _pace(reader, lane)
    if pace is None:
        return None
    (opened,) = _named([OpenLane(reader, tracks_of(counters), pace)], [])
    return opened


def _named(opened: Sequence[OpenLane], notes: list[str]) -> list[OpenLane]:
    pairs = [(track, lane.pace.counters) for lane in opened for track in lane.tracks]
    every = named([track for track, _ in pairs], [of for _, of in pairs])
    if len(every) > MOST_TRACKS:
        notes.append(f"only the first {MOST_TRACKS} of {len(every)} tracks are shown")
    every = every[:MOST_TRACKS]
    known = []
    for lane in opened:
        own, every = every[: len(lane.tracks)], every[len(lane.tracks) :]
        known.append(OpenLane(lane.reader, own, lane.pace))
    return known


def _pace(reader: LaneBlocks, lane: Lane) -> Pace | None:
    times_of_last = 0
    readings = late = longest_ns = took_ns = 0
    first_ns: int | None = None
    for times, block in ordered_blocks(reader):
        ahead = times if first_ns is None else [times_of_last, *times]
        first_ns = times[0] if first_ns is None else first_ns
        steps = list(map(sub, ahead[1:], ahead))
        late += sum(1 for step in steps if step > LATE * lane.interval_ns)
        longest_ns = max(longest_ns, max(steps, default=0))
        took_ns += sum(block.values(END)) - sum(block.values(BEGIN))
        readings += len(times)
        times_of_last = times[-1]
    if first_ns is None or readings < 2:
        return None
    return Pace(
        counters=lane.counters,
        readings=readings,
        requested_ns=lane.interval_ns,
        span_ns=times_of_last - first_ns,
        late=late,
        longest_ns=longest_ns,
        reading_ns=took_ns / readings,
        first_ns=first_ns,
        last_ns=times_of_last,
    )
