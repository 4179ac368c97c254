"""Regions of a diagnosed program as plain data, for `--json`."""

from __future__ import annotations

import msgspec

from memgauge.analysis.diagnose.by_region.judged import RegionDiagnosis
from memgauge.analysis.diagnose.by_region.traffic import Amount, RegionOnCurve, RegionTraffic
from memgauge.analysis.diagnose.judgement import Kind
from memgauge.analysis.diagnose.traffic import Basis
from memgauge.analysis.document_figure import Figure, figure
from memgauge.model.simulated_program import TrafficPlace


class AmountFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes."""

    least_bytes: float
    """Counted between the readings inside the region,"""
    most_bytes: float
    """and between those around it. Of what was simulated, both are the same."""
    bytes: float | None
    """What was counted between two readings shared out evenly over the time between them; None: the
    region is shorter than the interval of sampling."""


class RegionTrafficFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Of one region in one run."""

    basis: Basis
    """counted: of the whole machine, other programs included. simulated: nothing was counted."""
    by: str
    """The back end that counted it, or the machine whose caches were simulated."""
    total: AmountFigures
    read: AmountFigures | None
    """None: not told apart."""
    write: AmountFigures | None
    inside_s: float
    """Measured: in the run that was sampled, or the median of the usual runs where simulated."""
    least_gb_per_s: float
    most_gb_per_s: float
    peak_gb_per_s: float | None
    """Measured: of the bandwidth reference, write-allocate included."""
    least_peak_share: float | None
    most_peak_share: float | None
    rate_hz: float | None
    """Of sampling; None: simulated."""
    functions: list[TrafficPlace]
    """Those that make most of what was simulated."""


class RegionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What limits the program inside a region that it marks."""

    name: str
    run_share: Figure | None
    """Of the elapsed time of a run, that at least one thread is inside."""
    time_s: Figure | None
    rounds: int
    """That could be paired under writes."""
    verdict: Kind
    why: str
    slowdown: Figure | None
    """Under writes; its interval, and those of the shares, are so wide that those of all regions
    hold together."""
    latency_share: Figure | None
    bandwidth_share: Figure | None
    traffic: RegionTrafficFigures | None = None
    """Counted; else simulated."""
    simulated: RegionTrafficFigures | None = None
    """What was simulated, also where it was counted."""
    on_curve: RegionOnCurve | None = None
    """Where `traffic` lies on a curve of this machine that --curves named."""


def region_figures(one: RegionDiagnosis) -> RegionFigures:
    """As plain data.

    Args:
        one: The region.
    """
    return RegionFigures(
        name=one.name,
        run_share=figure(one.run_share),
        time_s=figure(one.time_s),
        rounds=one.write.rounds if one.write else 0,
        verdict=one.judgement.kind,
        why=one.judgement.why,
        slowdown=figure(one.write.program) if one.write else None,
        latency_share=figure(one.judgement.latency_share),
        bandwidth_share=figure(one.judgement.bandwidth_share),
        traffic=_region_traffic(one.traffic),
        simulated=_region_traffic(one.simulated),
        on_curve=one.on_curve,
    )


def _region_traffic(one: RegionTraffic | None) -> RegionTrafficFigures | None:
    if one is None:
        return None
    share = one.peak_share
    return RegionTrafficFigures(
        basis=one.basis,
        by=one.by,
        total=_amount(one.total),
        read=_amount(one.read) if one.read else None,
        write=_amount(one.write) if one.write else None,
        inside_s=one.inside_s,
        least_gb_per_s=one.gb_per_s[0],
        most_gb_per_s=one.gb_per_s[1],
        peak_gb_per_s=one.peak_gb_per_s,
        least_peak_share=share[0] if share else None,
        most_peak_share=share[1] if share else None,
        rate_hz=one.rate_hz,
        functions=one.places,
    )


def _amount(one: Amount) -> AmountFigures:
    return AmountFigures(least_bytes=one.least, most_bytes=one.most, bytes=one.total)
