"""What a GPU's transfers go over: its PCI Express link and its NUMA node, by sysfs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memgauge.model.points.transfers import GpuPlace
from memgauge.system.gpu.pci_link import PciPlace, pci_place
from memgauge.system.tree import Tree

if TYPE_CHECKING:
    from memgauge import _core
    from memgauge.model.record_kinds.fields import Scalar

AWAKE_BYTES = 256 << 20
"""Transferred while the link is looked at: GPUs slow it down when they are idle."""
AWAKE_MOST = 256
"""Transfers of these, at most."""


def looked_at(
    transfers: _core.GpuTransfers, bus_id: str, size: int, *, queued: bool, tree: Tree | None = None
) -> dict[str, Scalar]:
    """The recorded `GpuPlace`, read while transfers are under way, or just after.

    Args:
        transfers: Open buffers between the host and the GPU.
        bus_id: PCI address of the GPU, such as `0000:3b:00.0`.
        size: Bytes of one transfer; as many are made as keep the link awake.
        queued: Whether to look during the transfers, as pinned memory allows; else just after.
        tree: Root of the sysfs to read; None: this machine's.
    """
    count = max(1, min(AWAKE_MOST, AWAKE_BYTES // size))
    if queued:
        transfers.start("host-to-device", size, iterations=count)
        try:
            place = pci_place(tree or Tree(), bus_id)
        finally:
            transfers.finish()
        return _facts(place, "while transfers ran")
    transfers.run("host-to-device", size, iterations=count)
    return _facts(pci_place(tree or Tree(), bus_id), "just after transfers")


def _facts(place: PciPlace, when: str) -> dict[str, Scalar]:
    current, most = place.current, place.most
    return GpuPlace(
        link="" if current is None else str(current),
        link_bytes_per_s=None if current is None else current.bytes_per_s,
        link_read="" if current is None else when,
        link_max="" if most is None else str(most),
        link_max_bytes_per_s=None if most is None else most.bytes_per_s,
        gpu_node=place.node,
    ).recorded()
