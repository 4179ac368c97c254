"""Block devices of persistent memory, their file systems, and NVDIMM capacity that is not in use.

Source: the kernel's Documentation/filesystems/dax.rst, driver-api/nvdimm/nvdimm.rst, proc(5) on
mountinfo.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.tiers.dax_devices import nvdimm_bus

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_BLOCK = "/sys/block"
_ND = "/sys/bus/nd/devices"
_SECTOR_BYTES = 512
"""Unit of a block device's size, regardless of its sector size."""
_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A mounted file system."""

    device: str
    """Major and minor number."""
    directory: str
    file_system: str
    dax: str | None
    """always, inode or never; None if no mount option specifies it."""


class PmemDevice(NamedTuple):
    """One block device of persistent memory."""

    name: str
    mode: str
    """fsdax, sector or raw."""
    origin: str
    bytes: int | None
    can_dax: bool
    near_node: int | None
    mount: Mount | None


class FreeRegion(NamedTuple):
    """A region of NVDIMMs without a namespace."""

    name: str
    bytes: int
    near_node: int | None


def read_pmem_devices(tree: Tree) -> list[PmemDevice]:
    """Block devices of persistent memory, and those mapped onto nothing else."""
    mounts = read_mounts(tree)
    return [_read(tree, name, mounts) for name in tree.names(_BLOCK) if _is_pmem(tree, name)]


def read_mounts(tree: Tree) -> list[Mount]:
    """All mounted file systems of this process, in the order of mounting."""
    lines = (tree.text("/proc/self/mountinfo") or "").splitlines()
    return [mount for line in lines if (mount := parse_mount(line)) is not None]


def parse_mount(line: str) -> Mount | None:
    """One line of mountinfo: a whole file system, or None."""
    before, dash, after = line.partition(" - ")
    left, right = before.split(), after.split()
    if not dash or len(left) < 6 or len(right) < 3 or left[3] != "/":
        return None
    options = [option for option in right[2].split(",") if option.partition("=")[0] == "dax"]
    dax = (options[-1].partition("=")[2] or "always") if options else None
    return Mount(left[2], _unescaped(left[4]), right[0], dax)


def free_regions(tree: Tree) -> list[FreeRegion]:
    """Regions with room for a namespace.

    A region without labels is one namespace, yet counts as available, so the capacity of namespaces
    is subtracted.
    """
    found = []
    for number in tree.numbered(_ND, "region"):
        at = f"{_ND}/region{number}"
        names = tree.numbered(_ND, f"namespace{number}.")
        sizes = (tree.quantity(f"{_ND}/namespace{number}.{name}/size") for name in names)
        held = sum(size or 0 for size in sizes)
        whole = tree.quantity(f"{at}/size") or 0
        free = min(tree.quantity(f"{at}/available_size") or 0, whole - held)
        if free > 0:
            found.append(FreeRegion(f"region{number}", free, tree.quantity(f"{at}/numa_node")))
    return found


def _is_pmem(tree: Tree, name: str) -> bool:
    """Unmapped devices of persistent memory, and mappings (dm) that consist only of these."""
    if name.startswith("pmem"):
        return not tree.names(f"{_BLOCK}/{name}/holders")
    slaves = tree.names(f"{_BLOCK}/{name}/slaves")
    return bool(slaves) and all(slave.startswith("pmem") for slave in slaves)


def _read(tree: Tree, name: str, mounts: list[Mount]) -> PmemDevice:
    directory = f"{_BLOCK}/{name}"
    slaves = tree.names(f"{directory}/slaves")
    place = tree.resolved(f"{_BLOCK}/{slaves[0]}" if slaves else directory) or ""
    sectors = tree.quantity(f"{directory}/size")
    numbers = {tree.text(f"{directory}/dev")} | {
        tree.text(f"{directory}/{part}/dev")
        for part in tree.names(directory)
        if part.startswith(name)
    }
    return PmemDevice(
        name=name,
        mode=_mode(place),
        origin=nvdimm_bus(place),
        bytes=None if sectors is None else sectors * _SECTOR_BYTES,
        can_dax=tree.text(f"{directory}/queue/dax") == "1",
        near_node=tree.quantity(f"{_ND}/{_parent(place)}/numa_node"),
        mount=next((mount for mount in mounts if mount.device in numbers), None),
    )


def _parent(place: str) -> str:
    """The NVDIMM bus device to which a block device (`.../pfn0.0/block/pmem0`) belongs."""
    parts = place.split("/")
    return parts[-3] if len(parts) >= 3 and parts[-2] == "block" else ""


def _mode(place: str) -> str:
    """The mode as ndctl names it, from what provides the namespace's block device."""
    parent = _parent(place)
    return "fsdax" if parent.startswith("pfn") else "sector" if parent.startswith("btt") else "raw"


def _unescaped(text: str) -> str:
    """Decode blanks and backslashes, which mountinfo writes in octal."""
    return _OCTAL.sub(lambda found: chr(int(found.group(1), 8)), text)
