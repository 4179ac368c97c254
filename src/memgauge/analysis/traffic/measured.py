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
    rates_of_regions,
)
from memgauge.analysis.counters.figures import HardwareCounts
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds, sustained
from memgauge.model.counting.events import Quantity

MEASURED = "measured"
"""The source that is no machine of the model."""

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
    read_of_regions: list[float | None]
    """Bytes a second of each region, idle traffic included; None: it could not be read,"""
    write_of_regions: list[float | None]
    """and the same of writes: to be set beside another route's."""


def measured(entries: Sequence[HardwareCounts], cores: int) -> dict[str, Measured]:
    """By each route that measured, those that distinguish reads and writes first, by source.

    Args:
        entries: Counts of one nest of one size, an entry for each back end and basis.
        cores: How many cores executed it at once, each on arrays of its own.

    Returns:
        One entry of the name `MEASURED` where one back end counted; of several each by its own
        name, as `source_by` makes it.
    """
    known = [
        _measured(hardware_bandwidth(counts), cores)
        for counts in entries
        if counts.basis == "measured" and counts.regions
    ]
    known.sort(key=lambda one: one.read is None or one.write is None)
    if len(known) < 2:
        return {MEASURED: known[0]} if known else {}
    return {source_by(one.counts.back_end): one for one in known}


def source_by(back_end: str) -> str:
    """Name of what one of several routes measured."""
    return f"{MEASURED} by {back_end}"


def back_end_of(source: str) -> str:
    """The back end of one of several routes, from the source's name."""
    return source.removeprefix(source_by(""))


def is_measured(source: str) -> bool:
    """Whether a source was measured, and is no machine of the model."""
    return source.partition(" by ")[0] == MEASURED


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
        read_of_regions=rates_of_regions(found, (READS,)),
        write_of_regions=rates_of_regions(found, (WRITES,)),
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
