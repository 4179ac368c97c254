"""What a program moves in each region: counted, between bounds; else simulated.

Counters are sampled in one run that is in no other figure. A begin or an end of a region lies
between two readings, so that at least what was counted between the readings inside belongs to the
region, and at most what was counted between those around. That is the analysis of a profile; the
bounds are always given, since verdicts rest on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import msgspec

from memgauge.analysis.diagnose.figures import NAME
from memgauge.analysis.diagnose.on_curve import latency_at, nearest_curve
from memgauge.analysis.diagnose.traffic import (
    Basis,
    last_simulated,
    peak_gb_per_s_of,
    usual_program,
    waits_share,
)
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.profile.lanes import recorded_lane
from memgauge.analysis.profile.phases import roles_of
from memgauge.analysis.profile.timeline import Grid, Timeline, Traced, timeline_over
from memgauge.analysis.profile.totals import Spans, all_traffic, bounded, bounds, seconds_in
from memgauge.model.record_kinds.programs import Region, SampledRegions
from memgauge.model.records import MeasuredCurve, Sample
from memgauge.model.run import Run
from memgauge.model.simulated_program import TrafficPlace

Pair = tuple[float, float]
"""Least and most."""


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes."""

    least: float
    most: float
    total: float | None
    """What was counted between two readings shared out evenly over the time between them; None: the
    region is too short for that. Of what was simulated, all three are the same."""


class RegionTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """What one region moves, beside what this machine can give."""

    basis: Basis
    by: str
    """The back end that counted it, or the machine whose caches were simulated."""
    total: Amount
    """Read and written."""
    read: Amount | None
    """None: not told apart."""
    write: Amount | None
    inside_s: float
    """Time that the bytes are over: counted, in the run that was sampled; simulated, the median of
    the usual runs."""
    peak_gb_per_s: float | None
    """What the bandwidth reference moved beside arithmetic, write-allocate included."""
    rate_hz: float | None
    """Of sampling; None: simulated."""
    is_estimate: bool = False
    """Counters shared their hardware with others for a part of the time."""
    places: list[TrafficPlace] = []
    """Functions that make most of what was simulated."""

    @property
    def is_too_short(self) -> bool:
        """Whether only bounds are known, for the region is shorter than the sampling interval."""
        return self.total.total is None

    @property
    def is_range(self) -> bool:
        """Whether least and most differ."""
        return self.total.least < self.total.most

    @property
    def gb_per_s(self) -> Pair:
        """Least and most bytes over time."""
        return (
            self.total.least / self.inside_s * 1e-9,
            self.total.most / self.inside_s * 1e-9,
        )

    @property
    def peak_share(self) -> Pair | None:
        """Of what the bandwidth reference moved on the program's first CPU."""
        if not self.peak_gb_per_s:
            return None
        least, most = self.gb_per_s
        return least / self.peak_gb_per_s, most / self.peak_gb_per_s

    def waits_share(self, latency_ns: float) -> Pair:
        """Least and most of its time that it would wait for the lines that it reads.

        Args:
            latency_ns: Of a load from memory.
        """
        read = self.read or self.total
        least, most = (
            waits_share(bytes_, latency_ns, self.inside_s) for bytes_ in (read.least, read.most)
        )
        return least, most

    @property
    def read_share(self) -> Pair | None:
        """Of reads in the bytes; None: not told apart, or it may be that nothing was moved."""
        if self.read is None or self.write is None:
            return None
        low = self.read.least + self.write.most
        high = self.read.most + self.write.least
        if not low or not high:
            return None
        return self.read.least / low, self.read.most / high


class RegionOnCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A region on the curve whose share of reads is nearest to its own."""

    run_id: str
    """Of the run that measured the curve."""
    load: str
    """The load of the curve in words."""
    curve_read_share: float
    peak_gb_per_s: float
    """The most that memory moved under this load."""
    peak_share_least: float
    peak_share_most: float
    latency_least_ns: float | None
    """At the least that the region may move; None: more than any load of the curve did."""
    latency_most_ns: float | None
    """At the most."""
    to_knee_least_gb_per_s: float | None
    """What it may move more before the knee, at the most that it may move; negative: it may lie
    beyond. None: the curve has no knee that could be resolved."""
    to_knee_most_gb_per_s: float | None
    """The same at the least; negative: it lies beyond."""


@once
def counted_regions(figures: Figures) -> dict[str, RegionTraffic]:
    """By name of the region; those of which something is not known are missing.

    Args:
        figures: Of the run.
    """
    run = figures.run
    found: dict[str, RegionTraffic] = {}
    for sampled in run.sampled_regions[-1:]:
        timeline = _timeline(run, sampled)
        if timeline is None:
            continue
        peak_gb_per_s = peak_gb_per_s_of(run, run.points_of(NAME))
        for name, spans in sampled.regions.items():
            traffic = _counted(timeline, spans, peak_gb_per_s)
            if traffic is not None:
                found[name] = traffic
    return found


def _timeline(run: Run, sampled: SampledRegions) -> Timeline | None:
    lane = recorded_lane(sampled, run.counters[sampled.counters])
    if lane is None:
        return None
    marked = [
        Region(name=name, pid=0, tid=0, begin_ns=begin, end_ns=end)
        for name, spans in sampled.regions.items()
        for begin, end in spans
    ]
    alone = msgspec.structs.replace(run, regions=marked, processes=[], lanes=[])
    length_ns = sampled.end_ns - sampled.begin_ns
    grid = Grid(begin_ns=sampled.begin_ns, end_ns=sampled.end_ns, bin_ns=length_ns)
    return timeline_over(alone, [lane], [], grid)


def _counted(timeline: Timeline, spans: Spans, peak_gb_per_s: float | None) -> RegionTraffic | None:
    roles = roles_of(timeline)
    tracks = _measured(all_traffic(roles))
    total, inside_s = _amount(timeline, tracks, spans), seconds_in(spans)
    if total is None or inside_s <= 0:
        return None
    read, write = (_amount(timeline, _measured(of), spans) for of in (roles.reads, roles.writes))
    apart = read is not None and write is not None
    return RegionTraffic(
        basis="counted",
        by=tracks[0].track.counters[0].back_end,
        total=total,
        read=read if apart else None,
        write=write if apart else None,
        inside_s=inside_s,
        peak_gb_per_s=peak_gb_per_s,
        rate_hz=1e9 / max(traced.interval_ns for traced in tracks),
        is_estimate=any(traced.estimates for traced in tracks),
    )


def _measured(tracks: Sequence[Traced]) -> list[Traced]:
    return [one for one in tracks if one.track.basis == "measured" and not one.track.gauge]


def _amount(timeline: Timeline, tracks: Sequence[Traced], spans: Spans) -> Amount | None:
    """None: not counted, or not all of the time."""
    found = bounded(timeline, tracks, spans)
    if found.total is None and not found.is_range:
        return None
    least, most = bounds(timeline, tracks, spans)
    return Amount(least=least, most=most, total=found.total)


@once
def simulated_regions(figures: Figures) -> dict[str, RegionTraffic]:
    """By name of the region, over its measured time; none where nothing was simulated.

    Args:
        figures: Of the run.
    """
    run = figures.run
    points = run.points_of(NAME)
    program = usual_program(run, points)
    last = last_simulated(run, points)
    if program is None or last is None:
        return {}
    peak_gb_per_s = peak_gb_per_s_of(run, points)
    found = {}
    for one in last.regions:
        inside_s = _median_s(run.samples[program.point], one.name)
        if inside_s:
            found[one.name] = RegionTraffic(
                basis="simulated",
                by=last.machine,
                total=_simulated(one.read_bytes + one.write_bytes),
                read=_simulated(one.read_bytes),
                write=_simulated(one.write_bytes),
                inside_s=inside_s,
                peak_gb_per_s=peak_gb_per_s,
                rate_hz=None,
                places=one.places,
            )
    return found


def not_by_region(figures: Figures) -> str:
    """Why the traffic of regions was not simulated; empty: it was, or nobody asked.

    Args:
        figures: Of the run.
    """
    last = last_simulated(figures.run, figures.run.points_of(NAME))
    return last.no_regions if last else ""


def _median_s(taken: Sequence[Sample], region: str) -> float | None:
    """In one run; None: it was not timed."""
    each = [fmean(inside_s) for one in taken if (inside_s := one.regions_s.get(region))]
    return median(each) if each else None


def _simulated(bytes_: int) -> Amount:
    return Amount(least=bytes_, most=bytes_, total=bytes_)


def region_on_curve(
    traffic: RegionTraffic | None, curves: Sequence[MeasuredCurve]
) -> RegionOnCurve | None:
    """None: no curve, or the share of reads is not known so well that one is nearest.

    Args:
        traffic: Of the region.
        curves: Of this machine.
    """
    shares = traffic.read_share if traffic is not None else None
    if traffic is None or shares is None or not curves:
        return None
    curve = nearest_curve(curves, shares[0])
    peak = max(point.gb_per_s for point in curve.points)
    if curve is not nearest_curve(curves, shares[1]) or not peak:
        return None
    (least, most), knee = traffic.gb_per_s, curve.knee_gb_per_s
    return RegionOnCurve(
        run_id=curve.run_id,
        load=curve.load,
        curve_read_share=curve.read_share,
        peak_gb_per_s=peak,
        peak_share_least=least / peak,
        peak_share_most=most / peak,
        latency_least_ns=latency_at(curve.points, least),
        latency_most_ns=latency_at(curve.points, most),
        to_knee_least_gb_per_s=None if knee is None else knee - most,
        to_knee_most_gb_per_s=None if knee is None else knee - least,
    )
