"""Records of what a cache model predicts. See docs/records.md."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memgauge.model.cache_machine import CacheMachine
from memgauge.model.record_kinds.fields import LARGEST_INTEGER, Count, Record, Seconds
from memgauge.model.simulated_program import TrafficPlace, TrafficRegion


class SimulatedMachine(Record, frozen=True, kw_only=True, tag="simulated-machine"):
    """A machine whose caches are simulated: declared before its results."""

    machine: CacheMachine


class SimulatedLevel(msgspec.Struct, frozen=True, kw_only=True):
    """What the cache model counted at one level, over all its instances."""

    level: str
    hits: Count
    misses: Count
    write_backs: Count


class Simulated(Record, frozen=True, kw_only=True, tag="simulated", omit_defaults=True):
    """What the cache model predicts for one execution of a point's work. Nothing of it is measured.

    The work is executed once, by all working cores, with caches that contain nothing of the arrays
    at the beginning; lines that are modified in the caches at the end count as written.
    """

    point: str
    machine: str
    cores: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_INTEGER)]
    """Working cores, each with its own arrays; the bytes below are totals over all of them."""
    accesses: Count
    load_read_bytes: Count
    """Read from memory because of loads,"""
    allocate_read_bytes: Count
    """of stores to lines that were not there,"""
    software_prefetch_read_bytes: Count
    hardware_prefetch_read_bytes: Count
    write_back_bytes: Count
    """Written to memory when modified lines were evicted,"""
    bypass_write_bytes: Count
    """and written past the caches."""
    array_read_bytes: dict[str, Count]
    """What was read, by array."""
    levels: list[SimulatedLevel]
    took_s: Seconds
    places: list[TrafficPlace] = msgspec.field(default_factory=list)
    """Functions of a program that make most of it, the largest first. Empty: not known."""
    regions: list[TrafficRegion] = msgspec.field(default_factory=list)
    """Of a program: what each region moved that it marks. Empty: not known, or it marks none."""
    no_regions: str = ""
    """Of a program that marks regions: why it is not known what they moved. Empty: it is."""

    @property
    def read_bytes(self) -> int:
        """All bytes read from memory."""
        return (
            self.load_read_bytes
            + self.allocate_read_bytes
            + self.software_prefetch_read_bytes
            + self.hardware_prefetch_read_bytes
        )

    @property
    def write_bytes(self) -> int:
        """All bytes written to memory."""
        return self.write_back_bytes + self.bypass_write_bytes
