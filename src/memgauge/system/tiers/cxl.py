"""CXL memory: its regions, the nodes that contain them, and devices without a region.

Source: the kernel's Documentation/ABI/testing/sysfs-bus-cxl and ABI/testing/sysfs-devices-memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.topology.cpus import NODE_DIRECTORY
from memgauge.system.tree import whole_number

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_DEVICES = "/sys/bus/cxl/devices"
_BLOCK_SIZE = "/sys/devices/system/memory/block_size_bytes"


class IdleDevice(NamedTuple):
    """A CXL memory device, none of whose memory is part of a region."""

    name: str
    bytes: int
    volatile: bool
    near_node: int | None


def cxl_nodes(tree: Tree, nodes: list[int]) -> dict[int, str]:
    """Nodes that hold memory of a CXL region, with the region's name.

    A region's first block of memory belongs to the node that holds it, however the memory came
    there: by the kernel's driver or by the firmware.
    """
    block_bytes = _block_bytes(tree)
    found: dict[int, str] = {}
    for region in _regions(tree) if block_bytes else []:
        start = tree.quantity(f"{_DEVICES}/{region}/resource")
        size = tree.quantity(f"{_DEVICES}/{region}/size")
        if start is None or not size:
            continue
        # Regions need not begin on a block boundary; the first whole block in them determines the
        # node.
        block = -(-start // block_bytes)
        for node in nodes:
            if tree.exists(f"{NODE_DIRECTORY}/node{node}/memory{block}"):
                found.setdefault(node, region)
    return found


def idle_devices(tree: Tree) -> list[IdleDevice]:
    """Devices with memory on a machine without any region, so that nothing uses them."""
    if _regions(tree):
        return []
    found = []
    for number in tree.numbered(_DEVICES, "mem"):
        at = f"{_DEVICES}/mem{number}"
        for kind in ("ram", "pmem"):
            size = tree.quantity(f"{at}/{kind}/size")
            if size:
                near = tree.quantity(f"{at}/numa_node")
                found.append(IdleDevice(f"mem{number}", size, kind == "ram", near))
    return found


def _regions(tree: Tree) -> list[str]:
    return [f"region{number}" for number in tree.numbered(_DEVICES, "region")]


def _block_bytes(tree: Tree) -> int:
    """Parse a hexadecimal number without a prefix, as the kernel's ABI defines."""
    return whole_number(tree.text(_BLOCK_SIZE) or "", 16) or 0
