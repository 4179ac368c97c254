"""Where the program's traffic lies on a curve of this machine: latency beside bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from memgauge.analysis.diagnose.traffic import Traffic
from memgauge.model.records import CurvePoint, MeasuredCurve


class OnCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A program on the curve whose share of reads is nearest to its own."""

    run_id: str
    """Of the run that measured the curve."""
    load: str
    """The load of the curve in words."""
    curve_read_share: float
    read_share: float
    """Of the program's own traffic."""
    gb_per_s: float
    """Of the program: what it moves over its measured time."""
    peak_gb_per_s: float
    """The most that memory moved under this load."""
    peak_share: float
    unloaded_ns: float
    """Latency at the least load of the curve."""
    latency_ns: float | None
    """Between the two nearest loads; None: it moves more than any load of the curve did."""
    knee_gb_per_s: float | None
    """None: the curve has none, or none that could be resolved."""
    to_knee_gb_per_s: float | None
    """What it may move more before the knee; negative: it lies beyond."""


def on_curve(traffic: Traffic | None, curves: Sequence[MeasuredCurve]) -> OnCurve | None:
    """None: no curve, or reads are not told apart from writes.

    Args:
        traffic: Of the program.
        curves: Of this machine.
    """
    share = traffic.read_share if traffic is not None else None
    if traffic is None or share is None or not curves:
        return None
    curve = nearest_curve(curves, share)
    moved = traffic.gb_per_s
    peak = max(point.gb_per_s for point in curve.points)
    if not peak:
        return None
    knee = curve.knee_gb_per_s
    return OnCurve(
        run_id=curve.run_id,
        load=curve.load,
        curve_read_share=curve.read_share,
        read_share=share,
        gb_per_s=moved,
        peak_gb_per_s=peak,
        peak_share=moved / peak,
        unloaded_ns=curve.points[0].latency_ns,
        latency_ns=latency_at(curve.points, moved),
        knee_gb_per_s=knee,
        to_knee_gb_per_s=None if knee is None else knee - moved,
    )


def nearest_curve(curves: Sequence[MeasuredCurve], read_share: float) -> MeasuredCurve:
    """The one whose share of reads is nearest.

    Args:
        curves: One at least.
        read_share: From 0 to 1.
    """
    return min(curves, key=lambda one: abs(one.read_share - read_share))


def latency_at(points: Sequence[CurvePoint], gb_per_s: float) -> float | None:
    """Latency on the straight line between the loads beside a bandwidth.

    Below the least load it is that of the least load. None: more than any load moved.

    Args:
        points: In order of rising load.
        gb_per_s: What is moved.
    """
    if gb_per_s <= points[0].gb_per_s:
        return points[0].latency_ns
    for one, next_ in pairwise(points):
        if one.gb_per_s <= gb_per_s <= next_.gb_per_s:
            span = next_.gb_per_s - one.gb_per_s
            part = (gb_per_s - one.gb_per_s) / span if span else 0.0
            return one.latency_ns + part * (next_.latency_ns - one.latency_ns)
    return None
