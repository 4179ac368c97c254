"""A cache hierarchy as data, for the cache model and for the bands of sizes that follow from it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memgauge.model.errors import RequestError

THIS = "this"
"""The name of the machine that memgauge runs on."""

Replacement = Literal["lru", "tree-plru"]
Inclusion = Literal["non-inclusive", "inclusive", "exclusive"]

LARGEST_BYTES = 1 << 42
LARGEST_COUNT = (1 << 31) - 1
Bytes = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_BYTES)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_COUNT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_COUNT)]


class CacheLevel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One level, from the cores to memory."""

    name: str
    bytes: Bytes
    """Capacity of one instance."""
    ways: Count
    """0: fully associative."""
    cores: Count = 1
    """Cores that share one instance; 0 means all."""
    replacement: Replacement = "lru"
    inclusion: Inclusion = "non-inclusive"
    """How this level relates to the levels nearer to the cores."""
    borrows_idle: bool = False
    """Whether instances of idle cores serve the other cores as an additional, exclusive level."""
    source: str = ""
    """Source of these figures; empty if the same as the machine's."""


class StoreStreams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When stores are written past the caches. The rule is that of the core's cache_model.hpp."""

    lines: Count = 0
    """Whole lines written in sequence before stores bypass the caches; 0 means never."""
    streams: Positive = 4
    gap: Count = 16
    strided: Count = 8
    window: Count = 64
    source: str = ""
    """Source for this behaviour."""


class Prefetchers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hardware prefetchers that are simulated."""

    next_line: bool = False
    stride: bool = False
    stride_ahead: Positive = 4


class CacheMachine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The caches of a machine, and how many of its cores work."""

    name: str
    """Such as `power9-5mb`."""
    title: str
    """Description."""
    source: str
    """Source of these figures; assumptions are marked as such."""
    line_bytes: Positive = 64
    sector_bytes: Positive = 64
    """Bytes that memory transfers at a time."""
    levels: Annotated[list[CacheLevel], msgspec.Meta(min_length=1)]
    machine_cores: Positive = 1
    """Number of cores of one socket."""
    cores: Positive = 1
    """Number of cores that are simulated as working."""
    idle_cores: Count = 0
    """Number of idle cores whose instances others may use."""
    store_streams: StoreStreams = StoreStreams()
    prefetchers: Prefetchers = Prefetchers()
    assumptions: list[str] = []
    """Notes on what the sources leave open."""

    @property
    def cached_bytes(self) -> int:
        """Bytes that one core may hold in caches: its share of the last level.

        A shared level is divided among the working cores that share it; instances borrowed from
        idle cores count too.
        """
        last = self.levels[-1]
        sharing = min(last.cores or self.cores, self.cores)
        borrowed = self.idle_cores // (last.cores or 1) if last.borrows_idle else 0
        total = last.bytes // sharing + borrowed * last.bytes // self.cores
        if last.inclusion == "exclusive" and len(self.levels) > 1:
            total += self.levels[-2].bytes
        return total


def with_cores(machine: CacheMachine, cores: int) -> CacheMachine:
    """The same machine with this number of working cores, the others idle.

    Raises:
        RequestError: the machine has fewer cores.
    """
    if not 1 <= cores <= machine.machine_cores:
        raise RequestError(
            f"machine {machine.name}: has {machine.machine_cores} cores, not {cores}; use fewer "
            "threads"
        )
    return msgspec.structs.replace(machine, cores=cores, idle_cores=machine.machine_cores - cores)


def machine_name(name: str) -> str:
    """In a sentence."""
    return "this machine" if name == THIS else name
