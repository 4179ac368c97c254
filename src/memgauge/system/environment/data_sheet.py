"""The memory's theoretical bandwidth from the firmware's SMBIOS table, where it can be trusted.

Source: DMTF DSP0134, System Management BIOS reference, "Memory Device (Type 17)". The kernel shows
the table to root only. Width times transfer rate, summed over channels: two modules on one channel
share it, so without channel names the bandwidth is unknown.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memgauge.system.environment.virtualisation import Virtualisation
    from memgauge.system.tree import Tree

ENTRIES = "/sys/firmware/dmi/entries"
_CHANNEL = re.compile(r"^(?P<socket>.*?)[ _-]*channel[ _-]*(?P<channel>[a-z0-9]+?)(?![a-z0-9])")
_WIDTHS = (8, 16, 32, 64, 128)


class DataSheet(NamedTuple):
    """Theoretical bandwidth, or why it is unknown."""

    bytes_per_s: float | None
    detail: str
    remedy: str | None = None


class Module(NamedTuple):
    """One populated memory device."""

    data_bits: int
    transfers_per_s: float
    """0 if the firmware does not report it."""
    locators: tuple[str, str]
    """Bank and device locator."""


def read_data_sheet(tree: Tree, virtualisation: Virtualisation, sockets: int) -> DataSheet:
    """Sum the channels of all populated modules.

    Args:
        tree: Root of the sysfs that holds the firmware's table.
        virtualisation: If it has a hypervisor, the bandwidth is unknown: the modules are virtual.
        sockets: Number of sockets; if there are several, channel names must tell the socket.
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
    return sum_channels(modules, sockets)


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
    return Module(data_bits, speed * 1e6, locators)


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
        total, f"{total / 1e9:.1f} GB/s over {len(channels)} channels, according to the firmware"
    )


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


def _string(texts: list[bytes], number: int) -> str:
    return texts[number - 1].decode("latin-1") if 0 < number <= len(texts) else ""
