"""Which NVIDIA GPUs the machine has, by what sysfs, procfs and /dev show: no driver is started.

A container may show devices of the host that it may not use, and hide the kernel's view of those it
may: a GPU is usable if its device file is present, and known if sysfs or the driver's own files
report it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from memgauge.system.tree import whole_number

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_PCI = "/sys/bus/pci/devices"
_DRIVER = "/proc/driver/nvidia"
_NVIDIA = "0x10de"
_CLASSES = ("0x0300", "0x0302")
"""Of PCI: VGA and 3D controllers."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU; fields are None if unknown."""

    bus_id: str | None
    """PCI address, such as 0000:3b:00.0; None if only its device file is visible."""
    name: str | None = None
    uuid: str | None = None
    driver: str | None = None
    """The kernel's driver that is bound to it: nvidia, nouveau, vfio-pci."""
    node: int | None = None
    """The NUMA node it is attached to."""
    minor: int | None = None
    """Number of its device file."""
    is_usable: bool = False
    """Whether this process may open its device file, as far as permissions tell."""
    is_partitioned: bool = False
    """Whether it is cut into MIG instances."""

    @property
    def title(self) -> str:
        """Such as `NVIDIA H100 at 0000:3b:00.0`."""
        name = self.name or "NVIDIA GPU"
        if self.bus_id is not None:
            return f"{name} at {self.bus_id}"
        return name if self.minor is None else f"{name} by {device_file(self.minor)}"


def read_gpus(tree: Tree) -> list[Gpu]:
    """All visible GPUs by bus id, or by device file where the GPU of that file is unknown."""
    known = _told_by_driver(tree)
    minors = tree.numbered("/dev", "nvidia")
    addresses = sorted({*known, *_on_the_bus(tree)})
    taken = {minor for _, _, minor in known.values()}
    loose = [minor for minor in minors if minor not in taken]
    found = [_gpu(tree, address, known.get(address), addresses, loose) for address in addresses]
    if loose and all(
        gpu.minor is None for gpu in found
    ):  # which file belongs to which GPU is unknown
        return [
            Gpu(bus_id=None, minor=minor, is_usable=tree.usable(device_file(minor)))
            for minor in loose
        ]
    return found


def device_file(minor: int) -> str:
    """Path where the driver creates the device file."""
    return f"/dev/nvidia{minor}"


def driver_version(tree: Tree) -> str | None:
    """Version of the NVIDIA kernel driver; None if it is not loaded, or hidden."""
    return tree.text("/sys/module/nvidia/version")


def _on_the_bus(tree: Tree) -> list[str]:
    return [
        address
        for address in tree.names(_PCI)
        if tree.text(f"{_PCI}/{address}/vendor") == _NVIDIA
        and (tree.text(f"{_PCI}/{address}/class") or "").startswith(_CLASSES)
    ]


_Told = tuple[str | None, str | None, int | None]
"""Name, UUID and minor number as the driver reports them."""


def _told_by_driver(tree: Tree) -> dict[str, _Told]:
    found: dict[str, _Told] = {}
    for address in tree.names(f"{_DRIVER}/gpus"):
        fields = tree.fields(f"{_DRIVER}/gpus/{address}/information")
        minor = fields.get("Device Minor", "")
        uuid = fields.get("GPU UUID", "")
        found[address.lower()] = (
            fields.get("Model") or None,
            uuid if uuid and "?" not in uuid else None,
            whole_number(minor),
        )
    return found


def _gpu(
    tree: Tree, address: str, known: _Told | None, addresses: list[str], loose: list[int]
) -> Gpu:
    name, uuid, minor = known or (None, None, None)
    if minor is None and len(addresses) == len(loose) == 1:
        minor = loose[0]  # the driver's own files are hidden: one GPU, and one device file
    driver = tree.resolved(f"{_PCI}/{address}/driver")
    node = tree.integer(f"{_PCI}/{address}/numa_node")
    return Gpu(
        bus_id=address,
        name=name,
        uuid=uuid,
        driver=driver.rpartition("/")[2] if driver else ("nvidia" if known else None),
        node=node if node is not None and node >= 0 else None,
        minor=minor,
        is_usable=minor is not None and tree.usable(device_file(minor)),
        is_partitioned=minor is not None
        and bool(tree.numbered(f"{_DRIVER}/capabilities/gpu{minor}/mig", "gi")),
    )
