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
from memgauge.analysis.figures.run import Figures, number_fact, share_fact, text_fact
from memgauge.analysis.figures.summary import PointSummary
from memgauge.analysis.report.checks import Check, Side, bandwidth_check, untold
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
    other, against = largest
    what = WHAT[point.experiment]
    if gpu_of(point) != gpu_of(other):
        return
    if summary.sustained is None or against.sustained is None:
        why = "one side has no figure: all its samples were set aside"
        yield untold(what, point.point, other.point, "GB/s", why)
        return
    held = (l2_bytes([other]) or 0) / (number_fact(other.requested, "footprint_bytes") or 1)
    beside = against.sustained.value * held
    sides = (Side(point.point, summary), Side(other.point, against))
    yield bandwidth_check(what, *sides, beside_gb_per_s=beside)


def _reads(figures: Figures, experiment: str) -> Measured:
    return [
        (point, summary)
        for point, summary in figures.slices(experiment)
        if gpu_of(point) and is_read(point)
    ]


def is_read(point: Point) -> bool:
    """Whether it reads memory alone, as fast as can be."""
    if point.experiment == "mix":
        return share_fact(point.requested, "read_share") == 1
    requested = (text_fact(point.requested, "kernel"), text_fact(point.requested, "variant"))
    return requested == ("read", "tuned") and "candidate" not in point.requested


def _largest(figures: Figures) -> tuple[Point, PointSummary] | None:
    """The largest footprint that was read; None: none lies far beyond the L2."""
    found = [
        (number_fact(point.requested, "footprint_bytes") or 0, point, summary)
        for point, summary in figures.of("workingset")
        if gpu_of(point) and text_fact(point.requested, "access") == "read"
    ]
    if not found:
        return None
    size, point, summary = max(found, key=lambda entry: entry[0])
    cache = l2_bytes([point])
    return (point, summary) if cache and size >= BEYOND_L2 * cache else None
