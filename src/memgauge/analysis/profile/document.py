"""A profile as plain data: what `--json` prints of it."""

from __future__ import annotations

import math

import msgspec

from memgauge.analysis.figures.resident_peak import Peak
from memgauge.analysis.profile.lanes import Pace
from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.phases import Activity, Phase, roles_of
from memgauge.analysis.profile.routes import RouteTotals, route_totals
from memgauge.analysis.profile.section import profile_of
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.totals import Total
from memgauge.analysis.profile.totals_tables import Marked, marked_of, whole_of
from memgauge.analysis.profile.usage import Beside, beside_of, peak_of
from memgauge.model.counting.calibration import calibrations_of
from memgauge.model.record_kinds.programs import Process, Region
from memgauge.model.run import Run


class PhaseFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One phase."""

    number: int
    begin_s: float
    """From the begin of the timeline."""
    begin_low_s: float
    begin_high_s: float
    """It began between these moments, with 95% confidence."""
    duration_s: float
    activity: Activity
    looks_like: str | None
    """A guess from these figures; None if they match no known pattern."""


class TrackFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One track over the whole run."""

    name: str
    quantity: str
    domain: str
    unit: str
    """Of mean, least and most."""
    basis: str
    counters: list[str]
    verdicts: list[str]
    """Verdict of the verification of its events; empty without one."""
    calibrations: list[float]
    """Factors that verification found and that are contained in the values; empty: none are."""
    mean: float | None
    least: float | None
    """Between two readings."""
    most: float | None
    total: float | None
    """Counted in the time it is known for, in the counter's unit; None for gauges."""
    known_s: float
    estimates: int
    """Intervals scaled up because the counter shared its hardware."""
    went_back: int


class ProfileFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A profile."""

    begin_ns: int | None
    """On the run's clock; None: no reading can be used."""
    duration_s: float | None
    bin_s: float | None
    processes: list[Process]
    regions: list[Region]
    phases: list[PhaseFigures]
    tracks: list[TrackFigures]
    totals: list[Total]
    """Of the whole run: every counter's total, rate and share."""
    marked: list[Marked]
    """Of all regions of each name; each moment is counted once."""
    peak: Peak | None
    """Largest resident size of one process; None: not known."""
    beside: list[Beside]
    """What else the machine did."""
    paces: list[Pace]
    notes: list[str]
    """What had to be left out."""
    routes: RouteTotals | None = None
    """Memory traffic by each of several routes to its counters; None: fewer than two were read."""


def profile_figures(run: Run) -> ProfileFigures:
    """The figures of a profile; of one that was killed, those of what was read."""
    found = profile_of(run)
    timeline = found.timeline
    roles = roles_of(timeline) if timeline else None
    return ProfileFigures(
        begin_ns=timeline.begin_ns if timeline else None,
        duration_s=(timeline.end_ns - timeline.begin_ns) * 1e-9 if timeline else None,
        bin_s=timeline.bin_ns * 1e-9 if timeline else None,
        processes=run.processes,
        regions=run.regions,
        phases=[_phase(found.phases, at) for at in range(len(found.phases))],
        tracks=[_track(timeline, traced) for traced in timeline.tracks] if timeline else [],
        totals=whole_of(timeline, roles) if timeline and roles else [],
        marked=marked_of(timeline, roles) if timeline and roles else [],
        peak=peak_of(run),
        beside=[*beside_of(run)],
        paces=timeline.paces if timeline else [],
        notes=found.notes,
        routes=route_totals(timeline) if timeline else None,
    )


def _phase(phases: list[Phase], at: int) -> PhaseFigures:
    phase = phases[at]
    return PhaseFigures(
        number=phase.number,
        begin_s=phase.begin_s,
        begin_low_s=phase.begin_low_s,
        begin_high_s=phase.begin_high_s,
        duration_s=phase.duration_s,
        activity=phase.activity,
        looks_like=looks_like(phases, at),
    )


def _track(timeline: Timeline, traced: Traced) -> TrackFigures:
    track = traced.track
    lows = [value for value in traced.low if value is not None]
    highs = [value for value in traced.high if value is not None]
    verdicts = [c.verdict.verdict for c in track.counters if c.verdict is not None]
    return TrackFigures(
        name=track.name,
        quantity=track.quantity,
        domain=track.domain,
        unit=track.unit,
        basis=track.basis,
        counters=[counter.name for counter in track.counters],
        verdicts=list(dict.fromkeys(verdicts)),
        calibrations=calibrations_of(track.counters),
        mean=_finite(traced.mean(0, timeline.bins)),
        least=_finite(min(lows, default=None)),
        most=_finite(max(highs, default=None)),
        total=None if track.gauge else _finite(traced.total(0, timeline.bins)),
        known_s=traced.known_s,
        estimates=traced.estimates,
        went_back=traced.went_back,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
