"""The timeline of a run: every track over one grid of time, and exact totals between any marks.

A lane is read twice: first for when its readings were taken, then for what they counted. What a
track counted up to any instant is known at each reading and taken as even between two, so that the
sum over a bin, a phase or a region conserves what was counted; at a mark that lies between two
readings it is uncertain by what they counted. Memory is that of the grid, however long the run.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import sub, truediv

import msgspec

from memgauge.analysis.profile.duplicate_tracks import event_of, shown_for
from memgauge.analysis.profile.lanes import OpenLane, Pace, lanes_of
from memgauge.analysis.profile.process_lifetime import Life, is_own, life_of, within
from memgauge.analysis.profile.rates import Stretch, stretches
from memgauge.analysis.profile.tracks import Track
from memgauge.analysis.profile.windows import Window, Windows, rule_of
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run

MOST_BINS = 2000
MOST_REGIONS = 20_000
"""Most regions; further ones are left out with a note."""
LEAST_COVERED = 0.01
"""Of a bin: where less of it was counted its rate is not known."""


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """One track over the grid."""

    track: Track
    interval_ns: int
    sums: list[float]
    """Counted up to each edge of the grid, in the counter's unit; a gauge's times seconds."""
    covered_s: list[float]
    """Time up to each edge in which the track is known."""
    low: list[float | None]
    high: list[float | None]
    """In each bin, over windows that hold enough of the counter's steps (module `windows`)."""
    even: list[float | None]
    """Mean of each bin where what was counted in a window is taken as even over it."""
    at_marks: list[tuple[float, float]]
    """Sum and covered time at each mark of the timeline."""
    around_marks: list[tuple[float, float]]
    """Sum at the reading before each mark, and at the one after it."""
    estimates: int = 0
    """Intervals whose value was scaled up because the counter shared its hardware."""
    went_back: int = 0

    @property
    def known_s(self) -> float:
        """Time of the timeline in which the track is known."""
        return self.covered_s[-1] - self.covered_s[0]

    def mean(self, begin: int, end: int) -> float | None:
        """Over bins [begin, end), in the track's unit; None where it is not known."""
        covered_s = self.covered_s[end] - self.covered_s[begin]
        if covered_s <= 0:
            return None
        return (self.sums[end] - self.sums[begin]) / covered_s

    def total(self, begin: int, end: int) -> float | None:
        """Counted in bins [begin, end), where it is known."""
        known = self.covered_s[end] > self.covered_s[begin]
        return self.sums[end] - self.sums[begin] if known else None


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """Sums of a track at readings beside two marks."""

    inner: tuple[float, float]
    """At the first reading after the earlier mark and the last before the later one; the second is
    the smaller where no reading lies between the marks."""
    outer: tuple[float, float]
    """At the last reading before the earlier mark and the first after the later one."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """All tracks of a run on one grid."""

    begin_ns: int
    bin_ns: int
    bins: int
    end_ns: int
    tracks: list[Traced]
    doubles: list[Traced]
    """Tracks that another track also reports, and that serve as checks."""
    marks_ns: list[int]
    """Where sums are known exactly: begins and ends of regions, sorted."""
    regions: list[Region]
    paces: list[Pace]

    def edge_s(self, edge: int) -> float:
        """An edge of the grid, in seconds from its begin."""
        return min(edge * self.bin_ns, self.end_ns - self.begin_ns) * 1e-9

    def values(self, traced: Traced) -> list[float | None]:
        """The mean of each bin; None where too little of it was counted."""
        least_s = LEAST_COVERED * self.bin_ns * 1e-9
        return [
            traced.mean(at, at + 1)
            if traced.covered_s[at + 1] - traced.covered_s[at] >= least_s
            else None
            for at in range(self.bins)
        ]

    def between(self, traced: Traced, begin_ns: int, end_ns: int) -> tuple[float, float] | None:
        """Counted between two marks, and the seconds it is known for; None where it is not known.

        What is counted up to a time that is no mark is not known: the time lies outside the
        readings, or its region is not analysed.

        Args:
            traced: Track of this timeline.
            begin_ns: The earlier time.
            end_ns: The later time.
        """
        first, last = self._at(traced, begin_ns), self._at(traced, end_ns)
        if first is None or last is None:
            return None
        covered_s = last[1] - first[1]
        return (last[0] - first[0], covered_s) if covered_s > 0 else None

    def around(self, traced: Traced, begin_ns: int, end_ns: int) -> Around:
        """What a track had counted at the readings inside two marks, and at those around them.

        Args:
            traced: Track of this timeline; no gauge.
            begin_ns: The earlier mark.
            end_ns: The later one.
        """
        first = traced.around_marks[bisect_left(self.marks_ns, begin_ns)]
        last = traced.around_marks[bisect_left(self.marks_ns, end_ns)]
        return Around(inner=(first[1], last[0]), outer=(first[0], last[1]))

    def _at(self, traced: Traced, time_ns: int) -> tuple[float, float] | None:
        index = bisect_left(self.marks_ns, time_ns)
        known = index < len(self.marks_ns) and self.marks_ns[index] == time_ns
        return traced.at_marks[index] if known else None


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """Bins of equal length, but for the last."""

    begin_ns: int
    end_ns: int
    bin_ns: int

    @property
    def bins(self) -> int:
        """How many there are."""
        return math.ceil((self.end_ns - self.begin_ns) / self.bin_ns)

    def edges(self) -> list[int]:
        """Where they begin, and the end of the last."""
        return [*range(self.begin_ns, self.end_ns, self.bin_ns), self.end_ns]

    def shifted(self, by_ns: int) -> Grid:
        """The same bins on a clock that shows so much more."""
        begin_ns, end_ns = self.begin_ns + by_ns, self.end_ns + by_ns
        return Grid(begin_ns=begin_ns, end_ns=end_ns, bin_ns=self.bin_ns)


def timeline_of(
    run: Run, most_bins: int = MOST_BINS, grid: Grid | None = None
) -> tuple[Timeline | None, list[str]]:
    """The timeline, or None without usable readings, and notes on what was left out.

    Args:
        run: Run to read.
        most_bins: Of the timeline, which begins and ends with the program.
        grid: Bins on the run's clock to use instead, as one of several runs over the same time;
            what lies outside the readings is not known.
    """
    lanes, notes = lanes_of(run)
    if not lanes:
        return None, notes
    return timeline_over(run, lanes, notes, grid or grid_of(run, lanes, most_bins)), notes


def grid_of(run: Run, lanes: Sequence[OpenLane], most_bins: int) -> Grid | None:
    """Bins from when the program began to when it ended; None without readings of that time.

    Args:
        run: Run of the program.
        lanes: Its lanes with readings, at least one.
        most_bins: How many bins there may be.
    """
    begin_ns, end_ns = _span(run, [lane.pace for lane in lanes])
    if end_ns <= begin_ns:
        return None
    finest_ns = min(lane.pace.requested_ns for lane in lanes)
    bin_ns = max(finest_ns, math.ceil((end_ns - begin_ns) / most_bins))
    return Grid(begin_ns=begin_ns, end_ns=end_ns, bin_ns=bin_ns)


def timeline_over(
    run: Run, lanes: Sequence[OpenLane], notes: list[str], grid: Grid | None
) -> Timeline | None:
    """The timeline of lanes that are open.

    Args:
        run: Whose regions and process it has.
        lanes: Of it, with readings.
        notes: What had to be left out is added.
        grid: Its bins; None gives none.
    """
    if grid is None:
        return None
    begin_ns, end_ns = grid.begin_ns, grid.end_ns
    edges = grid.edges()
    regions = _regions(run, begin_ns, end_ns, notes)
    marks = sorted(
        {begin_ns, end_ns, *(r.begin_ns for r in regions), *(r.end_ns or end_ns for r in regions)}
    )
    tracks: list[Traced] = []
    cpus = len(run.start.system.cpus)
    life = life_of(run)
    for lane in lanes:
        tracks += _traced(lane, edges, marks, cpus, life)
        notes += [note for note in lane.reader.notes if note not in notes]
    return Timeline(
        begin_ns=begin_ns,
        bin_ns=grid.bin_ns,
        bins=grid.bins,
        end_ns=end_ns,
        tracks=_by_panel([traced for traced in tracks if not _is_hidden(traced, tracks)]),
        doubles=[traced for traced in tracks if _is_hidden(traced, tracks)],
        marks_ns=marks,
        regions=regions,
        paces=[lane.pace for lane in lanes],
    )


def _by_panel(tracks: Sequence[Traced]) -> list[Traced]:
    """Those of one panel together, the whole before its parts."""
    panels = list(dict.fromkeys(traced.track.panel for traced in tracks))
    return sorted(
        tracks, key=lambda t: (panels.index(t.track.panel), t.track.name != t.track.panel)
    )


def _is_hidden(traced: Traced, tracks: Sequence[Traced]) -> bool:
    """A double, of which the track that is shown in its place could be read."""
    if not traced.track.double:
        return False
    shown = shown_for(traced.track)
    return any(t.known_s > 0 for t in tracks if event_of(t.track) == shown)


def _span(run: Run, paces: Sequence[Pace]) -> tuple[int, int]:
    """From when the program began to when it ended, as far as there are readings."""
    begin_ns, end_ns = min(p.first_ns for p in paces), max(p.last_ns for p in paces)
    started = [p.begin_ns for p in run.processes if not p.attached]
    ended = [p.end_ns for p in run.processes]
    if started and begin_ns < min(started) < end_ns:
        begin_ns = min(started)
    known = [end for end in ended if end is not None]
    if ended and len(known) == len(ended) and begin_ns < max(known) < end_ns:
        end_ns = max(known)
    return begin_ns, end_ns


def _regions(run: Run, begin_ns: int, end_ns: int, notes: list[str]) -> list[Region]:
    """Those that lie in the timeline, cut to it."""
    cut = [
        msgspec.structs.replace(
            region,
            begin_ns=max(begin_ns, region.begin_ns),
            end_ns=min(end_ns, end_ns if region.end_ns is None else region.end_ns),
        )
        for region in run.regions
    ]
    inside = [region for region in cut if region.begin_ns < (region.end_ns or 0)]
    if len(inside) > MOST_REGIONS:
        notes.append(f"only the first {MOST_REGIONS} of {len(inside)} marked regions are analysed")
    return inside[:MOST_REGIONS]


class _Sums:
    """One track while its lane is read."""

    def __init__(self, track: Track, edges: Sequence[int], cpus: int) -> None:
        bins = len(edges) - 1
        rule = rule_of(track, cpus)
        self.name = track.name
        self.sum = self.covered_s = 0.0
        self.edges: list[tuple[float, float]] = []
        self.marks: list[tuple[float, float]] = []
        self.around: list[tuple[float, float]] = []
        self.low: list[float | None] = [None] * bins
        self.high: list[float | None] = [None] * bins
        self.estimates = self.went_back = 0
        self.in_windows: dict[int, tuple[float, float]] = {}
        """Sum and time of bins that windows of several readings overlap."""
        self._grid = edges
        self._windows = None if rule is None else Windows(rule)

    def take(self, stretch: Stretch, seconds: list[float], places: _Places) -> None:
        if self.name in stretch.steady:
            self.take_steady(stretch.steady[self.name], stretch, places)
            return
        amounts = stretch.amounts[self.name]
        known = [0.0 if amount is None else amount for amount in amounts]
        covers = seconds
        if None in amounts:
            covers = [0.0 if a is None else s for a, s in zip(amounts, seconds, strict=True)]
        sums = list(accumulate(known, initial=self.sum))
        covered = list(accumulate(covers, initial=self.covered_s))
        for places_, found in ((places.edges, self.edges), (places.marks, self.marks)):
            for at, share in places_:
                found.append((sums[at] + share * known[at], covered[at] + share * covers[at]))
        for at, share in places.marks:
            before, after = sums[at + (share == 1)], sums[at + (share > 0)]
            self.around.append((before, after))
        if self._windows is None or self._windows.are_intervals(amounts, seconds):
            self._take_intervals(known, seconds, covers, places)
        else:
            for window in self._windows.take(stretch.times_ns, amounts, seconds):
                self._spread(window)
        self.sum, self.covered_s = sums[-1], covered[-1]
        self.estimates += stretch.estimated.get(self.name, 0)
        self.went_back += stretch.went_back.get(self.name, 0)

    def take_steady(self, rate: float | None, stretch: Stretch, places: _Places) -> None:
        """A stretch over which the track goes on at one rate: what its readings cost no time."""
        elapsed_s = places.elapsed_s
        for places_, found in ((places.edges, self.edges), (places.marks, self.marks)):
            for at, share in places_:
                seconds = elapsed_s[at] + share * (elapsed_s[at + 1] - elapsed_s[at])
                found.append(self._further(rate, seconds))
        for at, share in places.marks:
            before_s, after_s = elapsed_s[at + (share == 1)], elapsed_s[at + (share > 0)]
            around = (self._further(rate, before_s)[0], self._further(rate, after_s)[0])
            self.around.append(around)
        if self._windows is not None:
            for window in self._windows.take_steady(rate, stretch.times_ns, elapsed_s):
                self._spread(window)
        elif rate is not None:
            for at, _, _ in places.bins:
                self._extend(at, rate, rate)
        self.sum, self.covered_s = self._further(rate, elapsed_s[-1])
        self.estimates += stretch.estimated.get(self.name, 0)

    def _further(self, rate: float | None, seconds: float) -> tuple[float, float]:
        """Sum and covered time when the track has gone on at a rate for so long."""
        if rate is None:
            return self.sum, self.covered_s
        return self.sum + rate * seconds, self.covered_s + seconds

    def _take_intervals(
        self, known: list[float], seconds: list[float], covers: list[float], places: _Places
    ) -> None:
        rates = list(map(truediv, known, seconds))
        has_gaps = covers is not seconds
        for at, begin, end in places.bins:
            inside = rates[begin:end]
            if has_gaps:
                inside = [r for r, s in zip(inside, covers[begin:end], strict=True) if s]
            if inside:
                self._extend(at, min(inside), max(inside))

    def _spread(self, window: Window) -> None:
        grid = self._grid
        at = max(0, bisect_right(grid, window.begin_ns) - 1)
        while at < len(grid) - 1 and grid[at] < window.end_ns:
            inside_s = (min(grid[at + 1], window.end_ns) - max(grid[at], window.begin_ns)) * 1e-9
            if inside_s > 0:
                amount, covered_s = self.in_windows.get(at, (0.0, 0.0))
                amount += window.rate * inside_s
                self.in_windows[at] = (amount, covered_s + inside_s)
                self._extend(at, window.rate, window.rate)
            at += 1

    def _extend(self, at: int, least: float, most: float) -> None:
        low, high = self.low[at], self.high[at]
        self.low[at] = least if low is None else min(low, least)
        self.high[at] = most if high is None else max(high, most)

    def rest(self, edges: int, marks: int) -> None:
        """Up to the last edge nothing more is known."""
        for window in self._windows.rest() if self._windows else ():
            self._spread(window)
        self.edges += [(self.sum, self.covered_s)] * (edges - len(self.edges))
        self.marks += [(self.sum, self.covered_s)] * (marks - len(self.marks))
        self.around += [(self.sum, self.sum)] * (marks - len(self.around))


class _Places(msgspec.Struct, frozen=True):
    """Where the edges of the grid and the marks lie in a stretch: interval and share of it."""

    edges: list[tuple[int, float]]
    marks: list[tuple[int, float]]
    bins: list[tuple[int, int, int]]
    """A bin and the intervals [begin, end) that overlap it."""
    elapsed_s: list[float]
    """From the first reading to each."""


class _Walk:
    """Tracks whose readings count for the same times, while their lane is read."""

    def __init__(
        self, tracks: Sequence[Track], edges: Sequence[int], marks: Sequence[int], cpus: int
    ) -> None:
        self.tracks = tracks
        self.sums = {track.name: _Sums(track, edges, cpus) for track in tracks}
        self._edges, self._marks = edges, marks
        self._next_edge = self._next_mark = 0

    def take(self, stretch: Stretch | None) -> None:
        if stretch is None or not self.sums:
            return
        times = stretch.times_ns
        seconds = [step * 1e-9 for step in map(sub, times[1:], times)]
        first_edge = self._next_edge
        at_edges, self._next_edge = _placed(times, self._edges, first_edge)
        at_marks, self._next_mark = _placed(times, self._marks, self._next_mark)
        bins = _overlaps(times, self._edges, first_edge)
        places = _Places(at_edges, at_marks, bins, [*accumulate(seconds, initial=0.0)])
        for one in self.sums.values():
            one.take(stretch, seconds, places)


def _traced(
    lane: OpenLane, edges: Sequence[int], marks: Sequence[int], cpus: int, life: Life
) -> list[Traced]:
    own = _Walk([track for track in lane.tracks if is_own(track)], edges, marks, cpus)
    others = _Walk([track for track in lane.tracks if not is_own(track)], edges, marks, cpus)
    for stretch in stretches(lane.reader, lane.tracks):
        own.take(within(life, stretch, own.tracks))
        others.take(stretch)
    sums = own.sums | others.sums
    return [
        _made(track, sums[track.name], lane.pace.requested_ns, len(edges), len(marks))
        for track in lane.tracks
    ]


def _placed(
    times: Sequence[int], places: Sequence[int], first: int
) -> tuple[list[tuple[int, float]], int]:
    """Interval and share of each place up to the last time, from the first not placed yet."""
    found: list[tuple[int, float]] = []
    at = first
    while at < len(places) and places[at] <= times[-1]:
        if places[at] <= times[0]:
            found.append((0, 0.0))
        else:
            interval = bisect_left(times, places[at]) - 1
            step = times[interval + 1] - times[interval]
            found.append((interval, (places[at] - times[interval]) / step))
        at += 1
    return found, at


def _overlaps(times: Sequence[int], edges: Sequence[int], first: int) -> list[tuple[int, int, int]]:
    """Bins that the stretch overlaps, each with its intervals, from the bin of the first edge."""
    found = []
    for at in range(max(0, first - 1), len(edges) - 1):
        if edges[at] >= times[-1]:
            break
        begin = max(0, bisect_left(times, edges[at] + 1) - 1)
        end = min(len(times) - 1, bisect_left(times, edges[at + 1]))
        if begin < end:
            found.append((at, begin, end))
    return found


def _made(track: Track, sums: _Sums, interval_ns: int, edges: int, marks: int) -> Traced:
    sums.rest(edges, marks)
    even: list[float | None] = []
    for at, (before, after) in enumerate(pairwise(sums.edges)):
        amount, covered_s = sums.in_windows.get(at, (after[0] - before[0], after[1] - before[1]))
        even.append(amount / covered_s if covered_s > 0 else None)
    return Traced(
        track=track,
        interval_ns=interval_ns,
        sums=[one[0] for one in sums.edges],
        covered_s=[one[1] for one in sums.edges],
        low=sums.low,
        high=sums.high,
        even=even,
        at_marks=sums.marks,
        around_marks=sums.around,
        estimates=sums.estimates,
        went_back=sums.went_back,
    )
