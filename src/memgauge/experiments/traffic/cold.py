"""How often a kernel is executed in a region, and on how many sets of arrays in turn.

A repetition must find nothing of the one before in the caches: the study takes another matrix for
each. Here sets are used in turn, as many that twice the bytes of all caches pass between two uses
of one; one of four times those bytes is used again and again. Before a region as many executions
are made as let the caches' bytes pass once, so that as many changed lines of theirs are pushed out
in the region as are left behind after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from memgauge.experiments.stream.counted import IDLE_EVERY, LONGEST_IDLE_S, REGION_S
from memgauge.experiments.traffic.parameters import STUDY
from memgauge.model.system import System
from memgauge.system.topology.placement import UNKNOWN_CACHE_BYTES, caches_of, hides_caches

PASSES = 2
"""Bytes between two uses of a set, over those of all caches."""
LARGE = 4
"""A set of so many times all caches' bytes, as STREAM's arrays, is enough alone."""

PAGE_BYTES = 4096
"""In whole ones of which a native `LoopNest` lays out its arrays, whatever the system's are."""

POOL_SHARE = 0.25
"""Of the available memory: all sets of one size take no more, but the first is made anyway."""

LEAD_IN_REGIONS = 4
"""Of a region's time, that its lead-in may take; but one execution is always made."""

MOST_STAMPS = 8192
LEAST_REPETITIONS_AT_MOST = 99
"""A region holds no more stamps, of all threads, unless it has at most so many repetitions."""

REGIONS = 12
LEAST_REGIONS = 6
"""The interval of a median stands on six or more; a size that cannot have them is left out."""

_LENDING = ("ppc64le", "ppc64")


def caches_bytes(cpus: Sequence[int], system: System) -> int:
    """All data caches, of every level, that the CPUs can use; assumed where they are hidden.

    On POWER, whose idle cores lend their slices, those of the whole machine.
    """
    users = [cpu.cpu for cpu in system.cpus] if system.architecture in _LENDING else list(cpus)
    if hides_caches(users, system):
        return UNKNOWN_CACHE_BYTES
    found = {
        (cache.level, *cache.cpus): cache.bytes
        for cpu in users
        for cache in caches_of(cpu, system).values()
    }
    return sum(found.values())


class Sets(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays of one size for each thread."""

    copies: int
    wanted: int
    """So many would let twice the caches' bytes pass between two uses."""
    bytes: int
    """Of one set, of all threads."""
    laid_out_bytes: int
    """The same with what lies between its arrays."""
    caches_bytes: int

    @property
    def pool_bytes(self) -> int:
        """Of all sets as they are laid out."""
        return self.copies * self.laid_out_bytes

    @property
    def lead_in(self) -> int:
        """Executions that let the caches' bytes pass once."""
        return max(1, math.ceil(self.caches_bytes / self.bytes))


def sets_for(arrays: Sequence[int], threads: int, cpus: Sequence[int], system: System) -> Sets:
    """As many sets of arrays as are wanted on the host, unless memory is short.

    Args:
        arrays: Bytes of each array of one thread.
        threads: Number of threads, each with arrays of its own in every set.
        cpus: CPUs of the threads, whose caches count.
        system: The machine; several sets take at most `POOL_SHARE` of its available memory.
    """
    room = int(system.available_bytes * POOL_SHARE)
    return sets_in(arrays, threads, caches_bytes(cpus, system), room)


def sets_in(arrays: Sequence[int], threads: int, caches: int, room: int) -> Sets:
    """As many sets of arrays as are wanted, unless they take too much memory.

    Args:
        arrays: Bytes of each array of one thread.
        threads: Number of threads, each with arrays of its own in every set.
        caches: Bytes of all caches that may keep data of the arrays.
        room: Bytes that all sets together may take; a first set is made even if it takes more.
    """
    whole = sum(arrays) * threads
    laid_out = sum(map(_laid_out, arrays)) * threads
    wanted = 1 if whole >= LARGE * caches else 1 + math.ceil(PASSES * caches / whole)
    return Sets(
        copies=max(1, min(wanted, room // laid_out)),
        wanted=wanted,
        bytes=whole,
        laid_out_bytes=laid_out,
        caches_bytes=caches,
    )


def _laid_out(array_bytes: int) -> int:
    """At most so much: an array begins somewhere in its first page or two."""
    return -(-array_bytes // PAGE_BYTES) * PAGE_BYTES + 2 * PAGE_BYTES


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """Executions between two readings, and how many a sampling pass makes."""

    lead_in: int
    repetitions: int
    together: int
    """Regions of one sampling pass, after one lead-in: more where that is long beside a region."""
    execution_s: float
    """Of one execution by all threads at once."""
    least: int = LEAST_REGIONS
    """Regions without which the size is left out."""

    @property
    def seconds(self) -> float:
        """Of one region."""
        return self.repetitions * self.execution_s

    @property
    def idle_s(self) -> float:
        """About as long, within reason."""
        return min(LONGEST_IDLE_S, self.seconds)

    @property
    def pass_s(self) -> float:
        """Lead-in and regions, and the idle time before some."""
        executions = self.lead_in + self.together * self.repetitions
        return executions * self.execution_s + self.idle_s / IDLE_EVERY

    @property
    def least_s(self) -> float:
        """Of the least number of regions."""
        return math.ceil(self.least / self.together) * self.pass_s


def region_for(  # noqa: PLR0913 - the last by name
    requested: str | int,
    size: int,
    threads: int,
    execution_s: float,
    lead_in: int,
    *,
    runs: int | None = None,
) -> Region:
    """Repetitions as they were requested, and a lead-in that does not take much longer.

    Args:
        requested: `parameters.repetitions`: a number, `AUTO` or `STUDY`.
        size: Size N of the kernel, from which `STUDY` computes repetitions.
        threads: Number of threads, which share the `MOST_STAMPS` of a region.
        execution_s: Time of one execution by all threads at once, in s.
        lead_in: Executions wanted before a region; fewer are made where they would take too long.
        runs: Number of regions requested, which passes must make up without a rest; None: any.
    """
    repetitions = repetitions_for(requested, size, threads, execution_s)
    region_s = repetitions * execution_s
    most = LEAD_IN_REGIONS * max(REGION_S, region_s) / execution_s
    led = max(1, min(lead_in, int(most)))
    together = min(LEAST_REGIONS, math.ceil(led / repetitions))
    if runs is not None:
        together = next(n for n in range(together, 0, -1) if runs % n == 0)
    return Region(
        lead_in=led,
        repetitions=repetitions,
        together=together,
        least=LEAST_REGIONS if runs is None else min(runs, LEAST_REGIONS),
        execution_s=execution_s,
    )


def repetitions_for(requested: str | int, size: int, threads: int, execution_s: float) -> int:
    """A number, the study's formula, or as many as let a region last `REGION_S`.

    Args:
        requested: `parameters.repetitions`: a number, `AUTO` or `STUDY`.
        size: Size N of the kernel, from which `STUDY` computes repetitions.
        threads: Number of threads, which share the `MOST_STAMPS` of a region.
        execution_s: Time of one execution by all threads at once, in s.
    """
    if isinstance(requested, int):
        return requested
    if requested == STUDY:
        return study_repetitions(size)
    most = max(LEAST_REPETITIONS_AT_MOST, MOST_STAMPS // threads)
    return max(1, min(most, math.ceil(REGION_S / execution_s)))


def study_repetitions(size: int) -> int:
    """The published study's equation 5: floor(514 - 0.246 N) below N = 2048, else 10."""
    return math.floor(514 - 0.246 * size) if size < 2048 else 10


def regions_within(
    requested: Sequence[Region], total_s: float, runs: int | None = None
) -> list[int]:
    """How many regions each size may have in a time.

    Cheap ones take what they need and leave the rest to the others; 0 where not even the least
    number of regions fits into what is left for each.

    Args:
        requested: Regions of each size.
        total_s: Time for all of them, in s.
        runs: Number of regions requested of each size; None: `REGIONS`.
    """
    left_s, found = total_s, [0] * len(requested)
    order = sorted(range(len(requested)), key=lambda index: requested[index].least_s)
    for done, index in enumerate(order):
        passes = _passes(requested[index], left_s / (len(order) - done), runs or REGIONS)
        found[index] = passes * requested[index].together
        left_s -= passes * requested[index].pass_s
    return found


def _passes(region: Region, share_s: float, regions: int) -> int:
    if region.least_s > share_s:
        return 0
    return min(math.ceil(regions / region.together), int(share_s / region.pass_s))
