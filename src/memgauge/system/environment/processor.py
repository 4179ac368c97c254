"""The processor's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

# MIDR_EL1 part numbers of server and workstation cores, from Arm's and the vendors' technical
# reference manuals. A part that is not here is named by its numbers.
_ARM_PARTS = {
    ("0x41", "0xd08"): "Arm Cortex-A72",
    ("0x41", "0xd0b"): "Arm Cortex-A76",
    ("0x41", "0xd0c"): "Arm Neoverse N1",
    ("0x41", "0xd40"): "Arm Neoverse V1",
    ("0x41", "0xd49"): "Arm Neoverse N2",
    ("0x41", "0xd4f"): "Arm Neoverse V2",
    ("0x41", "0xd83"): "Arm Neoverse V3AE",
    ("0x41", "0xd84"): "Arm Neoverse V3",
    ("0x41", "0xd8e"): "Arm Neoverse N3",
    ("0x43", "0x0af"): "Cavium ThunderX2",
    ("0x46", "0x001"): "Fujitsu A64FX",
    ("0x48", "0xd01"): "HiSilicon TSV110",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1a",
}


class Processor(msgspec.Struct, frozen=True):
    """What the processor calls itself."""

    name: str
    """Several joined by ` + `; `unknown ARCHITECTURE` where not known."""
    signature: str | None
    """Vendor, family, model and stepping, or implementer and part; None: not known, or several."""


def read_processor(tree: Tree, architecture: str) -> Processor:
    """Name and signature from /proc/cpuinfo, which takes long to read on a machine of many CPUs."""
    text = tree.text("/proc/cpuinfo") or ""
    return Processor(_name(text, architecture), _signature(text))


def _name(text: str, architecture: str) -> str:
    for key in ("model name", "cpu", "cpu model"):
        names = _values(text, key)
        if names:
            return " + ".join(names)
    implementers, parts = _values(text, "CPU implementer"), _values(text, "CPU part")
    if implementers and parts:
        return " + ".join(_arm_name(implementers[0], part) for part in parts)
    return f"unknown {architecture}"


def _signature(text: str) -> str | None:
    arm = _only_values(text, "CPU implementer", "CPU part")
    x86 = _only_values(text, "vendor_id", "cpu family", "model", "stepping")
    return x86 or (arm and arm.lower())


def _only_values(text: str, *keys: str) -> str | None:
    """Values of all keys; None where one has none, or several."""
    found = [_values(text, key) for key in keys]
    return " ".join(values[0] for values in found) if all(len(v) == 1 for v in found) else None


def _arm_name(implementer: str, part: str) -> str:
    name = _ARM_PARTS.get((implementer.lower(), part.lower()))
    return name or f"Arm implementer {implementer} part {part}"


def _values(text: str, key: str) -> list[str]:
    """Distinct values of `key : value` lines, in order."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        if line.startswith(key):
            name, _, value = line.partition(":")
            if name.strip() == key and value.strip():
                found[" ".join(value.split())] = None
    return list(found)
