"""Tiers that are not NUMA nodes: devices, file systems with DAX, memory that is not set up yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memgauge.model.system import Tier
from memgauge.system.tiers.cxl import idle_devices
from memgauge.system.tiers.dax_devices import DEVDAX, KMEM
from memgauge.system.tiers.pmem import free_regions, read_pmem_devices

if TYPE_CHECKING:
    from memgauge.system.tiers.cxl import IdleDevice
    from memgauge.system.tiers.dax_devices import DaxDevice
    from memgauge.system.tiers.pmem import FreeRegion, PmemDevice
    from memgauge.system.tree import Tree


def device_tiers(tree: Tree, devices: list[DaxDevice], used_nodes: set[int]) -> list[Tier]:
    """All such tiers, with those that can hold arrays first.

    Args:
        tree: Root of the sysfs to read.
        devices: Devices of byte-addressable memory (`/dev/daxN.M`).
        used_nodes: NUMA nodes that have memory; a device that became one of them is left out,
            because it is a tier as a node.
    """
    tiers = [
        _dax_tier(tree, device)
        for device in devices
        if device.driver != KMEM or device.target_node not in used_nodes
    ]
    tiers += [_pmem_tier(tree, device) for device in read_pmem_devices(tree)]
    tiers += [_region_tier(region) for region in free_regions(tree)]
    tiers += [_cxl_tier(device) for device in idle_devices(tree)]
    return sorted(tiers, key=lambda tier: tier.placement is None)


def _dax_tier(tree: Tree, device: DaxDevice) -> Tier:
    blocker = _dax_blocker(tree, device)
    usable = blocker is None and device.driver == DEVDAX
    notes = []
    if usable and not tree.usable(device.path):
        notes.append(f"this user may not read and write {device.path}")
    return Tier(
        kind=device.kind,
        placement=f"devdax:{device.path}" if usable else None,
        bytes=device.bytes,
        nodes=[],
        evidence=f"a device of {device.origin}",
        nearest_node=device.near_node,
        device=device.name,
        align_bytes=device.align_bytes,
        notes=notes,
        remedy=blocker
        or f"as root, to use it as a NUMA node instead: "
        f"daxctl reconfigure-device --mode=system-ram {device.name}",
    )


def _dax_blocker(tree: Tree, device: DaxDevice) -> str | None:
    """What to do before the device can be used at all; None if nothing."""
    if device.driver == KMEM:
        return (
            f"it is a NUMA node without memory online; as root: daxctl online-memory {device.name}"
        )
    if device.driver != DEVDAX:
        return f"no driver uses it; as root: daxctl reconfigure-device --mode=devdax {device.name}"
    if not tree.exists(device.path):
        return f"{device.path} is missing: give this container access to the device"
    return None


def _pmem_tier(tree: Tree, device: PmemDevice) -> Tier:
    mount = device.mount
    in_effect = mount is not None and mount.dax == "always"
    printable = mount is not None and mount.directory.isprintable()
    placement = None
    notes = []
    if mount is not None and in_effect and printable:
        placement = f"file:{mount.directory}"  # a file without a name in it
        if not tree.usable(mount.directory):
            notes.append(f"this user may not write to {mount.directory}")
    return Tier(
        kind="nvdimm",
        placement=placement,
        bytes=device.bytes,
        nodes=[],
        evidence=f"a block device ({device.mode}) of {device.origin}",
        nearest_node=device.near_node,
        device=device.name,
        mount=None if mount is None else mount.directory,
        file_system=None if mount is None else mount.file_system,
        dax=None if mount is None else mount.dax,
        notes=notes + _without_dax(device),
        remedy=None if placement else _pmem_remedy(device),
    )


def _without_dax(device: PmemDevice) -> list[str]:
    mount = device.mount
    if mount is None or mount.dax == "always":
        return []
    if mount.dax == "never" or not device.can_dax:
        return ["files there are held in the page cache, which is in DRAM"]
    return [
        "files there use DAX only if they have the attribute; others are held in the page cache"
    ]


def _pmem_remedy(device: PmemDevice) -> str:
    if not device.can_dax:
        return (
            f"mode {device.mode} has no DAX; a namespace of mode fsdax or devdax has "
            "(ndctl create-namespace, which erases what it holds)"
        )
    if device.mount is None:
        return f"mount its file system, or create one: mount -o dax=always /dev/{device.name} DIR"
    return f"mount it with DAX: mount -o dax=always /dev/{device.name} {device.mount.directory}"


def _region_tier(region: FreeRegion) -> Tier:
    return Tier(
        kind="nvdimm",
        placement=None,
        bytes=region.bytes,
        nodes=[],
        evidence=f"room in {region.name} of an NVDIMM bus",
        nearest_node=region.near_node,
        device=region.name,
        remedy=f"as root: ndctl create-namespace --region={region.name} --mode=devdax "
        "(or --mode=fsdax, for files)",
    )


def _cxl_tier(device: IdleDevice) -> Tier:
    kind = "ram" if device.volatile else "pmem"
    return Tier(
        kind="cxl",
        placement=None,
        bytes=device.bytes,
        nodes=[],
        evidence=f"a CXL memory device ({kind}) without a region",
        nearest_node=device.near_node,
        device=device.name,
        remedy=f"as root: cxl create-region --memdevs --type={kind} {device.name}",
    )
