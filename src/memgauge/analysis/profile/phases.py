"""Phases of a profile: stretches in which every component keeps its level, and what each did.

Cuts are change points of all tracks together, on bins wide enough that one holds several readings;
of memory in use the growth counts, not the level, so that a program that fills memory evenly is in
one phase. Temperatures and plain counts make no phase: they follow, or mean nothing to the machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import msgspec

from memgauge.analysis.profile.changes import Change, changes_between
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.tracks import Track
from memgauge.analysis.statistics.change_points import Cut, Signal, cuts_of
from memgauge.model.counting.events import MEMORY_TRAFFIC, added_up

READINGS_A_BIN = 5
LEAST_BINS = 4
"""A phase lasts for at least as many bins."""
WIDEST_NS = 500_000_000
"""Bins are not made wider than this for the sake of a slow lane; it then makes no cuts."""

MINOR_SHARE = 0.02
"""Of the run: shorter stretches are no phase for the sake of"""
MINOR = frozenset({"page_faults", "context_switches", "migrations"})
"""alone."""

LEAST_JUMP = 16e6
"""Bytes of memory in use, taken or given back at once: smaller ones make no phase."""
ALONE = 4.0
"""Times as large as the steps around it is a jump."""

FLOORS: dict[str, float] = {
    "read_bytes": 50e6,
    "write_bytes": 50e6,
    "traffic_bytes": 50e6,
    "received_bytes": 1e6,
    "sent_bytes": 1e6,
    "used_bytes": 20e6,
    "bandwidth": 2e9,
    "energy": 1.0,
    "power": 1.0,
    "frequency": 200e6,
    "utilisation": 0.05,
    "time": 0.1,
    "run_delay": 0.2,
    "cycles": 100e6,
    "instructions": 100e6,
    "flops": 100e6,
    "cache_loads": 1e6,
    "cache_misses": 1e6,
    "tlb_loads": 1e6,
    "tlb_misses": 1e5,
    "page_walks": 1e5,
    "page_faults": 500.0,
    "context_switches": 200.0,
    "migrations": 100.0,
}
"""By quantity, in units of a track: smaller differences make no phase. Of memory in use, growth."""


_WHOLE_TIME = frozenset({"cpu_time", "time", "task-clock", "cpu-clock", "cpu.usage_usec"})
_WHOLE_FAULTS = frozenset({"page_faults", "page-faults", "faults"})
_WHOLE_SWITCHES = frozenset({"context_switches", "context-switches", "cs"})
"""Events that count all, where others count parts of it."""


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """What the components did in a stretch of time; None: not known, or no such track."""

    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    traffic_bytes_per_s: float | None = None
    """Reads and writes; also where they cannot be distinguished."""
    power_w: float | None = None
    gpu_power_w: float | None = None
    network_bytes_per_s: float | None = None
    cpu_cores: float | None = None
    """CPU time of the program over real time."""
    page_faults_per_s: float | None = None
    resident_growth_bytes_per_s: float | None = None
    resident_bytes: float | None = None
    switches_per_s: float | None = None
    waiting_threads: float | None = None
    """Threads that could have run and waited for a processor, on average."""

    @property
    def read_share(self) -> float | None:
        """Bytes read for each byte written; None where nothing was written or not known."""
        if self.read_bytes_per_s is None or not self.write_bytes_per_s:
            return None
        return self.read_bytes_per_s / self.write_bytes_per_s


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """One phase."""

    number: int
    begin_bin: int
    end_bin: int
    begin_s: float
    """From the begin of the timeline."""
    begin_low_s: float
    begin_high_s: float
    """It began between these moments, with 95% confidence."""
    end_s: float
    activity: Activity
    changes: list[Change] = []
    """From the phase before, the clearest first."""

    @property
    def duration_s(self) -> float:
        """How long it lasted."""
        return self.end_s - self.begin_s


class Roles(msgspec.Struct, frozen=True, kw_only=True):
    """Which tracks are added for each figure of a phase; empty where there are none."""

    reads: list[Traced]
    writes: list[Traced]
    traffic: list[Traced]
    power: list[Traced]
    gpu_power: list[Traced]
    network: list[Traced]
    cpu: list[Traced]
    faults: list[Traced]
    resident: list[Traced]
    switches: list[Traced]
    waiting: list[Traced]


def phases_of(timeline: Timeline) -> list[Phase]:
    """The phases in order; one where nothing changes."""
    width = _bins_together(timeline)
    count = math.ceil(timeline.bins / width)
    signals = [
        signal
        for traced in timeline.tracks
        if FLOORS.get(traced.track.quantity) is not None
        and 2 * traced.interval_ns <= width * timeline.bin_ns
        for signal in _signals(traced, timeline, width, count)
    ]
    roles = roles_of(timeline)
    cuts = [Cut(0, 0, 0), *cuts_of(signals, count, LEAST_BINS), Cut(count, count, count)]
    found: list[Phase] = []
    for number, (begin, end) in enumerate(pairwise(cuts), start=1):
        phase = _phase(timeline, roles, number, _widened(begin, width), end.place * width)
        if found:
            before = (found[-1].begin_bin, found[-1].end_bin)
            after = (phase.begin_bin, phase.end_bin)
            changes = changes_between(timeline, before, after, FLOORS)
            phase = msgspec.structs.replace(phase, changes=changes)
        found.append(phase)
    return found


def roles_of(timeline: Timeline) -> Roles:
    """Tracks that stand for each component; what may count the same twice is taken once."""
    tracks = timeline.tracks
    memory = _added_up(tracks)
    return Roles(
        reads=_of(memory, "read_bytes"),
        writes=_of(memory, "write_bytes"),
        traffic=_of(memory, "traffic_bytes"),
        power=_power([t for t in tracks if t.track.domain == "energy"]),
        gpu_power=_power([t for t in tracks if t.track.domain == "gpu"]),
        network=[
            t
            for t in tracks
            if t.track.quantity in {"received_bytes", "sent_bytes"}
            and t.track.domain == "network"
            and t.track.place != "lo"
        ],
        cpu=_whole_or_parts(_of(tracks, "time"), _WHOLE_TIME),
        faults=_whole_or_parts(_of(tracks, "page_faults"), _WHOLE_FAULTS),
        resident=[t for t in _of(tracks, "used_bytes") if t.track.domain == "process"][:1],
        switches=_whole_or_parts(_of(tracks, "context_switches"), _WHOLE_SWITCHES),
        waiting=_of(tracks, "run_delay"),
    )


def activity_of(timeline: Timeline, roles: Roles, begin: int, end: int) -> Activity:
    """What was done in bins [begin, end).

    Args:
        timeline: Timeline that the bins belong to.
        roles: Tracks of that timeline that are added up for each figure.
        begin: First bin of the stretch, counted from 0.
        end: The bin after its last.
    """

    def mean(tracks: Sequence[Traced]) -> float | None:
        means = [traced.mean(begin, end) for traced in tracks]
        known = [one for one in means if one is not None]
        return math.fsum(known) if known and len(known) == len(means) else None

    reads, writes, both = mean(roles.reads), mean(roles.writes), mean(roles.traffic)
    if reads is not None and writes is not None:
        both = reads + writes
    return Activity(
        read_bytes_per_s=reads,
        write_bytes_per_s=writes,
        traffic_bytes_per_s=both,
        power_w=mean(roles.power),
        gpu_power_w=mean(roles.gpu_power),
        network_bytes_per_s=mean(roles.network),
        cpu_cores=mean(roles.cpu),
        page_faults_per_s=mean(roles.faults),
        resident_growth_bytes_per_s=_growth(timeline, roles.resident, begin, end),
        resident_bytes=mean(roles.resident),
        switches_per_s=mean(roles.switches),
        waiting_threads=mean(roles.waiting),
    )


def _widened(cut: Cut, width: int) -> Cut:
    """A cut in bins of the timeline; a change inside one of its places moves it by half of that."""
    if not cut.place:
        return cut
    half = math.ceil(width / 2)
    return Cut(cut.place * width, cut.low * width - half, cut.high * width + half)


def _phase(timeline: Timeline, roles: Roles, number: int, begin: Cut, end_bin: int) -> Phase:
    end = min(end_bin, timeline.bins)
    return Phase(
        number=number,
        begin_bin=begin.place,
        end_bin=end,
        begin_s=timeline.edge_s(begin.place),
        begin_low_s=timeline.edge_s(begin.low),
        begin_high_s=timeline.edge_s(begin.high),
        end_s=timeline.edge_s(end),
        activity=activity_of(timeline, roles, begin.place, end),
    )


def _bins_together(timeline: Timeline) -> int:
    intervals = [traced.interval_ns for traced in timeline.tracks] or [timeline.bin_ns]
    wanted_ns = max(READINGS_A_BIN * min(intervals), min(3 * max(intervals), WIDEST_NS))
    return max(1, math.ceil(wanted_ns / timeline.bin_ns))


def _signals(traced: Traced, timeline: Timeline, width: int, count: int) -> list[Signal]:
    means = [traced.mean(at * width, min((at + 1) * width, timeline.bins)) for at in range(count)]
    floor = FLOORS[traced.track.quantity]
    if traced.track.quantity != "used_bytes":
        minor = traced.track.quantity in MINOR
        return [Signal(means, floor, math.ceil(MINOR_SHARE * count) if minor else 0)]
    seconds = width * timeline.bin_ns * 1e-9
    steps = [
        None if now is None or before is None else now - before
        for before, now in pairwise([means[0] if means else None, *means])
    ]
    growth = [None if step is None else step / seconds for step in steps]
    jumps = list(accumulate(_jumps(steps), initial=0.0))[1:]
    return [Signal(growth, floor), Signal(jumps, LEAST_JUMP)]


def _jumps(steps: Sequence[float | None]) -> list[float]:
    """Steps that stand alone: memory taken or given back at once, which is no steady growth."""
    found = []
    for at, step in enumerate(steps):
        near = [*steps[max(0, at - 4) : max(0, at - 2)], *steps[at + 3 : at + 5]]
        most = max((abs(other) for other in near if other is not None), default=0.0)
        alone = step is not None and abs(step) >= max(LEAST_JUMP / 4, ALONE * most)
        found.append(step if alone and step is not None else 0.0)
    return found


def _growth(timeline: Timeline, tracks: Sequence[Traced], begin: int, end: int) -> float | None:
    """From just before the stretch (its least, where it is the first) to its last tenth."""
    if not tracks:
        return None
    tenth = max(1, (end - begin) // 10)
    first = tracks[0].mean(begin - 1, begin) if begin else tracks[0].low[0]
    last = tracks[0].mean(end - tenth, end)
    seconds = (end - begin) * timeline.bin_ns * 1e-9
    return (last - first) / seconds if first is not None and last is not None else None


def _of(tracks: Sequence[Traced], quantity: str) -> list[Traced]:
    return [traced for traced in tracks if traced.track.quantity == quantity]


def _added_up(tracks: Sequence[Traced]) -> list[Traced]:
    """Those of the host's memory by one back end, measured where any is, and nothing twice."""
    memory = [t for t in tracks if t.track.quantity in MEMORY_TRAFFIC and t.track.domain != "gpu"]
    memory.sort(key=lambda t: t.track.basis != "measured")
    route = [_route(t.track) for t in memory[:1]]
    mine = [t for t in memory if _route(t.track) in route]
    kept = {one.name for one in added_up([c for t in mine for c in t.track.counters])}
    return [t for t in mine if t.track.counters[0].name in kept]


def _route(track: Track) -> tuple[str, str]:
    return track.counters[0].back_end, track.basis


def _once_a_place(tracks: Sequence[Traced]) -> list[Traced]:
    return list({traced.track.place: traced for traced in reversed(tracks)}.values())[::-1]


def _power(tracks: Sequence[Traced]) -> list[Traced]:
    """Of one family, whole packages or devices first; a platform holds its packages."""
    reported = [t for t in tracks if t.track.quantity in {"energy", "power"}]
    packages = [t for t in reported if "pkg" in t.track.family or "package" in t.track.place]
    chosen = (packages or reported)[:1]
    same = [
        t for t in (packages or reported) if chosen and t.track.family == chosen[0].track.family
    ]
    return _once_a_place(same)


def _whole_or_parts(tracks: Sequence[Traced], whole: frozenset[str]) -> list[Traced]:
    """A track that counts all, else those of the first back end, each of which counts a part."""
    for traced in tracks:
        if traced.track.counters[0].event.partition(":")[2] in whole:
            return [traced]
    return [t for t in tracks if t.track.counters[0].back_end == _back_end(tracks)]


def _back_end(tracks: Sequence[Traced]) -> str:
    return tracks[0].track.counters[0].back_end if tracks else ""
