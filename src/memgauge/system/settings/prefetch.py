"""Hardware prefetchers that are switched off for the time of a run of a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import SystemFailure
from memgauge.system.owner import boot_id
from memgauge.system.settings import registers
from memgauge.system.settings.registers import Prefetchers
from memgauge.system.settings.setting import Setting
from memgauge.system.tree import Tree


class PrefetchersOff(Setting, frozen=True, kw_only=True):
    """The registers of some CPUs, before their prefetchers are switched off."""

    register: int
    bits: int
    values: dict[int, int]
    """By CPU: the bits as they were."""

    subject: ClassVar[str] = "prefetch"
    in_use: ClassVar[str] = "has hardware prefetch switched off"
    left: ClassVar[str] = "left hardware prefetch off"
    code_of_left: ClassVar[str] = "prefetch-left-off"
    code_of_restored: ClassVar[str] = "prefetch-restored"

    @classmethod
    def recorded(cls, prefetchers: Prefetchers, cpus: Sequence[int], tree: Tree) -> PrefetchersOff:
        """Read the registers.

        Args:
            prefetchers: Of this processor.
            cpus: Whose prefetchers are to be switched.
            tree: Root of the device nodes and of procfs.

        Raises:
            SystemFailure: they cannot be read, or the prefetchers are off already.
        """
        values = {}
        for cpu in cpus:
            try:
                values[cpu] = registers.read(tree, cpu, prefetchers.register) & prefetchers.bits
            except OSError as error:
                raise _refused(cpu, prefetchers.register, "read", error) from error
        if all(value == prefetchers.bits for value in values.values()):
            raise SystemFailure("hardware prefetch is switched off already")
        return cls(
            pid=os.getpid(),
            boot_id=boot_id(tree),
            register=prefetchers.register,
            bits=prefetchers.bits,
            values=values,
        )

    def require(self, tree: Tree, *, changed: bool) -> None:
        """Refuse bits that another program has set; see `Setting`."""
        wanted = dict.fromkeys(self.values, self.bits) if changed else self.values
        others = self._unlike(tree, wanted)
        if others:
            raise SystemFailure(
                f"another program changed register {self.register:#x} of CPUs "
                f"{format_cpu_list(others)} meanwhile, which switches their prefetchers"
            )

    def change(self, tree: Tree) -> None:
        """Switch the prefetchers off; see `Setting`."""
        for cpu in self.values:
            self._set(tree, cpu, self.bits)

    def put_back(self, tree: Tree) -> None:
        """Set all registers to what they were, also after one could not be set; see `Setting`.

        Bits that are neither as they were nor all set may be what the processor kept of them.
        """
        failed: SystemFailure | None = None
        for cpu, value in self.values.items():
            try:
                self._set(tree, cpu, value)
            except SystemFailure as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def is_changed(self, tree: Tree) -> bool:
        """Whether a register differs from what it was; see `Setting`."""
        return bool(self._unlike(tree, self.values))

    def restored(self) -> str:
        """See `Setting`."""
        return (
            f"hardware prefetch of CPUs {format_cpu_list(sorted(self.values))}: switched on again, "
            f"left off by a run that was killed (process {self.pid})"
        )

    def _unlike(self, tree: Tree, wanted: Mapping[int, int]) -> list[int]:
        """CPUs whose bits are not as wanted; without those that are gone, as the driver may be."""
        found = []
        for cpu, value in wanted.items():
            with suppress(OSError):
                if (registers.read(tree, cpu, self.register) ^ value) & self.bits:
                    found.append(cpu)
        return sorted(found)

    def _set(self, tree: Tree, cpu: int, value: int) -> None:
        """Set the bits and no others, unless they are so already, and look at what came out."""
        wanted = value & self.bits
        try:
            before = registers.read(tree, cpu, self.register)
            if before & self.bits == wanted:
                return
            registers.write(tree, cpu, self.register, before & ~self.bits | wanted)
            after = registers.read(tree, cpu, self.register)
        except OSError as error:
            raise _refused(cpu, self.register, "written", error) from error
        if after & self.bits != wanted:
            raise SystemFailure(
                f"register {self.register:#x} of CPU {cpu} did not keep what was written to it"
            )


def _refused(cpu: int, register: int, what: str, error: OSError) -> SystemFailure:
    return SystemFailure(
        f"register {register:#x} of CPU {cpu} cannot be {what}: {error.strerror}; "
        "the processor may not have it, and a kernel that is locked down refuses"
    )
