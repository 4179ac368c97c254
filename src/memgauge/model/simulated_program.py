"""Results of simulating a program's accesses on caches. None of them are measured."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memgauge.model.cache_machine import CacheMachine

Engine = Literal["callgrind", "trace"]
Requested = Literal["loads", "stores", "instructions", "all"]
By = Literal["function", "line"]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ProgramLevel(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses of one kind that reached one level, and those that missed it."""

    level: str
    kind: Requested
    """`all` if the engine does not distinguish loads from stores behind the first level."""
    accesses: Count
    misses: Count


class TrafficPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A function, or one of its source lines, whose accesses made memory give and take."""

    function: str | None
    """None: the program has no symbol for it."""
    object: str | None
    """File of the program or library that holds it."""
    file: str | None
    """Source file; None: no debug information says."""
    line: Count | None
    """None: by function, or no debug information says."""
    read_bytes: Count
    """Read from memory because of its loads, stores and instructions,"""
    write_bytes: Count
    """and written when its accesses evicted lines that it or another place had changed."""


class TrafficRegion(msgspec.Struct, frozen=True, kw_only=True):
    """What memory gave and took while at least one thread was inside a region."""

    name: str
    read_bytes: Count
    write_bytes: Count
    places: list[TrafficPlace] = []
    """Functions, or lines, that moved most of it; empty: not asked for."""


class SimulatedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a program on the simulated, initially empty caches of a machine."""

    command: list[str]
    machine: CacheMachine
    """The requested machine; `notes` state where the simulated one differs."""
    engine: Engine
    valgrind: str
    """Its version."""
    levels: list[ProgramLevel]
    """From the cores to memory; loads before stores."""
    load_read_bytes: Count
    """Read from memory because of loads,"""
    allocate_read_bytes: Count
    """of stores to lines that were not there,"""
    instruction_read_bytes: Count | None
    """of instructions; None: not simulated,"""
    prefetch_read_bytes: Count
    """and by the machine's prefetchers."""
    write_back_bytes: Count
    """Written to memory when modified lines were evicted while the program ran,"""
    bypass_write_bytes: Count
    """and written past the caches."""
    left_changed_bytes: Count | None
    """Still modified in the caches at the end, not included above. None if unknown,"""
    left_changed_at_most_bytes: Count
    """but at most this."""
    instructions: Count | None
    """Executed instructions; None if not counted."""
    processes: Count
    """Number of simulated processes, each with its own caches,"""
    left_out_processes: Count | None
    """and of those that forked from one of them without starting a program; None if unknown."""
    uncounted_programs: Count = 0
    """Number of programs missing from the figures. With callgrind: those that replaced themselves
    (exec), were killed before writing their counts, or had not ended yet. With trace: 1 if another
    program replaced this one."""
    exit_code: int | None
    signal: int | None
    """Signal that ended it; None if it ended by itself."""
    took_s: float
    by: By | None = None
    """What `places` are; None: not asked for."""
    places: list[TrafficPlace] = []
    """Where traffic arises, those that moved most first; those that moved nothing are not in it."""
    left_out_places: Count = 0
    """Places that moved less than all of `places`."""
    without_line_bytes: Count | None = None
    """Bytes that were read and written by code whose source lines are not known; None: not by
    line."""
    regions: list[TrafficRegion] = []
    """Of each region that the program marks, in order of first begins; empty: not asked for, it
    marks none, or `no_regions` says why."""
    no_regions: str | None = None
    """Why what it marks is not told; None: it is, it marks none, or nobody asked."""
    notes: list[str]
    """Notes on what the engine simulates differently from the machine."""

    @property
    def is_lower_bound(self) -> bool:
        """Whether part of the execution is missing, so that all figures are lower bounds.

        With several processes, at least what each did between fork and exec is missing.
        """
        return bool(self.uncounted_programs or self.left_out_processes or self.processes > 1)

    @property
    def read_bytes(self) -> int:
        """All bytes read from memory."""
        return (
            self.load_read_bytes
            + self.allocate_read_bytes
            + (self.instruction_read_bytes or 0)
            + self.prefetch_read_bytes
        )

    @property
    def write_bytes(self) -> int:
        """All bytes written to memory while the program ran."""
        return self.write_back_bytes + self.bypass_write_bytes
