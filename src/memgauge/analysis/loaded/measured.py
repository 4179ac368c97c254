"""The curves of a run as records: what a diagnosis of the same machine places a program on."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.loaded.figures import LoadedCurve, LoadedPoint, loaded_curves
from memgauge.model.records import CurvePoint, MeasuredCurve
from memgauge.model.units import format_count

LEAST_POINTS = 3


def measured_curves(figures: Figures) -> list[MeasuredCurve]:
    """One curve for each mix of reads and writes: sequential, of most generators, in host memory.

    Where a team was seen at several distances of its cores, it is the curve with most samples.

    Args:
        figures: Of a run with `loaded`, or of a survey; of any other there are none.
    """
    best: dict[tuple[float, str], LoadedCurve] = {}
    for curve in loaded_curves(figures):
        if curve.order not in {"", "sequential"} or curve.memory.startswith("cuda"):
            continue
        if len(_points(curve)) < LEAST_POINTS:
            continue
        key = (curve.read_share, curve.store)
        if key not in best or _prominence(curve) > _prominence(best[key]):
            best[key] = curve
    start = figures.run.start
    return [
        MeasuredCurve(
            run_id=start.run_id,
            started_at=start.started_at,
            load=_words(curve),
            read_share=_moved_read_share(curve),
            points=_points(curve),
            knee_gb_per_s=_knee(curve),
        )
        for curve in best.values()
    ]


def _prominence(curve: LoadedCurve) -> tuple[int, int]:
    return curve.generators, sum(point.samples for point in curve.points)


def _points(curve: LoadedCurve) -> list[CurvePoint]:
    return [
        CurvePoint(gb_per_s=one.moved.value, latency_ns=one.latency.value)
        for one in curve.points
        if one.moved is not None and one.latency.value > 0
    ]


def _factor(point: LoadedPoint) -> float:
    """Bytes moved over bytes counted: more than 1 where ordinary stores read lines first."""
    if point.moved is None or not point.bandwidth.value:
        return 1.0
    return point.moved.value / point.bandwidth.value


def _moved_read_share(curve: LoadedCurve) -> float:
    """Of what memory moved: lines that ordinary stores read first are reads."""
    issued = curve.read_share if curve.share_issued is None else curve.share_issued
    factor = max(1.0, _factor(curve.saturated))
    return min(1.0, max(0.0, (issued + factor - 1) / factor))


def _knee(curve: LoadedCurve) -> float | None:
    at, bandwidth = curve.at_knee, curve.knee.bandwidth
    return None if at is None or bandwidth is None else bandwidth.value * _factor(at)


def _words(curve: LoadedCurve) -> str:
    stores = f"{curve.store} stores" if curve.store else ""
    team = format_count(curve.generators, "generator")
    return ", ".join(filter(None, (curve.load, stores, team, curve.regime)))
