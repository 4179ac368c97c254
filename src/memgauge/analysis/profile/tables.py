"""The tables of a profile: phases, totals of regions, tracks with a small picture, counters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.moments import begins, lasts
from memgauge.analysis.profile.phases import Phase
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.counting.events import Counter
from memgauge.model.text import plain

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
SPARK_COLUMNS = 20


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
    """Verification is of memory's counters only, not of what samples it."""
    if counter.verdict is None and (counter.domain != "memory" or counter.gauge):
        return None
    return plain(trust_in([counter]))


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
