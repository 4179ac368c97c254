"""The tables of a profile: phases, totals of regions, tracks with a small picture, counters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.moments import begins, lasts
from memgauge.analysis.profile.phases import Phase, Roles
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.counting.events import Counter
from memgauge.model.records import Region
from memgauge.model.text import plain

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
SPARK_COLUMNS = 20
MOST_REGION_ROWS = 200


class _Figure(msgspec.Struct, frozen=True):
    column: Column
    of: Callable[[Phase], float | None]


_FIGURES = (
    _Figure(
        Column(title="traffic", unit="GB/s", digits=2),
        lambda phase: _scaled(phase.activity.traffic_bytes_per_s, 1e-9),
    ),
    _Figure(
        Column(title="reads per write", digits=2),
        lambda phase: phase.activity.read_share,
    ),
    _Figure(Column(title="CPU", unit="cores", digits=2), lambda phase: phase.activity.cpu_cores),
    _Figure(
        Column(title="network", unit="MB/s", digits=1),
        lambda phase: _scaled(phase.activity.network_bytes_per_s, 1e-6),
    ),
    _Figure(Column(title="power", unit="W", digits=1), lambda phase: phase.activity.power_w),
    _Figure(
        Column(title="GPU power", unit="W", digits=1), lambda phase: phase.activity.gpu_power_w
    ),
    _Figure(
        Column(title="page faults", unit="1/s", digits=0),
        lambda phase: phase.activity.page_faults_per_s,
    ),
    _Figure(
        Column(title="resident", unit="B", digits=0), lambda phase: phase.activity.resident_bytes
    ),
    _Figure(
        Column(title="context switches", unit="1/s", digits=0),
        lambda phase: phase.activity.switches_per_s,
    ),
)
_MOST_NARROW = 3


def phase_table(phases: Sequence[Phase]) -> Table:
    """One line a phase; only figures that some phase has."""
    shown = [one for one in _FIGURES if any(one.of(phase) is not None for phase in phases)]
    # What never happened is only in the page.
    shown.sort(key=lambda one: not any(one.of(phase) for phase in phases))
    columns = [
        msgspec.structs.replace(one.column, narrow=at < _MOST_NARROW)
        for at, one in enumerate(shown)
    ]
    return Table(
        name="profile-phases",
        title="Phases",
        columns=[
            Column(title="phase"),
            Column(title="begins", unit="s"),
            Column(title="lasts", unit="s"),
            *columns[:_MOST_NARROW],
            Column(title="looks like"),
            *columns[_MOST_NARROW:],
        ],
        rows=[
            [
                phase.number,
                begins(phase),
                lasts(phases, at),
                *(one.of(phase) for one in shown[:_MOST_NARROW]),
                looks_like(phases, at),
                *(one.of(phase) for one in shown[_MOST_NARROW:]),
            ]
            for at, phase in enumerate(phases)
        ],
        note="Means over each phase. A phase began within ± of the moment shown, with 95% "
        "confidence. Memory, power and network are those of the whole machine, "
        "including other programs; CPU, page faults and resident memory are the program's own. "
        "What a phase looks like is a guess from these figures, not an observation of the "
        "program; where the figures allow no guess, the change from the previous phase is shown.",
    )


def totals_table(timeline: Timeline, roles: Roles) -> Table:
    """What was counted in the whole run and in all regions of each name."""
    groups: dict[str, list[Region]] = {}
    for region in timeline.regions:
        groups.setdefault(plain(region.name), []).append(region)
    whole = [(timeline.begin_ns, timeline.end_ns)]
    rows = [_totals("whole run", timeline, roles, whole)]
    rows += [
        _totals(name, timeline, roles, [(r.begin_ns, r.end_ns or timeline.end_ns) for r in found])
        for name, found in list(groups.items())[:MOST_REGION_ROWS]
    ]
    columns = [
        Column(title="region" if groups else "of"),
        Column(title="times", narrow=bool(groups)),
        Column(title="lasts", unit="s", digits=3),
        Column(title="read", unit="GB", digits=3),
        Column(title="written", unit="GB", digits=3),
        Column(title="traffic", unit="GB", digits=3, narrow=False),
        Column(title="energy", unit="J", digits=1),
        Column(title="GPU energy", unit="J", digits=1, narrow=False),
        Column(title="network", unit="MB", digits=1, narrow=False),
        Column(title="CPU time", unit="s", digits=2),
        Column(title="page faults", digits=0, narrow=False),
    ]
    kept = [at for at in range(len(columns)) if at < 3 or any(row[at] is not None for row in rows)]
    return Table(
        name="profile-totals",
        title="Totals" if not groups else "Totals of marked regions",
        columns=[columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in rows],
        note="Counts are assumed to be spread evenly between two readings, so the figure at a "
        "mark is uncertain by what one sampling interval counts. Regions of the same name are "
        "added up, even where they overlap in time, as those of several threads do. A dash means "
        "not counted throughout.",
    )


def _totals(
    name: str, timeline: Timeline, roles: Roles, spans: Sequence[tuple[int, int]]
) -> list[Cell]:
    def total(tracks: Sequence[Traced], factor: float) -> float | None:
        return _scaled(counted(timeline, tracks, spans), factor)

    reads, writes = total(roles.reads, 1e-9), total(roles.writes, 1e-9)
    both = total(roles.traffic, 1e-9)
    if reads is not None and writes is not None:
        both = reads + writes
    faults = total(roles.faults, 1)
    return [
        *(name, len(spans), sum(end - begin for begin, end in spans) * 1e-9),
        *(reads, writes, both),
        *(total(roles.power, 1), total(roles.gpu_power, 1)),
        *(total(roles.network, 1e-6), total(roles.cpu, 1)),
        None if faults is None else round(faults),
    ]


MOST_UNKNOWN = 0.02
"""Of the time: a total over less is not known."""


def counted(
    timeline: Timeline, tracks: Sequence[Traced], spans: Sequence[tuple[int, int]]
) -> float | None:
    """Summed over tracks and spans; None where too much of the time is not known.

    Args:
        timeline: Timeline that the tracks belong to.
        tracks: Tracks of one unit to add up; empty gives None.
        spans: Begin and end of each span in ns, both marks of the timeline; spans may overlap.
    """
    if not tracks:
        return None
    wanted_s = sum(end - begin for begin, end in spans) * 1e-9
    found = 0.0
    for traced in tracks:
        parts = [timeline.between(traced, begin, end) for begin, end in spans]
        covered_s = math.fsum(part[1] for part in parts if part)
        if covered_s < (1 - MOST_UNKNOWN) * wanted_s:
            return None
        found += math.fsum(part[0] for part in parts if part)
    return found


def tracks_table(timeline: Timeline) -> Table:
    """Each track's mean and extremes, and its shape over the run."""
    return Table(
        name="profile-tracks",
        title="Tracks",
        columns=[
            Column(title="track"),
            Column(title="mean", digits=2),
            Column(title="most", digits=2),
            Column(title="unit"),
            Column(title="over time"),
            Column(title="least", digits=2, narrow=False),
            Column(title="known", unit="%", digits=1, narrow=False),
            Column(title="estimates", narrow=False),
        ],
        rows=[_track_row(timeline, traced) for traced in timeline.tracks],
        note=f"Over time: the mean of each {SPARK_COLUMNS}th of the run, drawn from 0 to the "
        f"highest; {GAP} marks missing data. Most and least: over windows that contain at least "
        "ten steps of the counter (ten events, or ten 10 ms ticks of the kernel's CPU time "
        "accounting), or that last a second if there are fewer. Known: share of the time with "
        "data. Estimates: intervals whose counts were scaled up because the counter shared its "
        "hardware.",
    )


def _track_row(timeline: Timeline, traced: Traced) -> list[Cell]:
    known = [v for v in (*traced.low, *traced.high) if v is not None]
    factor, unit = shown_unit(traced.track.unit, max(map(abs, known), default=0.0))
    lows = [v for v in traced.low if v is not None]
    highs = [v for v in traced.high if v is not None]
    return [
        plain(traced.track.name),
        _scaled(traced.mean(0, timeline.bins), factor),
        max(highs) * factor if highs else None,
        unit or None,
        sparkline(timeline, traced),
        min(lows) * factor if lows else None,
        traced.known_s / ((timeline.end_ns - timeline.begin_ns) * 1e-9),
        traced.estimates or None,
    ]


def sparkline(timeline: Timeline, traced: Traced, columns: int = SPARK_COLUMNS) -> str:
    """Bars from zero (or the lowest, where that is negative) to the highest.

    Args:
        timeline: Timeline that the track belongs to; all of it is drawn.
        traced: Track whose means are drawn.
        columns: Largest number of characters; a timeline of fewer bins takes one for each bin.
    """
    columns = min(columns, timeline.bins)
    ends = [at * timeline.bins // columns for at in range(columns + 1)]
    means = [traced.mean(begin, end) for begin, end in itertools.pairwise(ends)]
    return bars_of(means)


def bars_of(means: Sequence[float | None]) -> str:
    """One character for each value."""
    means = [mean if mean is not None and math.isfinite(mean) else None for mean in means]
    known = [mean for mean in means if mean is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    span = high - low
    return "".join(
        GAP
        if mean is None
        else BARS[min(len(BARS) - 1, int((mean - low) / span * len(BARS)))]
        if span
        else BARS[0]
        for mean in means
    )


def counters_table(timeline: Timeline) -> Table:
    """The source of each figure, and the verdict of its verification."""
    rows: list[list[Cell]] = []
    for traced in timeline.tracks:
        events: dict[str, list[Cell]] = {}
        for counter in traced.track.counters:
            verdict = counter.verdict
            events.setdefault(
                counter.event,
                [
                    plain(traced.track.name),
                    plain(counter.event),
                    _trust(counter),
                    counter.basis,
                    len([c for c in traced.track.counters if c.event == counter.event]),
                    f"{counter.scale:g} {plain(counter.unit)}".strip(),
                    plain(counter.scale_source),
                    plain(counter.route),
                    plain(verdict.evidence) if verdict else None,
                ],
            )
        rows += events.values()
    return Table(
        name="profile-counters",
        title="Counters",
        columns=[
            Column(title="track"),
            Column(title="event"),
            Column(title="verdict"),
            Column(title="basis", narrow=False),
            Column(title="places", narrow=False),
            Column(title="one count is", narrow=False),
            Column(title="by", narrow=False),
            Column(title="read as", narrow=False),
            Column(title="evidence", narrow=False),
        ],
        rows=rows,
        note="Verdicts are those of `memgauge counters verify` on this machine and kernel.",
    )


def _trust(counter: Counter) -> str | None:
    """Verification is of memory's counters only."""
    if counter.verdict is None and counter.domain != "memory":
        return None
    return plain(trust_in([counter]))


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
