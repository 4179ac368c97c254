"""What the firmware states about a node's memory: speeds (ACPI HMAT) and memory-side caches.

Source: the kernel's Documentation/admin-guide/mm/numaperf.rst and ABI/stable/sysfs-devices-node:
latencies in ns, bandwidths in MB/s. ACPI 6.5, section 5.2.28, leaves open whether that is 10^6 or
2^20; 10^6 is taken, as the kernel's ABI document writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memgauge.model.system import FirmwareSpeed, SideCache
from memgauge.system.topology.cpus import NODE_DIRECTORY

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_CLASSES = ("access1", "access0")
"""Class 1 covers accesses by CPUs only; class 0, the older one, may include devices."""
_TABLE = "/sys/firmware/acpi/tables/HMAT"
_MB = 1e6

_INDEXING: dict[int, Literal["direct-mapped", "indexed", "other"]] = {
    0: "direct-mapped",
    1: "indexed",
    2: "other",
}
_POLICY: dict[int, Literal["write-back", "write-through", "other"]] = {
    0: "write-back",
    1: "write-through",
    2: "other",
}


def read_firmware_speed(tree: Tree, node: int) -> FirmwareSpeed | None:
    """Latency and bandwidth from the node's nearest initiators.

    None if the firmware states none.
    """
    for access in _CLASSES:
        directory = f"{NODE_DIRECTORY}/node{node}/{access}/initiators"
        speed = FirmwareSpeed(
            from_nodes=tree.numbered(directory, "node"),
            read_latency_ns=_positive(tree, f"{directory}/read_latency", 1.0),
            write_latency_ns=_positive(tree, f"{directory}/write_latency", 1.0),
            read_bytes_per_s=_positive(tree, f"{directory}/read_bandwidth", _MB),
            write_bytes_per_s=_positive(tree, f"{directory}/write_bandwidth", _MB),
        )
        if is_claimed(speed):
            return speed
    return None


def is_claimed(speed: FirmwareSpeed) -> bool:
    """Whether any figure is given."""
    figures = (
        speed.read_latency_ns,
        speed.write_latency_ns,
        speed.read_bytes_per_s,
        speed.write_bytes_per_s,
    )
    return any(figure is not None for figure in figures)


def read_side_caches(tree: Tree, node: int) -> list[SideCache]:
    """Memory-side caches of the node; level 1 is the farthest from the processor."""
    directory = f"{NODE_DIRECTORY}/node{node}/memory_side_cache"
    found = []
    for level in tree.numbered(directory, "index"):
        at = f"{directory}/index{level}"
        size = tree.quantity(f"{at}/size")
        if size:
            found.append(
                SideCache(
                    level=level,
                    bytes=size,
                    line_bytes=tree.quantity(f"{at}/line_size") or None,
                    indexing=_INDEXING.get(_number(tree, f"{at}/indexing")),
                    write_policy=_POLICY.get(_number(tree, f"{at}/write_policy")),
                )
            )
    return found


def has_table(tree: Tree) -> bool:
    """Whether the firmware provides an HMAT, regardless of how the kernel uses it."""
    return tree.exists(_TABLE)


def _positive(tree: Tree, path: str, unit: float) -> float | None:
    """The kernel shows 0 where the firmware has no entry."""
    number = tree.quantity(path)
    return number * unit if number else None


def _number(tree: Tree, path: str) -> int:
    number = tree.quantity(path)
    return -1 if number is None else number
