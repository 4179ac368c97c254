"""What pressure leaves of memory on the program's CPU, in units: ns, GB/s, a share of the cache.

The cached reference is a ring of half of the last-level cache. Each of its loads takes the time of
a hit or that of a miss. The share of its lines that the cache keeps follows from its mean time
under pressure, the time of a hit beside arithmetic, and that of a load from memory under the same
pressure. Hits that pressure delays count as misses in part: a little less seems to be kept than is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from memgauge.analysis.diagnose.shares import slowdown
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHED,
    LATENCY,
    DiagnoseActual,
    DiagnoseRequested,
)
from memgauge.model.records import Point

References = Mapping[str, float]
"""ns of each reference in one pass: of a load, or of a GB."""
Pairs = Sequence[tuple[References, References]]
"""Of passes under a treatment and those of its baseline."""


class Axes(msgspec.Struct, frozen=True, kw_only=True):
    """What one treatment left; None: the reference was not taken, or too few rounds."""

    latency_added_ns: Estimate | None = None
    """Of a load from memory, over that beside the baseline."""
    bandwidth_gb_per_s: Estimate | None = None
    """Of the bandwidth reference."""
    cache_kept: Estimate | None = None
    """Share of the lines of the cached reference that it found in the cache, from 0 to 1."""


def axes_of(pairs: Pairs, confidence: float = 0.95) -> Axes:
    """Medians with their intervals.

    Args:
        pairs: Of one treatment at one distance of cores.
        confidence: Of the intervals, from 0 to 1.
    """
    return Axes(
        latency_added_ns=_median(pairs, [LATENCY], _latency_added_ns, confidence),
        bandwidth_gb_per_s=_median(pairs, [BANDWIDTH], _bandwidth_gb_per_s, confidence),
        cache_kept=_median(pairs, [CACHED, LATENCY], _cache_kept, confidence),
    )


def cached_bytes_of(points: Iterable[Point]) -> int | None:
    """Ring of the cached reference; None: there is none.

    Args:
        points: Of one diagnosis.
    """
    for point in points:
        if DiagnoseRequested.of(point.requested).subject == CACHED:
            return DiagnoseActual.of(point.actual).footprint_bytes
    return None


def _median(
    pairs: Pairs,
    needed: Sequence[str],
    of: Callable[[References, References], float | None],
    confidence: float,
) -> Estimate | None:
    if any(name not in references for pair in pairs for references in pair for name in needed):
        return None
    values = [of(treated, base) for treated, base in pairs]
    known = [value for value in values if value is not None]
    return slowdown(known, confidence) if len(known) == len(values) else None


def _latency_added_ns(treated: References, base: References) -> float:
    return treated[LATENCY] - base[LATENCY]


def _bandwidth_gb_per_s(treated: References, base: References) -> float:
    del base
    return 1e9 / treated[BANDWIDTH]


def _cache_kept(treated: References, base: References) -> float | None:
    miss_ns, hit_ns = treated[LATENCY], base[CACHED]
    if miss_ns <= hit_ns:
        return None  # the cache is no faster than memory: hits cannot be told from misses
    return min(1.0, max(0.0, (miss_ns - treated[CACHED]) / (miss_ns - hit_ns)))
