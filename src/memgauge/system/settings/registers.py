"""The registers by which processors switch their prefetchers off, through /dev/cpu/N/msr (msr(4)).

Sources: Intel, Disclosure of Hardware Prefetcher Control on Some Intel Processors (2014), and
Intel 64 and IA-32 Architectures Software Developer's Manual, volume 4: MISC_FEATURE_CONTROL, 1A4H,
bits 0 to 3. AMD, Processor Programming Reference for Family 19h Model 01h: Prefetch Control,
C000_0108h, bits 0 to 3 and 5.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from memgauge.model.system import System
from memgauge.system.tree import Tree, whole_number

_REGISTER_BYTES = 8
LOAD_DRIVER = "as root: modprobe msr"


class Prefetchers(msgspec.Struct, frozen=True, kw_only=True):
    """What switches prefetchers off: bits of a register that each core has."""

    register: int
    bits: int
    """Set: the prefetcher is off."""
    names: str
    """Which they are."""


INTEL = Prefetchers(
    register=0x1A4, bits=0x0F, names="L2 stream, L2 adjacent line, L1 stream, L1 by instruction"
)
AMD = Prefetchers(
    register=0xC0000108,
    bits=0x2F,
    names="L1 stream, L1 stride, L1 region, L2 stream, L2 up and down",
)
_FIRST_AMD_FAMILY = 0x19
_INTEL_FAMILY = 6


def documented(system: System) -> Prefetchers | None:
    """The prefetchers that this processor's maker documents how to switch off; None: none.

    Whether the register exists in this model shows when it is read: the processor refuses others.

    Args:
        system: The machine.
    """
    words = (system.cpu_signature or "").split()
    family = whole_number(words[1]) if len(words) == 4 else None
    if family is None:
        return None
    if words[0] == "GenuineIntel" and family == _INTEL_FAMILY:
        return INTEL
    if words[0] == "AuthenticAMD" and family >= _FIRST_AMD_FAMILY:
        return AMD
    return None


def why_not(cpus: Sequence[int], system: System, tree: Tree) -> str | None:
    """Why prefetchers cannot be switched off here; None: nothing is known against it.

    A hypervisor may keep what is written without any effect on the hardware: then a program would
    be said not to gain from prefetchers that were never off.

    Args:
        cpus: Whose prefetchers are meant.
        system: The machine.
        tree: Root of the device nodes.
    """
    if documented(system) is None:
        return "no register of this processor that switches them off is documented"
    if (system.virtualisation or "").startswith("virtual machine"):
        return "in a virtual machine the registers are not the hardware's"
    if any(cpu.core_type is not None for cpu in system.cpus):
        return "the cores of this processor are of several types, with different registers"
    missing = [cpu for cpu in cpus if not tree.exists(device(cpu))]
    if missing:
        return f"there is no {device(missing[0])} ({LOAD_DRIVER})"
    if not all(tree.usable(device(cpu)) for cpu in cpus):
        return "only root may write the processor's registers"
    return None


def device(cpu: int) -> str:
    """The file through which the registers of a CPU are read and written."""
    return f"/dev/cpu/{cpu}/msr"


def read(tree: Tree, cpu: int, register: int) -> int:
    """The value of a register.

    Args:
        tree: Root of the device nodes.
        cpu: Whose register it is.
        register: Its number.

    Raises:
        OSError: the processor has no such register, or it may not be read.
    """
    descriptor = _open(tree, cpu, os.O_RDONLY)
    try:
        content = os.pread(descriptor, _REGISTER_BYTES, register)
    finally:
        os.close(descriptor)
    if len(content) != _REGISTER_BYTES:
        raise OSError(0, "it was read in part")
    return int.from_bytes(content, "little")


def write(tree: Tree, cpu: int, register: int, value: int) -> None:
    """Set a register.

    Args:
        tree: Root of the device nodes.
        cpu: Whose register it is.
        register: Its number.
        value: Of 64 bits.

    Raises:
        OSError: the processor or the kernel refuses.
    """
    descriptor = _open(tree, cpu, os.O_WRONLY)
    try:
        os.pwrite(descriptor, value.to_bytes(_REGISTER_BYTES, "little"), register)
    finally:
        os.close(descriptor)


def _open(tree: Tree, cpu: int, flags: int) -> int:
    return os.open(tree.path(device(cpu)), flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY)
