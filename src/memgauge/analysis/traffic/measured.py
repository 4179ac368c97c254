"""What the memory controllers counted around the executions of a loop nest: of one core, of one.

A *region* is so many executions that they last long beside what reading the counters takes. What
the same counters saw while the machine idled is taken off at its median rate, over the time of
each region. Figures are medians over regions with their 95% interval, and the least and the most
of any region beside them, as the study's figures show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.counters.bandwidth import (
    READS,
    WRITES,
    HardwareBandwidth,
    bytes_of_regions,
    hardware_bandwidth,
    idle_rate,
)
from memgauge.analysis.counters.figures import HardwareCounts
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, sustained
from memgauge.model.counting.events import Quantity

MOST_IDLE_SHARE = 0.5
"""Of what a region counted: where most of it is others', what the kernel moves is not known."""

WIDEST = 0.1
"""Half an interval over the figure, from which on it shows no departure."""


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes one way, of one execution by one core."""

    bytes: Estimate
    """Median over regions, idle traffic subtracted; its 95% interval."""
    least: float
    """Of any region,"""
    most: float
    idle_share: float | None
    """Idle traffic's share of what was counted; None: no idle time was measured."""

    @property
    def is_drowned(self) -> bool:
        """Whether idle traffic, or the spread of regions, is too much to show the kernel's."""
        low, high = bounds(self.bytes)
        wide = high - low > 2 * WIDEST * abs(self.bytes.value)
        return wide or (self.idle_share or 0.0) > MOST_IDLE_SHARE


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One nest of one size under counters."""

    read: Flow | None
    """None: no counter distinguishes reads, or it could not be read."""
    write: Flow | None
    regions: int
    executions: int
    """By each core, over all regions."""
    region_s: float
    """Median length of a region."""
    counts: HardwareCounts
    """What it is made of."""
    missing: list[str]
    """Counters that could not be read."""


def measured(entries: Sequence[HardwareCounts], cores: int) -> Measured | None:
    """By the first back end whose counters measured and distinguish reads and writes.

    None where nothing of the kind was counted.
    """
    known = [
        found
        for counts in entries
        if counts.basis == "measured" and counts.regions
        for found in [_measured(hardware_bandwidth(counts), cores)]
    ]
    whole = [one for one in known if one.read is not None and one.write is not None]
    return next(iter([*whole, *known]), None)


def _measured(found: HardwareBandwidth, cores: int) -> Measured:
    regions = found.counts.regions
    return Measured(
        read=_flow(found, READS, cores),
        write=_flow(found, WRITES, cores),
        regions=len(regions),
        executions=found.repetitions,
        region_s=median(region.seconds for region in regions),
        counts=found.counts,
        missing=found.missing,
    )


def _flow(found: HardwareBandwidth, quantity: Quantity, cores: int) -> Flow | None:
    each = bytes_of_regions(found, (quantity,), less_idle=True)
    estimate = sustained([bytes_ / cores for bytes_ in each], 0.5)
    if estimate is None:
        return None
    raw = bytes_of_regions(found, (quantity,))
    idle = idle_rate(found, (quantity,))
    share = None
    if idle is not None:
        off = median(raw) - median(each)
        share = off / median(raw) if median(raw) > 0 else 1.0
    return Flow(bytes=estimate, least=min(each) / cores, most=max(each) / cores, idle_share=share)
