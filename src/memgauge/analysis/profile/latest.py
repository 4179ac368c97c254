"""Current values of a profile's tracks, from its latest raw readings, for a live view."""

from __future__ import annotations

import msgspec

from memgauge.analysis.profile.duplicate_tracks import named
from memgauge.analysis.profile.tracks import Track, tracks_of
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import Raw, counted
from memgauge.model.record_kinds.counters import CounterSet


class Level(msgspec.Struct, frozen=True):
    """A track now."""

    name: str
    value: float | None
    """None: not read yet, or it could not be."""
    unit: str
    is_estimate: bool = False


class _Reading(msgspec.Struct, frozen=True):
    at_ns: int
    values: list[int | None]


class Latest:
    """Scaled rates between the two latest readings that it was given of each set."""

    def __init__(self) -> None:
        self._sets: dict[str, list[Track]] = {}
        self._before: dict[str, _Reading] = {}
        self._levels: dict[str, list[Level]] = {}

    def take(self, counters: CounterSet, begin_ns: int, end_ns: int, values: Raw) -> None:
        """Take a reading of a set; one that is no newer than the last is left out.

        Args:
            counters: The set that was read; a set not seen before adds its tracks.
            begin_ns: Time at which the reading began, on the run's clock.
            end_ns: Time at which it ended; the middle of both is the time of the reading.
            values: Raw values by slot of the set; None: the slot could not be read.
        """
        name = counters.counters
        if name not in self._sets:
            self._add(counters)
        tracks = self._sets[name]
        now = _Reading((begin_ns + end_ns) // 2, list(values))
        before = self._before.get(name)
        if before is not None and now.at_ns <= before.at_ns:
            return
        self._before[name] = now
        self._levels[name] = [_level(track, before, now) for track in tracks if not track.double]

    def _add(self, counters: CounterSet) -> None:
        """A further set; the names of all tracks are distinguished anew."""
        self._sets[counters.counters] = tracks_of(counters)
        pairs = [(track, of) for of, tracks in self._sets.items() for track in tracks]
        every = named([track for track, _ in pairs], [of for _, of in pairs])
        for name, tracks in self._sets.items():
            self._sets[name], every = every[: len(tracks)], every[len(tracks) :]

    def levels(self) -> list[Level]:
        """Of all tracks, in the order in which their sets came."""
        return [level for levels in self._levels.values() for level in levels]


def _level(track: Track, before: _Reading | None, now: _Reading) -> Level:
    parts = [_part(track, counter, before, now) for counter in track.counters]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return Level(track.name, None, track.unit)
    value = sum(part[0] for part in known)
    return Level(track.name, value, track.unit, any(part[1] for part in known))


def _part(
    track: Track, counter: Counter, before: _Reading | None, now: _Reading
) -> tuple[float, bool] | None:
    """Level or rate of one counter, and whether it is an estimate."""
    if track.gauge:
        raw = now.values[counter.slot]
        return None if raw is None else (raw * counter.scale, False)
    found = counted(counter, before.values, now.values) if before else None
    if before is None or found is None:
        return None
    return found.value / ((now.at_ns - before.at_ns) * 1e-9), found.is_estimate
