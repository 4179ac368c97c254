"""The memory's theoretical bandwidth from the firmware's SMBIOS table, where it can be trusted.

Source: DMTF DSP0134, System Management BIOS reference, "Memory Device (Type 17)". The kernel shows
the table to root only. Width times transfer rate, summed over channels: two modules on one channel
share it. Where the table does not name the channels, those that the kernel's EDAC drivers list are
counted, if all modules are alike and both describe the same memory; without either, the bandwidth
is unknown.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.units import format_count

if TYPE_CHECKING:
    from memgauge.model.system import MemoryHardware, PeakSource
    from memgauge.system.environment.virtualisation import Virtualisation
    from memgauge.system.tree import Tree

ENTRIES = "/sys/firmware/dmi/entries"
_CHANNEL = re.compile(r"^(?P<socket>.*?)[ _-]*channel[ _-]*(?P<channel>[a-z0-9]+?)(?![a-z0-9])")
_WIDTHS = (8, 16, 32, 64, 128)
_SIZE_EXTENDED = 0x7FFF


class DataSheet(NamedTuple):
    """Theoretical bandwidth, or why it is unknown."""

    bytes_per_s: float | None
    detail: str
    remedy: str | None = None
    source: PeakSource | None = None


class Module(NamedTuple):
    """One populated memory device."""

    data_bits: int
    transfers_per_s: float
    """0 if the firmware does not report it."""
    locators: tuple[str, str]
    """Bank and device locator."""
    bytes: int | None = None
    """None if the firmware does not know it."""


def read_data_sheet(
    tree: Tree,
    virtualisation: Virtualisation,
    sockets: int,
    hardware: MemoryHardware | None = None,
) -> DataSheet:
    """Sum the channels of all populated modules.

    Args:
        tree: Root of the sysfs that holds the firmware's table.
        virtualisation: If it has a hypervisor, the bandwidth is unknown: the modules are virtual.
        sockets: Number of sockets; if there are several, channel names must tell the socket.
        hardware: Modules as EDAC lists them, for their channels; None if it does not.
    """
    if virtualisation.hypervisor is not None:
        return DataSheet(
            None, "unknown: a virtual machine's firmware describes virtual memory modules"
        )
    entries = [name for name in tree.names(ENTRIES) if name.startswith("17-")]
    if not entries:
        return DataSheet(None, "unknown: this system does not provide the firmware's memory table")
    raws = [tree.raw(f"{ENTRIES}/{name}/raw") for name in entries]
    if any(raw is None for raw in raws):
        return DataSheet(None, "unknown: only root may read the memory table", "run as root once")
    modules = [module for raw in raws if (module := parse_module(raw or b"")) is not None]
    sheet = sum_channels(modules, sockets)
    if sheet.bytes_per_s is None and hardware is not None:
        return sum_listed_channels(modules, hardware) or sheet
    return sheet


def parse_module(raw: bytes) -> Module | None:
    """One type 17 structure; None for an empty slot or a malformed entry."""
    if len(raw) < 0x17 or raw[0] != 17 or raw[1] > len(raw):
        return None
    length = raw[1]
    data_bits, size = struct.unpack_from("<HH", raw, 0x0A)
    if size == 0:
        return None
    speed = _speed(raw, length, 0x20, 0x58) or _speed(raw, length, 0x15, 0x54)
    texts = raw[length:].split(b"\0")
    locators = (_string(texts, raw[0x11]), _string(texts, raw[0x10]))
    return Module(data_bits, speed * 1e6, locators, _size(raw))


def sum_channels(modules: list[Module], sockets: int) -> DataSheet:
    """Bandwidth over distinct channels, or why it cannot be determined."""
    if not modules:
        return DataSheet(None, "unknown: the firmware lists no populated memory module")
    channels: dict[tuple[str, str], float] = {}
    for module in modules:
        if module.data_bits not in _WIDTHS or not module.transfers_per_s:
            return DataSheet(
                None, "unknown: the firmware does not report width and speed of all modules"
            )
        name = channel_name(module.locators)
        if name is None or (sockets > 1 and not name[0]):
            return DataSheet(
                None, f"unknown: the firmware does not name the channels of {len(modules)} modules"
            )
        rate = module.data_bits / 8 * module.transfers_per_s
        channels[name] = min(rate, channels.get(name, rate))
    total = sum(channels.values())
    return DataSheet(
        total,
        f"{total / 1e9:.1f} GB/s over {format_count(len(channels), 'channel')}, according to the "
        "firmware (SMBIOS)",
        source="smbios",
    )


def sum_listed_channels(modules: list[Module], hardware: MemoryHardware) -> DataSheet | None:
    """Bandwidth over the channels that EDAC lists, by the width and speed that SMBIOS states.

    None unless all modules are alike and the driver lists the same memory: some drivers call parts
    of a module's width a channel, and list a module once for each.
    """
    kinds = {(module.data_bits, module.transfers_per_s) for module in modules}
    channels = hardware.channels
    if hardware.source != "edac" or not channels or len(kinds) != 1:
        return None
    bits, transfers_per_s = kinds.pop()
    if bits not in _WIDTHS or not transfers_per_s or not _same_memory(modules, hardware):
        return None
    total = channels * bits / 8 * transfers_per_s
    return DataSheet(
        total,
        f"{total / 1e9:.1f} GB/s: {format_count(channels, 'channel')} according to EDAC, each of "
        f"{bits} bits and {transfers_per_s / 1e6:.0f} MT/s according to the firmware (SMBIOS)",
        source="smbios and edac",
    )


def _same_memory(modules: list[Module], hardware: MemoryHardware) -> bool:
    """Whether the firmware's modules are what EDAC lists: as many, or their ranks, and as large."""
    places = hardware.modules
    sizes = [module.bytes for module in modules if module.bytes is not None]
    listed = [place.bytes for place in places if place.bytes is not None]
    known = len(sizes) == len(modules) and len(listed) == len(places)
    if not known or (hardware.channels or 0) > len(modules):
        return False
    if places[0].place.startswith("rank"):
        return len(places) >= len(modules) and sum(sizes) == sum(listed)
    return sorted(sizes) == sorted(listed)


def channel_name(locators: tuple[str, str]) -> tuple[str, str] | None:
    """(socket or controller, channel) named in either locator; None where neither does."""
    for locator in locators:
        found = _CHANNEL.match(locator.lower())
        if found:
            return found["socket"].strip(), found["channel"]
    return None


def _speed(raw: bytes, length: int, offset: int, extended: int) -> int:
    """Million transfers per second; 0 where unknown or the table is too old to have it."""
    if length < offset + 2:
        return 0
    speed: int = struct.unpack_from("<H", raw, offset)[0]
    if speed != 0xFFFF:
        return speed
    return int(struct.unpack_from("<I", raw, extended)[0]) if length >= extended + 4 else 0


def _size(raw: bytes) -> int | None:
    """Bytes of a module; None where the firmware does not know it."""
    size: int = struct.unpack_from("<H", raw, 0x0C)[0]
    if size == 0xFFFF:
        return None
    if size != _SIZE_EXTENDED:
        return (size & 0x7FFF) << 10 if size & 0x8000 else size << 20
    if raw[1] < 0x20:
        return None
    return int(struct.unpack_from("<I", raw, 0x1C)[0] & 0x7FFFFFFF) << 20


def _string(texts: list[bytes], number: int) -> str:
    return texts[number - 1].decode("latin-1") if 0 < number <= len(texts) else ""
