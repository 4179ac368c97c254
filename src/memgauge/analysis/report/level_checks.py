"""The levels of `workingset` against those of `latency`: two walks that meet the same caches.

`latency` makes the level above forget its ring, `workingset` does not, so that a share of its loads
still hits the level above: at most that level's capacity over the footprint. So the latency of a
level may lie from the least on the plateau up to the most on it, the hits above taken out of it
(two kinds of loads, weighted by their shares in a working set as large as the ring of `latency`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.report.checks import (
    LATENCY_CAUSES,
    LATENCY_SHARE,
    Check,
    judged,
    untold,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.level import Level
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.workingset.claims import Finding
from memgauge.model.points.latency import LatencyRequested
from memgauge.model.points.rings import RingActual
from memgauge.model.points.workingset import WorkingsetRequested

_Idle = tuple[str, LatencyRequested, Estimate]
"""What `latency` measured of a level: name of the point, ring, latency."""

LEVEL_MATTERS = 0.25
"""A difference of that much must be excluded; plateaus rise by half as much where all is well."""
UNNAMED = "unnamed"
"""A level that the topology does not have: `latency` knows nothing of it."""


def level_checks(figures: Figures, findings: Sequence[Finding]) -> Iterator[Check]:
    """One for each level that both found."""
    pages = {
        RingActual.of(point.actual).pages
        for point, _ in figures.slices("workingset")
        if WorkingsetRequested.of(point.requested).access == "latency"
    }
    above: Level | None = None
    for finding in findings:
        if finding.level is None or finding.name == UNNAMED:
            continue
        found = _latency_of(figures, finding.name, pages)
        if found is None:
            why = f"latency has no figure of {finding.name} in the pages of workingset"
            yield untold(_what(finding.name), "latency", _where(finding.name), "ns", why)
        else:
            yield _check(finding.name, found, finding.level, above, figures.run_to_run_drift or 0.0)
        above = finding.level


def _latency_of(figures: Figures, name: str, pages: set[str]) -> _Idle | None:
    """The random walk of that level in the pages that the working sets lie in."""
    level = "DRAM" if name == "memory" else name
    for point, summary in figures.slices("latency"):
        requested = LatencyRequested.of(point.requested)
        is_local = requested.memory_node in {None, requested.cpu_node}
        is_alike = (requested.level, requested.order) == (level, "random") and is_local
        if is_alike and summary.sustained and RingActual.of(point.actual).pages in pages:
            return point.point, requested, summary.sustained
    return None


def _check(
    name: str,
    found: _Idle,
    level: Level,
    above: Level | None,
    drift: float,
) -> Check:
    point, requested, idle = found
    ceiling_ns = ceiling(level, above, requested.footprint_bytes)
    plateau = Estimate(level.latency_ns, level.latency_low_ns, ceiling_ns)
    check = Check(
        what=_what(name),
        unit="ns",
        one_name=point,
        other_name=_where(name),
        one=idle,
        other=plateau,
        figure="sustained, and the plateau of a level",
        causes=f"{LATENCY_CAUSES}, a level that neighbours took more of during one of the two",
    )
    between = nearest_ratio(idle, plateau) if has_interval(idle) else ratio(idle, idle)
    return judged(check, between, LATENCY_SHARE + drift, matters=LEVEL_MATTERS)


def nearest_ratio(idle: Estimate, plateau: Estimate) -> Estimate:
    """A latency over a plateau's: over the value of its range that is nearest, and over both ends.

    The plateau's range is not an interval of one figure: latencies really differ along it.
    """
    nearest = min(max(idle.value, plateau.low), plateau.high)
    return Estimate(idle.value / nearest, idle.low / plateau.high, idle.high / plateau.low)


def _what(name: str) -> str:
    return f"latency of {name}"


def _where(name: str) -> str:
    return f"workingset: {name}"


def ceiling(level: Level, above: Level | None, ring_bytes: int | None) -> float:
    """The most ns on the plateau, the loads that may have hit the level above taken out.

    Args:
        level: Level that `workingset` found.
        above: The next level nearer to the core; None: `level` is the nearest.
        ring_bytes: Footprint of the ring that `latency` walked in this level; None: not known.
    """
    if above is None:
        return level.latency_high_ns
    capacity = above.capacity_high_bytes or above.capacity_low_bytes
    footprint = min(level.fits_bytes, ring_bytes) if ring_bytes else level.fits_bytes
    hits = min(0.5, capacity / footprint)
    without = (level.latency_high_ns - hits * above.latency_ns) / (1 - hits)
    return max(level.latency_high_ns, without)
