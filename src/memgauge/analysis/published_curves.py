"""What published curves show by the analyses that a run's own curves get: bends, drops, a knee.

No published set states intervals, so a place is where the values themselves put it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from memgauge.analysis.figures import scaling_report
from memgauge.analysis.figures.concurrency import USUAL_LINE_BYTES, lines_in_flight
from memgauge.analysis.figures.run import series
from memgauge.analysis.figures.scaling import Team, scaling_of
from memgauge.analysis.section import Axis, Cell, Chart, Column, Mark, Section, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.knee import Knee, LoadPoint, find_knee, share_of
from memgauge.references.library import PublishedFigure, Reference

OVER_THREADS = re.compile(r"stream/(\w+)/standard/double/(\d+)t")
UNDER_LOAD = re.compile(r"\w+/loaded/(\w+)/d(\d+)(/traffic)?")
LEAST_POINTS = 3


def curve_sections(reference: Reference) -> Iterator[Section]:
    """A section for bandwidth over threads, and one for latency under load, where published."""
    yield from _scaling(reference.figures)
    yield from _loaded(reference.figures)


def _alone(value: float) -> Estimate:
    return Estimate(value, 0.0, math.inf)


def _scaling(figures: Sequence[PublishedFigure]) -> Iterator[Section]:
    teams: dict[str, list[Team]] = {}
    for one in figures:
        found = OVER_THREADS.fullmatch(one.name)
        if found is not None:
            teams.setdefault(found[1], []).append(Team(int(found[2]), _alone(one.value)))
    scaled = {
        kernel: scaling
        for kernel, members in teams.items()
        if len(members) >= LEAST_POINTS and (scaling := scaling_of(members)) is not None
    }
    if not scaled:
        return
    sizes = sorted({team.threads for kernel in scaled for team in teams[kernel]})
    axis: list[float | str] = [float(size) for size in sizes]
    rows: list[list[Cell]] = [
        [kernel, *scaling_report.row(scaling)] for kernel, scaling in scaled.items()
    ]
    by_kernel = {
        kernel: {team.threads: team.bandwidth for team in teams[kernel]} for kernel in scaled
    }
    yield Section(
        name="published-threads",
        title="Bandwidth over threads",
        question="From how many threads on does the published bandwidth taper, saturate or drop?",
        verdicts=[
            verdict
            for kernel, scaling in scaled.items()
            for verdict in scaling_report.verdicts(kernel, scaling)
        ],
        tables=[
            scaling_report.table("published-threads", "Threads", [Column(title="kernel")], rows)
        ],
        charts=[
            Chart(
                name="published-threads",
                title="Published bandwidth over threads",
                kind="line",
                x=scaling_report.threads_axis(sizes),
                y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
                series=[
                    series(kernel, axis, [known.get(size) for size in sizes])
                    for kernel, known in by_kernel.items()
                ],
            )
        ],
    )


def _loaded(figures: Sequence[PublishedFigure]) -> Iterator[Section]:
    known: dict[tuple[str, int], dict[bool, float]] = {}
    for one in figures:
        found = UNDER_LOAD.fullmatch(one.name)
        if found is not None:
            known.setdefault((found[1], int(found[2])), {})[bool(found[3])] = one.value
    curves: dict[str, list[LoadPoint]] = {}
    for (mix, _), values in sorted(known.items(), key=lambda entry: -entry[0][1]):
        if len(values) == 2:
            point = LoadPoint(_alone(values[True]), _alone(values[False]))
            curves.setdefault(mix, []).append(point)
    for mix, points in curves.items():
        if len(points) >= LEAST_POINTS:
            yield _loaded_section(mix, points)


def _loaded_section(mix: str, points: Sequence[LoadPoint]) -> Section:
    knee = find_knee(points)
    most = max(points, key=lambda point: point.bandwidth.value)
    marks = []
    if knee.bandwidth is not None and knee.latency is not None:
        marks = [Mark(label="knee", x=knee.bandwidth.value, y=knee.latency.value)]
    ordered = sorted(points, key=lambda point: point.bandwidth.value)
    axis: list[float | str] = [point.bandwidth.value for point in ordered]
    return Section(
        name=f"published-loaded-{mix}",
        title="Latency under load",
        question="Where does the published latency begin to rise faster than bandwidth?",
        verdicts=[Verdict(level="note", text=f"{_knee_words(knee, most)} ({mix}).")],
        charts=[
            Chart(
                name=f"published-loaded-{mix}",
                title=f"Published latency over bandwidth ({mix})",
                kind="line",
                x=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
                y=Axis(title="Latency", unit="ns", from_zero=True),
                series=[series(mix, axis, [point.latency for point in ordered])],
                marks=marks,
            )
        ],
    )


def _knee_words(knee: Knee, most: LoadPoint) -> str:
    at, latency = knee.bandwidth, knee.latency
    share = share_of(knee, most.bandwidth)
    if knee.status == "unresolved" and at is not None:
        return (
            f"The knee is unresolved: it lies between {at.low:.1f} and {at.high:.1f} GB/s, where "
            f"too few bandwidths were met; the most is {most.bandwidth.value:.1f} GB/s"
        )
    if at is None or latency is None or share is None:
        return f"No knee is given ({knee.status}); the most is {most.bandwidth.value:.1f} GB/s"
    lines = lines_in_flight(at, latency, USUAL_LINE_BYTES)
    in_flight = f", {lines.value:.0f} lines of {USUAL_LINE_BYTES} B in flight" if lines else ""
    return (
        f"The knee is at {at.value:.1f} GB/s, {share.value:.0%} of the most "
        f"({most.bandwidth.value:.1f}): {latency.value:.0f} ns{in_flight}"
    )
