"""Memory controllers, modules and ECC: as the kernel's EDAC drivers report them, else the firmware.

Sources: Documentation/admin-guide/ras.rst of Linux (`/sys/devices/system/edac/mc`, readable by any
user); DMTF DSP0134, System Management BIOS reference, "Physical Memory Array (Type 16)" and "Memory
Device (Type 17)", readable by root only. EDAC reports the ECC that a controller has enabled,
SMBIOS what the firmware states about it. In a virtual machine the firmware's tables are invented
and not used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.system import EccState, MemoryController, MemoryHardware, MemoryModule
from memgauge.system.environment.data_sheet import ENTRIES, channel_name, parse_module

if TYPE_CHECKING:
    from memgauge.system.environment.virtualisation import Virtualisation
    from memgauge.system.tree import Tree

EDAC = "/sys/devices/system/edac/mc"

_CORRECTING = re.compile(r"EC|SECDED|S\d+ECD\d+ED")
_CHANNEL = re.compile(r"(?:branch \d+ )?channel \d+")
_FIRMWARE_ECC: dict[int, tuple[EccState, str]] = {
    3: ("off", "none"),
    4: ("parity", "parity"),
    5: ("on", "single-bit"),
    6: ("on", "multi-bit"),
    7: ("parity", "CRC"),
}
"""Type 16, error correction (table 75): state and name; others are unknown."""

_TYPES = {
    0x12: "DDR",
    0x13: "DDR2",
    0x14: "DDR2 FB-DIMM",
    0x18: "DDR3",
    0x1A: "DDR4",
    0x1B: "LPDDR",
    0x1C: "LPDDR2",
    0x1D: "LPDDR3",
    0x1E: "LPDDR4",
    0x1F: "logical non-volatile device",
    0x20: "HBM",
    0x21: "HBM2",
    0x22: "DDR5",
    0x23: "LPDDR5",
    0x24: "HBM3",
}
"""Type 17, memory type (table 78)."""

_SYSTEM_MEMORY = 3
"""Type 16, use: of an array that is not of video memory, flash or a cache."""


class Found(NamedTuple):
    """Controllers and modules, or why they are unknown."""

    hardware: MemoryHardware | None
    reason: str = ""
    remedy: str | None = None


def read_memory_hardware(tree: Tree, virtualisation: Virtualisation) -> Found:
    """What EDAC reports, else what the firmware states, else why neither is known.

    Args:
        tree: Root of the sysfs to read.
        virtualisation: If it has a hypervisor, the firmware's modules are virtual.
    """
    controllers = [_controller(tree, number) for number in tree.numbered(EDAC, "mc")]
    if controllers:
        modules = [one for number in tree.numbered(EDAC, "mc") for one in _modules(tree, number)]
        return Found(
            MemoryHardware(
                source="edac",
                ecc=_state([_edac_state(one.ecc_mode) for one in modules]),
                controllers=controllers,
                modules=modules,
                channels=_channels(modules),
            )
        )
    if virtualisation.hypervisor is not None:
        return Found(
            None,
            "unknown: a virtual machine has virtual modules, and no EDAC driver reports others",
        )
    return _by_firmware(tree)


def _channels(modules: list[MemoryModule]) -> int | None:
    """Distinct channels; None where that of a module is not known."""
    channels = {(one.controller, one.channel) for one in modules}
    known = bool(modules) and all(channel is not None for _, channel in channels)
    return len(channels) if known else None


def _state(states: list[EccState | None]) -> EccState | None:
    """Of all modules together; None where that of one is unknown."""
    found = set(states)
    if not found or None in found:
        return None
    return next(iter(found)) if len(found) == 1 else "mixed"


def _edac_state(mode: str | None) -> EccState | None:
    if mode is None:
        return None
    if _CORRECTING.fullmatch(mode):
        return "on"
    known: dict[str, EccState] = {"None": "off", "PARITY": "parity"}
    return known.get(mode)


def _controller(tree: Tree, number: int) -> MemoryController:
    directory = f"{EDAC}/mc{number}"
    mebibytes = tree.quantity(f"{directory}/size_mb")
    return MemoryController(
        name=f"mc{number}",
        driver=tree.text(f"{directory}/mc_name") or None,
        bytes=None if mebibytes is None else mebibytes << 20,
        corrected_errors=tree.quantity(f"{directory}/ce_count"),
        uncorrected_errors=tree.quantity(f"{directory}/ue_count"),
        seconds_counted=tree.quantity(f"{directory}/seconds_since_reset"),
    )


def _modules(tree: Tree, number: int) -> list[MemoryModule]:
    """Populated places of one controller: DIMMs, or ranks where its driver knows those only."""
    directory = f"{EDAC}/mc{number}"
    for kind in ("dimm", "rank"):
        places = tree.numbered(directory, kind)
        if places:
            found = [_module(tree, number, f"{kind}{place}") for place in places]
            return [one for one in found if one.bytes != 0]
    found = [_row(tree, number, place) for place in tree.numbered(directory, "csrow")]
    return [one for one in found if one.bytes != 0]


def _module(tree: Tree, number: int, place: str) -> MemoryModule:
    directory = f"{EDAC}/mc{number}/{place}"
    mebibytes = tree.quantity(f"{directory}/size")
    location = " ".join((tree.text(f"{directory}/dimm_location") or "").split())
    channel = _CHANNEL.search(location)
    return MemoryModule(
        place=place,
        controller=f"mc{number}",
        location=location or None,
        channel=channel.group() if channel else None,
        label=tree.text(f"{directory}/dimm_label") or None,
        bytes=None if mebibytes is None else mebibytes << 20,
        type=_told(tree.text(f"{directory}/dimm_mem_type")),
        device_width=_told(tree.text(f"{directory}/dimm_dev_type")),
        ecc_mode=_told(tree.text(f"{directory}/dimm_edac_mode")),
        corrected_errors=tree.quantity(f"{directory}/dimm_ce_count"),
        uncorrected_errors=tree.quantity(f"{directory}/dimm_ue_count"),
    )


def _row(tree: Tree, number: int, row: int) -> MemoryModule:
    """A row of chips over all channels, of drivers and kernels that know no more."""
    directory = f"{EDAC}/mc{number}/csrow{row}"
    mebibytes = tree.quantity(f"{directory}/size_mb")
    return MemoryModule(
        place=f"csrow{row}",
        controller=f"mc{number}",
        bytes=None if mebibytes is None else mebibytes << 20,
        type=_told(tree.text(f"{directory}/mem_type")),
        device_width=_told(tree.text(f"{directory}/dev_type")),
        ecc_mode=_told(tree.text(f"{directory}/edac_mode")),
        corrected_errors=tree.quantity(f"{directory}/ce_count"),
        uncorrected_errors=tree.quantity(f"{directory}/ue_count"),
    )


def _told(text: str | None) -> str | None:
    return None if text in {None, "", "Unknown"} else text


def _by_firmware(tree: Tree) -> Found:
    names = tree.names(ENTRIES)
    devices = [name for name in names if name.startswith("17-")]
    if not devices:
        return Found(
            None,
            "unknown: no EDAC driver reports memory controllers, and the firmware has no table",
            "load the EDAC driver of the platform (modprobe skx_edac, amd64_edac, ...)",
        )
    raws = [tree.raw(f"{ENTRIES}/{name}/raw") for name in devices]
    if any(raw is None for raw in raws):
        return Found(
            None,
            "unknown: no EDAC driver reports memory controllers, and only root may read the "
            "firmware's table",
            "run as root once, or load the EDAC driver of the platform",
        )
    arrays = [tree.raw(f"{ENTRIES}/{name}/raw") for name in names if name.startswith("16-")]
    modules = [
        module
        for number, raw in enumerate(raws)
        if (module := _firmware_module(raw or b"", number)) is not None
    ]
    states = [found for raw in arrays if raw and (found := _array_ecc(raw)) is not None]
    return Found(
        MemoryHardware(
            source="firmware",
            ecc=_state([state for state, _ in states]),
            ecc_names=sorted({name for _, name in states if name}),
            modules=modules,
            channels=_channels(modules),
        )
    )


def _array_ecc(raw: bytes) -> tuple[EccState | None, str] | None:
    """Of one type 16 structure; None for one that is not of system memory, or malformed."""
    if len(raw) < 0x0F or raw[0] != 16 or raw[0x05] != _SYSTEM_MEMORY:
        return None
    return _FIRMWARE_ECC.get(raw[0x06], (None, ""))


def _firmware_module(raw: bytes, number: int) -> MemoryModule | None:
    """One type 17 structure; None for an empty slot or a malformed entry."""
    parsed = parse_module(raw)
    if parsed is None:
        return None
    bank, device = parsed.locators
    channel = channel_name(parsed.locators)
    return MemoryModule(
        place=f"dimm{number}",
        location=bank or None,
        channel=" ".join(filter(None, channel)) if channel else None,
        label=device or None,
        bytes=parsed.bytes,
        type=_TYPES.get(raw[0x12]),
        transfers_per_s=parsed.transfers_per_s or None,
    )
