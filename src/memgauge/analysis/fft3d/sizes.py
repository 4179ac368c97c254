"""A job of several sizes: what transforms and re-sorts take over the number of points each way."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.fft3d.phases import PhaseTimes
from memgauge.analysis.fft3d.scaling import StepFigures
from memgauge.analysis.fft3d.shape import Pencils
from memgauge.analysis.fft3d.traffic_chart import AROUND, measured_series
from memgauge.analysis.section import Axis, Chart, Column, Series, Table
from memgauge.model.units import format_count

RESORT = "re-sort"
"""Begin of the titles of phases that are one."""
WIDE = 4
"""Largest over smallest size, from which on sizes are drawn by their powers of two."""


class Sized(msgspec.Struct, frozen=True, kw_only=True):
    """The phases of one size."""

    step: Pencils
    phases: list[PhaseTimes]


def are_sizes(steps: Sequence[Pencils]) -> bool:
    """Whether steps are sizes on one grid rather than numbers of ranks."""
    return len(steps) > 1 and len({str(step.grid) for step in steps}) == 1


def sizes_table(steps: Sequence[StepFigures]) -> Table:
    """One row for each size."""
    first = steps[0]
    return Table(
        name="fft3d-sizes",
        title=f"Transforms on {first.pencils.grid} by size",
        columns=[
            Column(title="N"),
            Column(title="least", unit="ms", digits=2),
            Column(title="median", unit="ms", digits=2),
            Column(title="most", unit="ms", digits=2),
            Column(title="FFT", unit="ms", digits=2),
            Column(title="re-sort", unit="ms", digits=2),
            Column(title="All2All", unit="ms", digits=2),
        ],
        rows=[
            [
                step.pencils.size,
                *(1e3 * step.least_s, 1e3 * step.median_s, 1e3 * step.most_s),
                *(1e3 * step.fft_s, 1e3 * step.resort_s, 1e3 * step.all2all_s),
            ]
            for step in steps
        ],
        note=f"Time of the slowest rank, over {format_count(first.transforms, 'transform')} in "
        "rounds over all sizes. FFT, re-sort, All2All: all phases of the kind; each is a median "
        "over transforms, so they need not add up.",
    )


def sizes_charts(sized: Sequence[Sized]) -> list[Chart]:
    """Re-sorts over N: their speed, and where counters saw it, what each reads and writes."""
    titles = [one.title for one in sized[-1].phases if one.title.startswith(RESORT)]
    return [_speeds(sized, titles), *_traffic(sized, titles)] if titles else []


def _speeds(sized: Sequence[Sized], titles: Sequence[str]) -> Chart:
    def ends(title: str) -> list[tuple[float | None, float | None, float | None]]:
        speeds = [
            None if phase is None else phase.expected_bytes_per_s
            for phase in (_phase(one, title) for one in sized)
        ]
        return [
            (None, None, None)
            if one is None
            else (one.value * 1e-9, _gb(one.low, one.high), _gb(one.high, one.high))
            for one in speeds
        ]

    drawn = []
    for title in titles:
        values, lows, highs = map(list, zip(*ends(title), strict=True))
        drawn.append(Series(name=title, x=_sizes(sized), y=values, low=lows, high=highs))
    return Chart(
        name="fft3d-sizes-speed",
        title=f"Speed of the re-sorts on {sized[-1].step.grid} by size",
        kind="line",
        x=_axis(sized),
        y=Axis(title="Expected bytes / measured time", unit="GB/s", from_zero=True),
        series=drawn,
        note="Of one rank, at its median. Expected: the closed form of the loops; not what memory "
        "moved.",
    )


def _gb(end: float | None, high: float | None) -> float | None:
    """An end of an interval that has both."""
    return None if end is None or high is None else end * 1e-9


def _traffic(sized: Sequence[Sized], titles: Sequence[str]) -> list[Chart]:
    found = []
    for at, title in enumerate(titles, start=1):
        known = [(one.step, phase) for one in sized if (phase := _phase(one, title)) is not None]
        if all(phase.measured_read_bytes is None for _, phase in known):
            continue
        x: list[float | str] = [float(step.size) for step, _ in known]
        phases = [phase for _, phase in known]
        reads, writes = (
            [one.measured_read for one in phases],
            [one.measured_write for one in phases],
        )
        found.append(
            Chart(
                name=f"fft3d-sizes-traffic-{at}",
                title=f"{title[:1].upper()}{title[1:]}: traffic of one rank by size",
                kind="line",
                x=_axis(sized),
                y=Axis(title="Bytes of one re-sort", unit="B", scale="log2"),
                series=[
                    measured_series("measured reads", x, reads),
                    measured_series("measured writes", x, writes),
                    Series(
                        name="expected reads",
                        x=x,
                        y=[one.expected_read_bytes for one in phases],
                        dashed=True,
                    ),
                    Series(
                        name="expected writes",
                        x=x,
                        y=[one.expected_write_bytes for one in phases],
                        dashed=True,
                    ),
                ],
                around=AROUND,
                note="Dotted: expected, closed form. Measured: mean over transforms by counters of "
                "memory, over all ranks of a node and whatever else ran there, over their number; "
                "around it the least and the most of any transform.",
            )
        )
    return found


def _phase(sized: Sized, title: str) -> PhaseTimes | None:
    return next((one for one in sized.phases if one.title == title), None)


def _sizes(sized: Sequence[Sized]) -> list[float | str]:
    return [float(one.step.size) for one in sized]


def _axis(sized: Sequence[Sized]) -> Axis:
    wide = sized[-1].step.size >= WIDE * sized[0].step.size
    return Axis(title="N", unit="", scale="log2" if wide else "linear")
