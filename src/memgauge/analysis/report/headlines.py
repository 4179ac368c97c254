"""The key figures at the top of a run's report, each beside what it varies by between runs."""

from typing import NamedTuple

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_name, gpu_of, gpu_peak_gb_per_s
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.latency.figures import conditions, memory_latency
from memgauge.analysis.report.earlier_runs import between_runs, headline_value
from memgauge.analysis.section import Cell, Headline
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.figures import best, headline, kernel_results, regime_words
from memgauge.analysis.transfers.section import best_transfers
from memgauge.analysis.workingset.section import claims_for, find
from memgauge.model.points.shared import AnyActual
from memgauge.model.records import Point
from memgauge.model.units import format_bytes, format_count

MOST_HEADLINES = 4


@once
def headlines(figures: Figures) -> list[Headline]:
    """At most four, the most important first."""
    made = [_bandwidth(figures), _latency(figures), _last_level(figures), _peak(figures)]
    found = [one for one in (*made, best_transfers(figures)) if one is not None][:MOST_HEADLINES]
    earlier = figures.run.start.earlier
    return [msgspec.structs.replace(one, between=between_runs(one, earlier)) for one in found]


def headline_figures(figures: Figures) -> dict[str, float]:
    """What later runs need of this one, by key; nothing of a run that did not end as it should."""
    end = figures.run.end
    if end is None or end.status not in {"complete", "budget"}:
        return {}
    known = ((one.key, headline_value(one)) for one in headlines(figures))
    return {key: value for key, value in known if key is not None and value is not None}


def _bandwidth(figures: Figures) -> Headline | None:
    results = kernel_results(figures)
    found = headline(results)
    if found is None or found.sustained is None:
        return None
    by = gpu_name([found.point]) or format_count(found.threads, "thread")
    detail = ", ".join(filter(None, (found.title, by, regime_words(found, results))))
    value: Cell = found.sustained
    return Headline(
        label="Bandwidth",
        value=value,
        unit="GB/s",
        detail=detail,
        key=_key(f"bandwidth, {found.title}, {by}", found.point, found.slice),
    )


def _latency(figures: Figures) -> Headline | None:
    found = memory_latency(figures)
    if found is None:
        return None
    point, estimate = found
    made = conditions(point)
    return Headline(
        label="Memory latency",
        value=estimate,
        unit="ns",
        detail=made,
        key=_key(f"memory latency, {made}", point.point, point.summary),
    )


def _key(what: str, point: Point, summary: PointSummary | None) -> str:
    """What a run's figure must share with another's to be the same figure."""
    statistic = None if summary is None else summary.statistic
    gpu = AnyActual.of(point.actual).gpu_uuid if gpu_of(point) else None
    return ", ".join(filter(None, (what, statistic, gpu)))


def _last_level(figures: Figures) -> Headline | None:
    # A cache that is claimed and was not found may be the last: then the last one found is not.
    caches = [f for f in find(figures) if f.level is None or f.level.capacity_bytes]
    if not caches or caches[-1].level is None:
        return None
    finding, level = caches[-1], caches[-1].level
    claimed = finding.claimed_bytes
    by = claims_for(figures).by
    detail = f"{finding.name}, {format_bytes(claimed)} by the {by}" if claimed else finding.status
    low, high = level.capacity_low_bytes, level.capacity_high_bytes
    value = Estimate(float(low), float(low), float(high or low))
    return Headline(
        label="Last-level cache found",
        value=value,
        unit="B",
        detail=detail,
        key=f"last-level cache found, {finding.name}",
    )


def _peak(figures: Figures) -> Headline | None:
    share = peak_share(figures)
    if share is None:
        return None
    detail = "by clock and width of the bus" if share.of_gpu else "of the data sheet"
    return Headline(
        label="Share of peak",
        value=share.value,
        unit="%",
        detail=detail,
        key=f"share of peak, {detail}",
    )


class PeakShare(NamedTuple):
    """Of the theoretical peak, of the host's memory or of a GPU's."""

    value: float
    of_gpu: bool


def peak_share(figures: Figures) -> PeakShare | None:
    """Best sustained bandwidth over the theoretical peak, by the bytes that memory moves.

    None where either is not known. Bytes moved are an upper bound where hardware avoids the
    write-allocate, so those that STREAM counts are used, which are surely moved.
    """
    top = best(kernel_results(figures))
    if top is None or top.sustained is None:
        return None
    of_gpu = bool(gpu_of(top.point))
    known = figures.run.start.system.theoretical_bandwidth_bytes_per_s
    peak = gpu_peak_gb_per_s([top.point]) if of_gpu else known and known * 1e-9
    return PeakShare(top.sustained.value / peak, of_gpu) if peak else None
