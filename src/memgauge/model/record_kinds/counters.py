"""Records of counters: what is counted, and what was read. See docs/records.md."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memgauge.model.counting.events import Counter
from memgauge.model.counting.partial import PartialSum
from memgauge.model.record_kinds.fields import LARGEST_INTEGER, Count, Nanoseconds, Record


class CounterSet(Record, frozen=True, kw_only=True, tag="counters"):
    """Counters that are read together: declared before their first reading."""

    counters: str
    """Name of the set, unique in the run."""
    slots: Count
    """Number of raw values in one reading; some are times, see `Counter`."""
    of: list[Counter]
    notes: list[str] = msgspec.field(default_factory=list)
    """Notes on fallbacks at opening, and on events that could not be opened."""
    partial: list[PartialSum] = msgspec.field(default_factory=list)
    """Sums over its counters that lack controllers; the notes say it too."""
    refused: dict[str, str] = msgspec.field(default_factory=dict)
    """Requested events that could not be opened, with the reasons."""


class RegionReading(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Raw counters before and after the timed part of one sample; None if not readable."""

    counters: str
    before_ns: tuple[Nanoseconds, Nanoseconds]
    """When the reading before the timed part began and ended,"""
    after_ns: tuple[Nanoseconds, Nanoseconds]
    """and when the reading after it did."""
    before: list[Count | None]
    after: list[Count | None]


class Lane(Record, frozen=True, kw_only=True, tag="lane"):
    """Counters sampled over time, in a file beside the records.

    Its format is in `memgauge.model.storage.lane_file`.
    """

    counters: str
    """The set that is sampled."""
    file: str
    """Name of the file in the run's directory."""
    interval_ns: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """Requested interval between samples."""
