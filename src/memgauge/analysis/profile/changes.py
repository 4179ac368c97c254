"""Describes changes from one phase to the next, for phases that match no known pattern."""

from __future__ import annotations

import msgspec

from memgauge.analysis.profile.timeline import Timeline
from memgauge.analysis.profile.units import shown_unit
from memgauge.model.text import plain

MOST_TOLD = 2
LEAST_CHANGE = 0.15
"""Of the larger: less is not known."""
GONE = 0.02
"""Of what it was: less is no more."""
_ITSELF = 1.0
"""Threads and processes: one more or less is reported."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A track's means before and after a boundary, in its unit."""

    track: str
    unit: str
    before: float
    after: float

    @property
    def share(self) -> float:
        """Of the larger."""
        return abs(self.after - self.before) / max(abs(self.after), abs(self.before))

    def words(self) -> str:
        """`page faults 10,393 → 372/s`, `no more page faults`."""
        name = plain(self.track)
        if self.unit == "1/s" and self.after <= GONE * self.before:
            return f"no more {name}"
        largest = max(abs(self.before), abs(self.after))
        if self.unit == "1/s":
            return f"{name} {self.before:,.0f} → {self.after:,.0f}/s"
        factor, unit = shown_unit(self.unit, largest)
        places = 0 if largest * factor >= 100 or not unit else 1 if largest * factor >= 10 else 2
        before, after = self.before * factor, self.after * factor
        return f"{name} {before:.{places}f} → {after:.{places}f} {unit}".rstrip()


def changes_between(
    timeline: Timeline, before: tuple[int, int], after: tuple[int, int], floors: dict[str, float]
) -> list[Change]:
    """The clearest of the tracks' changes between two stretches of bins, the clearest first.

    Args:
        timeline: Timeline whose tracks are compared.
        before: First bin of the earlier stretch, and the bin after its last.
        after: The same of the later stretch.
        floors: Smallest change that matters, by quantity, in the unit of its tracks; of other
            quantities only gauges of a plain count, such as threads, are compared.
    """
    found: dict[str, Change] = {}
    for traced in timeline.tracks:
        track = traced.track
        early, late = traced.mean(*before), traced.mean(*after)
        counts = track.gauge and track.quantity == "count"
        # Memory in use may grow all the while: its mean says little, and stands in the table.
        known = None if track.quantity == "used_bytes" else floors.get(track.quantity)
        floor = _ITSELF if counts else known
        if early is None or late is None or floor is None or abs(late - early) < floor:
            continue
        change = Change(track=track.name, unit=track.unit, before=early, after=late)
        if change.share < LEAST_CHANGE:
            continue
        # Parts of one panel are represented by the whole, or by the clearest.
        other = found.get(track.panel)
        if other is None or track.name == track.panel or _is_clearer(change, other, track.panel):
            found[track.panel] = change
    return sorted(found.values(), key=lambda change: -change.share)[:MOST_TOLD]


def _is_clearer(change: Change, other: Change, panel: str) -> bool:
    return other.track != panel and change.share > other.share
