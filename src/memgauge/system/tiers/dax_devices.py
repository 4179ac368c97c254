"""Devices of byte-addressable memory (`/dev/daxN.M`), used as device files or as NUMA nodes.

Source: the kernel's Documentation/ABI/testing/sysfs-bus-dax and drivers/dax. What a device is made
of shows in its place in the device tree: below an NVDIMM bus, a CXL region, or memory that the
firmware set aside for a specific purpose (EFI_MEMORY_SP).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memgauge.model.system import TierKind
    from memgauge.system.tree import Tree

_DEVICES = "/sys/bus/dax/devices"
KMEM = "kmem"
"""The driver with which the kernel uses the memory as a NUMA node."""
DEVDAX = "device_dax"


class DaxDevice(NamedTuple):
    """One device."""

    name: str
    kind: TierKind
    origin: str
    """Description of what it is made of."""
    driver: str | None
    """`kmem`, `device_dax`; None if no driver is bound."""
    bytes: int | None
    align_bytes: int | None
    near_node: int | None
    """NUMA node that it is attached to."""
    target_node: int | None
    """NUMA node that its memory is, or would become."""

    @property
    def path(self) -> str:
        """Of its device file."""
        return f"/dev/{self.name}"


def read_dax_devices(tree: Tree) -> list[DaxDevice]:
    """All devices with a size; the kernel also keeps empty ones, which root can grow."""
    devices = [_read(tree, name) for name in tree.names(_DEVICES)]
    return [device for device in devices if device.bytes != 0]


def _read(tree: Tree, name: str) -> DaxDevice:
    directory = f"{_DEVICES}/{name}"
    kind, origin = origin_of(tree.resolved(directory) or "")
    driver = tree.resolved(f"{directory}/driver")
    return DaxDevice(
        name=name,
        kind=kind,
        origin=origin,
        driver=None if driver is None else driver.rpartition("/")[2],
        bytes=tree.quantity(f"{directory}/size"),
        align_bytes=tree.quantity(f"{directory}/align"),
        near_node=tree.quantity(f"{directory}/numa_node"),
        target_node=tree.quantity(f"{directory}/target_node"),
    )


def origin_of(place: str) -> tuple[TierKind, str]:
    """What a device is made of, by its place in the tree of devices."""
    parts = place.split("/")
    if any(part.startswith("dax_region") for part in parts):
        return "cxl", "a CXL region"
    if any(part.startswith("ndbus") for part in parts):
        return "nvdimm", nvdimm_bus(place)
    if any(part.startswith("hmem") for part in parts):
        return "unknown", "memory that the firmware set aside for a specific purpose"
    return "unknown", "a device of unknown origin"


def nvdimm_bus(place: str) -> str:
    """What is behind an NVDIMM bus, which need not be an NVDIMM."""
    if "/e820_pmem" in place:
        return "memory reserved at boot (memmap=), perhaps ordinary DRAM, or a legacy NVDIMM"
    if "/virtio" in place:
        return "virtio-pmem: a file of the host, in the host's page cache"
    if "/ACPI0017" in place or "nvdimm-bridge" in place:
        return "persistent memory of a CXL device"
    return "an NVDIMM bus"
