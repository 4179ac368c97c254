"""The program's place on a curve of this machine, in words and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.diagnose.by_region.traffic import RegionOnCurve, RegionTraffic
from memgauge.analysis.diagnose.figures import Diagnosis
from memgauge.analysis.diagnose.on_curve import OnCurve, latency_at, nearest_curve
from memgauge.analysis.diagnose.traffic import Traffic
from memgauge.analysis.section import Axis, Chart, Mark, Rule, Series
from memgauge.model.records import MeasuredCurve
from memgauge.model.text import plain

MOST_OTHERS = 4
"""Curves of other mixes that are drawn, in grey."""
MOST_REGIONS = 4
"""Regions that are drawn."""


def place_words(one: OnCurve, traffic: Traffic) -> str:
    """Share of the peak, latency there and distance to the knee, in a sentence.

    Args:
        one: The place.
        traffic: What the program moves.
    """
    marked = "Simulated traffic" if traffic.basis == "simulated" else "Counted traffic"
    text = (
        f"{marked} on the curve of run {one.run_id} ({one.load}; {one.curve_read_share:.0%} of its "
        f"bytes are reads, {one.read_share:.0%} of the program's): {one.peak_share:.0%} of the "
        f"measured peak of {one.peak_gb_per_s:.1f} GB/s"
    )
    if one.latency_ns is None:
        return f"{text}, more than any load there moved: its place cannot be told."
    text += f", where a load takes {one.latency_ns:.0f} ns ({one.unloaded_ns:.0f} ns at least load)"
    if one.knee_gb_per_s is None or one.to_knee_gb_per_s is None:
        return f"{text}; the curve has no knee that could be resolved."
    side = "below" if one.to_knee_gb_per_s >= 0 else "beyond"
    return (
        f"{text}, {abs(one.to_knee_gb_per_s):.1f} GB/s {side} the knee at "
        f"{one.knee_gb_per_s:.1f} GB/s."
    )


def curve_charts(
    found: Diagnosis,
    curves: Sequence[MeasuredCurve],
    regions: Sequence[tuple[str, RegionTraffic, RegionOnCurve]] = (),
) -> Iterator[Chart]:
    """The curve of the nearest mix with the program on it; none where it has no place there.

    Args:
        found: The diagnosis.
        curves: Of this machine.
        regions: With a place on a curve; those that are on the same one are drawn.
    """
    one, traffic = found.on_curve, found.traffic
    if one is None or traffic is None or one.latency_ns is None:
        return
    curve = nearest_curve(curves, one.read_share)
    others = [each for each in curves if each is not curve][:MOST_OTHERS]
    yield Chart(
        name="diagnose-curve",
        title="The program on this machine's curve of latency over bandwidth",
        kind="line",
        x=Axis(title="bandwidth that memory moves", unit="GB/s", from_zero=True),
        y=Axis(title="latency of a load beside it", unit="ns", from_zero=True),
        series=[
            _line(curve, muted=False),
            _program(one, traffic, one.latency_ns),
            *_regions(one, regions),
            *(_line(each, muted=True) for each in others),
        ],
        rules=[Rule(label="measured peak", axis="x", value=one.peak_gb_per_s)],
        marks=[*_knee(curve)],
        note=place_words(one, traffic) + _further(traffic, others),
    )


def _line(curve: MeasuredCurve, *, muted: bool) -> Series:
    return Series(
        name=curve.load,
        x=[point.gb_per_s for point in curve.points],
        y=[point.latency_ns for point in curve.points],
        muted=muted,
    )


def _knee(curve: MeasuredCurve) -> Iterator[Mark]:
    knee = curve.knee_gb_per_s
    latency_ns = None if knee is None else latency_at(curve.points, knee)
    if knee is not None and latency_ns is not None:
        yield Mark(label="knee", x=knee, y=latency_ns)


def _program(one: OnCurve, traffic: Traffic, latency_ns: float) -> Series:
    """One point, whose name states what it rests on."""
    return Series(
        name=f"the program, {traffic.basis} traffic",
        x=[one.gb_per_s],
        y=[latency_ns],
        notes=[f"{one.peak_share:.0%} of the measured peak"],
        joined=False,
    )


def _regions(
    one: OnCurve, regions: Sequence[tuple[str, RegionTraffic, RegionOnCurve]]
) -> Iterator[Series]:
    """Each from the least that it may move to the most."""
    here = [
        region for region in regions if (region[2].run_id, region[2].load) == (one.run_id, one.load)
    ]
    for name, traffic, place in here[:MOST_REGIONS]:
        least, most = place.latency_least_ns, place.latency_most_ns
        if least is None or most is None:
            continue
        ends = list(dict.fromkeys(zip(traffic.gb_per_s, (least, most), strict=True)))
        yield Series(
            name=f"region {plain(name)}, {traffic.basis} traffic",
            x=[gb_per_s for gb_per_s, _ in ends],
            y=[latency_ns for _, latency_ns in ends],
            joined=len(ends) > 1,
        )


def _further(traffic: Traffic, others: Sequence[MeasuredCurve]) -> str:
    grey = " Grey: other mixes of reads and writes." if others else ""
    if traffic.basis == "simulated":
        return f"{grey} The program's bandwidth is simulated bytes over measured time, not counted."
    return grey
