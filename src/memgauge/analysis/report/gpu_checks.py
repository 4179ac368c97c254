"""Cross-checks of what experiments measure in a GPU's memory: three of them read it alone.

`stream` reads one of its arrays, `mix` makes reads only, `workingset` reads its largest footprint
again and again. A part of that footprint may still lie in the L2 when it comes round (its
replacement is not known to be least-recently-used), at most the L2 over the footprint: by so much
the reads of memory may be slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.gpu_concurrency import BEYOND_L2
from memgauge.analysis.figures.gpu_points import gpu_of, l2_bytes
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.report.checks import Check, Side, bandwidth_check, untold
from memgauge.model.points.shared import TrafficMix
from memgauge.model.points.stream import StreamRequested
from memgauge.model.points.workingset import WorkingsetRequested
from memgauge.model.records import Point

Measured = Sequence[tuple[Point, PointSummary]]

WHAT = {"stream": "stream, tuned reads, GPU", "mix": "mix, reads alone, GPU"}


def footprint_checks(figures: Figures) -> Iterator[Check]:
    """Reads of memory by `mix`, else by `stream`, against those of the largest footprint."""
    largest = _largest(figures)
    reads = [*_reads(figures, "mix"), *_reads(figures, "stream")]
    if largest is None or not reads:
        return
    point, summary = reads[0]
    size, other, against = largest
    what = WHAT[point.experiment]
    if gpu_of(point) != gpu_of(other):
        return
    if summary.sustained is None or against.sustained is None:
        why = "one side has no figure: all its samples were set aside"
        yield untold(what, point.point, other.point, "GB/s", why)
        return
    held = (l2_bytes([other]) or 0) / size
    beside = against.sustained.value * held
    sides = (Side(point.point, summary), Side(other.point, against))
    yield bandwidth_check(what, *sides, beside_gb_per_s=beside)


def _reads(figures: Figures, experiment: str) -> Measured:
    return [
        (point, summary)
        for point, summary in figures.slices(experiment)
        if gpu_of(point) and _reads_alone(point)
    ]


def _reads_alone(point: Point) -> bool:
    if point.experiment == "mix":
        return TrafficMix.of(point.requested).read_share == 1
    return is_tuned_read(point)


def is_tuned_read(point: Point) -> bool:
    """Whether a point of `stream` reads memory alone, as fast as can be, and is no candidate."""
    requested = StreamRequested.of(point.requested)
    kernel = (requested.kernel, requested.variant, requested.candidate, requested.prefetch)
    return kernel == ("read", "tuned", "", "") and point.role == "slice"


def _largest(figures: Figures) -> tuple[int, Point, PointSummary] | None:
    """The largest footprint that was read, with its bytes; None: none lies far beyond the L2."""
    found = [
        (requested.footprint_bytes or 0, point, summary)
        for point, summary in figures.of("workingset")
        if gpu_of(point) and (requested := WorkingsetRequested.of(point.requested)).access == "read"
    ]
    if not found:
        return None
    largest = max(found, key=lambda entry: entry[0])
    cache = l2_bytes([largest[1]])
    return largest if cache and largest[0] >= BEYOND_L2 * cache else None
