"""How many bytes of a GPU's memory must be on their way at once, by Little's law.

The latency is that of a load when nothing else goes on, the bandwidth that of all multiprocessors:
under load each waits longer, so that what follows is the least that must be on its way. See
`concurrency` for the law and its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.concurrency import bytes_in_flight
from memgauge.analysis.figures.gpu_points import GPU_MEMORY, gpu_of, l2_bytes
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.mix import MixRequested
from memgauge.model.points.stream import StreamRequested
from memgauge.model.points.workingset import WorkingsetRequested
from memgauge.model.records import Point

BEYOND_L2 = 4
"""Footprints of so many times the L2 and more are read from memory, and waited for from there."""

Figure = tuple[Point, Estimate]


def in_flight_verdict(figures: Figures, section: str) -> Iterator[Verdict]:
    """In the section of the experiment that waited; nothing where one side was not measured."""
    waited, moved = _latency(figures), _bandwidth(figures)
    if waited is None or moved is None or waited[0].experiment != section:
        return
    held = bytes_in_flight(moved[1], waited[1])
    if held is None or not has_interval(held):
        return
    text = (
        f"To move {moved[1].value:.1f} GB/s while a load from {GPU_MEMORY} takes "
        f"{waited[1].value:.0f} ns, at least {_size(held.value)} must be on their way at once "
        "(Little's law)"
    )
    many = GpuDevice.of(waited[0].actual).multiprocessors
    if many and many > 0:
        text += f", {_size(held.value / many)} for each of {many} multiprocessors"
    yield Verdict(level="note", text=f"{text}.")


def _measured(figures: Figures, experiment: str) -> Iterator[Figure]:
    """Points of an experiment that GPUs measured."""
    for point, summary in figures.slices(experiment):
        if summary.sustained is not None and gpu_of(point):
            yield point, summary.sustained


def _latency(figures: Figures) -> Figure | None:
    """Of `latency`, else of the largest footprint of `workingset`."""
    idle = [
        (point, estimate)
        for point, estimate in _measured(figures, "latency")
        if LatencyRequested.of(point.requested).level == "DRAM"
    ]
    if idle:
        return min(idle, key=lambda entry: entry[1].value)
    return largest_footprint(figures, "latency")


def _bandwidth(figures: Figures) -> Figure | None:
    """The best of what read device memory alone, of those whose interval is known if any is."""
    reads = [
        (point, estimate)
        for experiment in ("stream", "mix")
        for point, estimate in _measured(figures, experiment)
        if _reads_alone(point)
    ]
    footprint = largest_footprint(figures, "read")
    reads += [footprint] if footprint is not None else []
    known = [entry for entry in reads if has_interval(entry[1])]
    return max(known or reads, key=lambda entry: entry[1].value, default=None)


def _reads_alone(point: Point) -> bool:
    if point.experiment == "mix":
        return MixRequested.of(point.requested).read_share == 1
    return StreamRequested.of(point.requested).kernel == "read"


def largest_footprint(figures: Figures, access: str) -> Figure | None:
    """The GPU's working set that lies farthest beyond its L2; None: none does."""
    found: list[tuple[int, Figure]] = []
    for point, estimate in _measured(figures, "workingset"):
        requested, cache = WorkingsetRequested.of(point.requested), l2_bytes([point])
        size = requested.footprint_bytes or 0
        if requested.access == access and cache and size >= BEYOND_L2 * cache:
            found.append((size, (point, estimate)))
    return max(found, key=lambda entry: entry[0], default=(0, None))[1]


def _size(count: float) -> str:
    """In powers of 1000, as the bandwidth it follows from."""
    return f"{count * 1e-6:.2f} MB" if count >= 1e6 else f"{count * 1e-3:.1f} kB"
