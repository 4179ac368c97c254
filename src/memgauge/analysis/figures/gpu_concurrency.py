"""How many bytes of a GPU's memory must be on their way at once, by Little's law.

The latency is that of a load when nothing else goes on, the bandwidth that of all multiprocessors:
under load each waits longer, so that what follows is the least that must be on its way. See
`concurrency` for the law and its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.figures.concurrency import bytes_in_flight
from memgauge.analysis.figures.gpu_points import GPU_MEMORY, gpu_of, l2_bytes
from memgauge.analysis.figures.run import Figures, number_fact, share_fact, text_fact
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
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
    many = number_fact(waited[0].actual, "multiprocessors")
    if many and many > 0:
        text += f", {_size(held.value / many)} for each of {many} multiprocessors"
    yield Verdict(level="note", text=f"{text}.")


def _latency(figures: Figures) -> Figure | None:
    """Of `latency`, else of the largest footprint of `workingset`."""
    idle = [
        (point, summary.sustained)
        for point, summary in figures.slices("latency")
        if gpu_of(point)
        and summary.sustained is not None
        and text_fact(point.requested, "level") == "DRAM"
    ]
    if idle:
        return min(idle, key=lambda entry: entry[1].value)
    return largest_footprint(figures, "latency")


def _bandwidth(figures: Figures) -> Figure | None:
    """The best of what read device memory alone, of those whose interval is known if any is."""
    reads = [
        (point, summary.sustained)
        for experiment in ("stream", "mix")
        for point, summary in figures.slices(experiment)
        if gpu_of(point) and summary.sustained is not None and _reads_alone(point)
    ]
    footprint = largest_footprint(figures, "read")
    reads += [footprint] if footprint is not None else []
    known = [entry for entry in reads if has_interval(entry[1])]
    return max(known or reads, key=lambda entry: entry[1].value, default=None)


def _reads_alone(point: Point) -> bool:
    if point.experiment == "mix":
        return share_fact(point.requested, "read_share") == 1
    return text_fact(point.requested, "kernel") == "read"


def largest_footprint(figures: Figures, access: str) -> Figure | None:
    """The GPU's working set that lies farthest beyond its L2; None: none does."""
    found = [
        (size, point, summary.sustained)
        for point, summary in figures.slices("workingset")
        if gpu_of(point)
        and summary.sustained is not None
        and text_fact(point.requested, "access") == access
        and (size := number_fact(point.requested, "footprint_bytes"))
        and (cache := l2_bytes([point]))
        and size >= BEYOND_L2 * cache
    ]
    if not found:
        return None
    _, point, estimate = max(found, key=lambda entry: entry[0])
    return point, estimate


def _size(count: float) -> str:
    """In powers of 1000, as the bandwidth it follows from."""
    return f"{count * 1e-6:.2f} MB" if count >= 1e6 else f"{count * 1e-3:.1f} kB"
