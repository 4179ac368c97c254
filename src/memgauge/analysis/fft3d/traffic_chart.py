"""The picture of measured traffic by phase, with its range, beside what is expected."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.fft3d.measured import Measured
from memgauge.analysis.fft3d.phases import PhaseTimes
from memgauge.analysis.fft3d.shape import Pencils
from memgauge.analysis.section import Axis, Chart, Series

MB = 1e-6
AROUND = "least and most over transforms"


def traffic_chart(phases: Sequence[PhaseTimes], step: Pencils) -> Chart | None:
    """Bars of each phase with a mean; None where no phase has one.

    Args:
        phases: Figures of the phases of one step.
        step: That step.
    """
    shown = [
        one
        for one in phases
        if _mean(one.measured_read) is not None or _mean(one.measured_write) is not None
    ]
    if not shown:
        return None
    x: list[float | str] = [one.title for one in shown]
    bars = [
        Series(name="expected read", x=x, y=[_mb(one.expected_read_bytes) for one in shown]),
        measured_series("measured read", x, [one.measured_read for one in shown], MB),
        Series(name="expected written", x=x, y=[_mb(one.expected_write_bytes) for one in shown]),
        measured_series("measured written", x, [one.measured_write for one in shown], MB),
    ]
    short = [one.title for one in phases if _is_short(one)]
    return Chart(
        name="fft3d-traffic",
        title=f"Traffic of a rank by phase, {step.size}^3 on {step.grid}",
        kind="bar",
        x=Axis(title="Phase", unit=""),
        y=Axis(title="Bytes of one transform", unit="MB", from_zero=True),
        series=bars,
        around=AROUND,
        note="Measured: mean over transforms, by counters of memory over all ranks of a node and "
        "whatever else ran there, over their number; whiskers: the least and the most of any "
        "transform. Expected: closed form."
        + (f" Too short for the rate of sampling: {', '.join(short)}." if short else ""),
    )


def measured_series(
    name: str, x: list[float | str], found: Sequence[Measured | None], scale: float = 1.0
) -> Series:
    """Means over transforms with the least and the most; a gap where there is no mean.

    Args:
        name: In the legend.
        x: Places on the x axis.
        found: What was measured at each.
        scale: Of all values, which are bytes.
    """
    known = [None if one is None or one.mean is None else one for one in found]
    return Series(
        name=name,
        x=x,
        y=[None if (mean := _mean(one)) is None else mean * scale for one in known],
        low=[None if one is None else one.least * scale for one in known],
        high=[None if one is None else one.most * scale for one in known],
    )


def _mean(found: Measured | None) -> float | None:
    return None if found is None else found.mean


def _is_short(phase: PhaseTimes) -> bool:
    sides = (phase.measured_read, phase.measured_write)
    return any(one is not None and one.mean is None for one in sides)


def _mb(bytes_: float | None) -> float | None:
    return None if bytes_ is None else bytes_ * MB
