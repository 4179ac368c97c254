"""What a program's own accesses did to simulated caches. Nothing of it is measured."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memgauge.model.cache_machine import CacheMachine

Engine = Literal["callgrind", "trace"]
Requested = Literal["loads", "stores", "instructions", "all"]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ProgramLevel(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses of one kind that reached one level, and those that it did not hold."""

    level: str
    kind: Requested
    """`all`: the engine does not tell loads from stores behind the first level."""
    accesses: Count
    misses: Count


class SimulatedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a program on the simulated caches of a machine, which held nothing."""

    command: list[str]
    machine: CacheMachine
    """Asked for; `notes` say where the engine simulates another."""
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
    """Written to memory when changed lines left, while the program ran,"""
    bypass_write_bytes: Count
    """and past the caches."""
    left_changed_bytes: Count | None
    """Still changed in the caches in the end: part of no figure above. None: not known,"""
    left_changed_at_most_bytes: Count
    """but not more than this."""
    instructions: Count | None
    """Executed; None: not counted."""
    processes: Count
    """That were simulated, each with caches of its own,"""
    left_out_processes: Count | None
    """and that forked from one of them without starting a program; None: not known."""
    uncounted_programs: Count = 0
    """Programs that are in no figure. By callgrind, those that another took the place of (exec),
    that were killed before their counts were written, or that had not ended yet; by trace 1 where
    another program took the place of this one."""
    exit_code: int | None
    signal: int | None
    """That ended it; None: it ended by itself."""
    took_s: float
    notes: list[str]
    """What the engine simulates otherwise than the machine has it, in words."""

    @property
    def is_lower_bound(self) -> bool:
        """Whether part of what was executed is in no figure, so that each is at least so much.

        Of several processes, it is at least what each did between fork and exec.
        """
        return bool(self.uncounted_programs or self.left_out_processes or self.processes > 1)

    @property
    def read_bytes(self) -> int:
        """All that memory gave."""
        return (
            self.load_read_bytes
            + self.allocate_read_bytes
            + (self.instruction_read_bytes or 0)
            + self.prefetch_read_bytes
        )

    @property
    def write_bytes(self) -> int:
        """All that memory took while the program ran."""
        return self.write_back_bytes + self.bypass_write_bytes
