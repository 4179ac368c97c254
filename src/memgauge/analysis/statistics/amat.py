"""Average memory access time from a cache model: what accesses cost if none overlapped. Modelled.

    AMAT = hit time + miss rate x miss penalty

where the penalty of a level is the AMAT of the level behind it (Hennessy and Patterson, "Computer
Architecture: A Quantitative Approach", appendix B). The latencies are measured load-to-use times,
counted from the core; so the hit time of a level behind another is what it takes beyond that one.

The miss rates come from a cache model, not from counters: each level keeps the lines used last (LRU
over its capacity, every line anywhere). A walk that comes back to its lines in the same order then
misses each line of a footprint larger than the level, and none of a smaller one; independent random
draws hit with the share of the footprint that the level holds. Left out: conflicts within a set,
what prefetchers bring (that is the point of setting it against what was measured), translation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import mul
from typing import Literal

import msgspec

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval

Reuse = Literal["cyclic", "drawn"]
"""cyclic: every line once, then again in the same order. drawn: each access independent."""


class MemoryLevel(msgspec.Struct, frozen=True):
    """A level of the hierarchy, nearest first in lists."""

    name: str
    latency_ns: Estimate
    """Load to use, measured from the core."""
    capacity_bytes: int | None
    """None: memory, where everything is found."""


def miss_rates(
    capacities_bytes: Sequence[int],
    touched_bytes: int,
    new_line_share: float,
    reuse: Reuse = "cyclic",
) -> list[float]:
    """Misses of each cache level over the accesses that reach it; 0 where none does.

    Args:
        capacities_bytes: of the cache levels, nearest first.
        touched_bytes: of all lines that the accesses come to, before they come back.
        new_line_share: accesses to another line than the one before, over all: 1 where each access
            has a line of its own, a sixteenth for floats in order.
        reuse: how the accesses come back to a line.

    Returns:
        Local miss rates, 0 to 1, one for each level.
    """
    beyond = [1.0]
    for capacity in capacities_bytes:
        share = _not_held(capacity, touched_bytes, reuse)
        beyond.append(min(beyond[-1], new_line_share * share))
    return [behind / before if before else 0.0 for before, behind in pairwise(beyond)]


def _not_held(capacity_bytes: int, touched_bytes: int, reuse: Reuse) -> float:
    if touched_bytes <= capacity_bytes:
        return 0.0
    return 1.0 if reuse == "cyclic" else 1 - capacity_bytes / touched_bytes


def amat(latencies_ns: Sequence[float], rates: Sequence[float]) -> float:
    """Average ns of an access, none overlapping the next.

    Args:
        latencies_ns: load to use of each cache level and then of memory, from the core.
        rates: local miss rate of each cache level.

    Returns:
        AMAT in ns. Equal to the mean of the latencies, each weighted by the share of the accesses
        that the level serves.

    Raises:
        ValueError: not one latency more than miss rates.
    """
    if len(latencies_ns) != len(rates) + 1:
        raise ValueError(
            f"{len(latencies_ns)} latencies do not fit {len(rates)} miss rates: give one of each "
            f"cache level, and memory's latency"
        )
    steps = [b - a for a, b in zip([0.0, *latencies_ns], latencies_ns, strict=False)]
    time = steps[-1]
    for step, rate in zip(reversed(steps[:-1]), reversed(rates), strict=True):
        time = step + rate * time
    return time


def served(rates: Sequence[float]) -> list[float]:
    """Share of the accesses that each cache level, and at last memory, serves; they add up to 1."""
    reach = list(accumulate(rates, mul, initial=1.0))
    return [here - beyond for here, beyond in pairwise([*reach, 0.0])]


def modelled(levels: Sequence[MemoryLevel], rates: Sequence[float]) -> Estimate:
    """AMAT in ns with the bounds that the intervals of the latencies leave it.

    A level that serves no access adds nothing, however little its latency is known.
    """
    value = amat([level.latency_ns.value for level in levels], rates)
    used = [(s, level.latency_ns) for s, level in zip(served(rates), levels, strict=True) if s > 0]
    if not all(has_interval(latency) for _, latency in used):
        return Estimate(value, 0.0, math.inf)
    low = sum(share * latency.low for share, latency in used)
    high = sum(share * latency.high for share, latency in used)
    return Estimate(value, min(low, value), max(high, value))
