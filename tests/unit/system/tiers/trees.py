"""Made-up trees of machines with more kinds of memory, as a guest with such devices shows them."""

from __future__ import annotations

from pathlib import Path

from tests.unit.system.trees import NODES, Files, plant, with_cxl, xeon

from memgauge.system.tree import Tree

Links = dict[str, str]
"""From a path to what it leads to, both below the root."""

NDBUS = "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0"
CXL_REGION = "/sys/devices/platform/ACPI0017:00/root0/decoder0.0/region0"
TIERING = "/sys/devices/virtual/memory_tiering"
BLOCK_BYTES = 1 << 27


def plant_linked(root: Path, files: Files, links: Links) -> Tree:
    """Files, and symbolic links that stay below the root, whatever they lead to."""
    tree = plant(root, files)
    for path, to in links.items():
        target = root / to.lstrip("/")
        if not target.exists():
            target.mkdir(parents=True)
        link = root / path.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return tree


def claims(node: int, latency_ns: int, bandwidth_mb: int, near: int) -> tuple[Files, Links]:
    """The firmware's figures of a node, in the kernel's class 1."""
    directory = f"{NODES}/node{node}/access1/initiators"
    files = {
        f"{directory}/{what}_{figure}": f"{value}\n"
        for what in ("read", "write")
        for figure, value in (("latency", latency_ns), ("bandwidth", bandwidth_mb))
    }
    return files, {f"{directory}/node{near}": f"{NODES}/node{near}"}


def dax_device(
    name: str, place: str, driver: str | None, target_node: int, size: int = 1 << 30
) -> tuple[Files, Links]:
    """`/dev/daxN.M` below a place in the device tree."""
    directory = f"{place}/{name}"
    files = {
        f"{directory}/align": "2097152\n",
        f"{directory}/size": f"{size}\n",
        f"{directory}/numa_node": "1\n",
        f"{directory}/target_node": f"{target_node}\n",
    }
    links = {f"/sys/bus/dax/devices/{name}": directory}
    if driver is not None:
        links[f"{directory}/driver"] = f"/sys/bus/dax/drivers/{driver}"
    if driver == "device_dax":
        files[f"/dev/{name}"] = ""
    return files, links


def pmem_block(name: str, parent: str, mount: str | None = None) -> tuple[Files, Links]:
    """A block device of namespace 0.0; `mount` is the rest of its line in mountinfo."""
    place = f"{NDBUS}/region0/{parent}"
    at = f"{place}/block/{name}"
    files = {
        f"{place}/numa_node": "0\n",
        f"{at}/dev": "259:0\n",
        f"{at}/size": "2093056\n",
        f"{at}/queue/dax": "1\n" if parent.startswith("pfn") else "0\n",
    }
    lines = ["24 1 0:5 / / rw,relatime - overlay root rw"]
    if mount is not None:
        lines.append(f"40 24 259:0 / {mount}")
    files["/proc/self/mountinfo"] = "\n".join(lines) + "\n"
    return files, {
        f"/sys/block/{name}": at,
        f"/sys/bus/nd/devices/{parent}": place,
    }


def cxl_region(node: int) -> tuple[Files, Links]:
    """Memory of `with_cxl`'s node 2 as a region that the firmware had set up."""
    start = 256 * BLOCK_BYTES
    return {
        f"{CXL_REGION}/resource": f"{start:#x}\n",
        f"{CXL_REGION}/size": f"{4 * BLOCK_BYTES:#x}\n",
        "/sys/devices/system/memory/block_size_bytes": f"{BLOCK_BYTES:x}\n",
        f"{NODES}/node{node}/memory256/online": "1\n",
    }, {"/sys/bus/cxl/devices/region0": CXL_REGION}


def third_node() -> Files:
    """The Xeon and 128 GiB without CPUs: node 2, nearest to node 0."""
    return with_cxl()


def two_sockets() -> Files:
    """The Xeon as it is."""
    return xeon()
