"""Makes memory of the guest's devices: DAX file systems, devdax, nodes of NVDIMMs and of CXL."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODULES = "crc32c_generic ext4 xfs nfit nd_pmem nd_btt dax_pmem device_dax kmem dax_hmem"
CXL_MODULES = "device_dax kmem dax_hmem cxl_acpi cxl_pci cxl_mem cxl_pmem dax_cxl"
MOUNT = Path("/mnt/dax")
NVDIMM = "dax1.0"
"""The second NVDIMM as a devdax device."""

MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-m", "reflink=0"],  # files that share blocks are not DAX
}


def said(*command: str) -> str:
    """What a command prints; a failure carries what it complained of."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def fsdax(namespace: str = "namespace0.0") -> str:
    """The block device of an NVDIMM, its contents as they are where it was made before."""
    existing = json.loads(said("ndctl", "list", "-n", namespace) or "[]")
    if existing and existing[0].get("mode") == "fsdax":
        return f"/dev/{existing[0]['blockdev']}"
    made = said("ndctl", "create-namespace", "-f", "-e", namespace, "-m", "fsdax", "-M", "mem")
    return f"/dev/{json.loads(made)['blockdev']}"


def devdax(namespace: str = "namespace1.0") -> str:
    """The character device of an NVDIMM."""
    made = said("ndctl", "create-namespace", "-f", "-e", namespace, "-m", "devdax", "-M", "mem")
    return f"/dev/{json.loads(made)['daxregion']['devices'][0]['chardev']}"


def make_file_system(device: str, kind: str) -> None:
    """An empty one."""
    said(*MAKE[kind], device)


@contextmanager
def mounted(device: str, options: str) -> Iterator[Path]:
    """The file system on a device, for a while."""
    MOUNT.mkdir(exist_ok=True)
    said("mount", "-o", options, device, str(MOUNT))
    try:
        yield MOUNT
    finally:
        said("umount", str(MOUNT))


def as_node(device: str) -> int:
    """The NUMA node that a devdax device became."""
    name = Path(device).name
    said("daxctl", "reconfigure-device", "-m", "system-ram", "--force", name)
    return node_of(name)


def node_of(name: str) -> int:
    """The NUMA node of a DAX device that became one."""
    return int(Path(f"/sys/bus/dax/devices/{name}/target_node").read_text(encoding="ascii"))


def cxl_node() -> int:
    """The NUMA node that the volatile CXL device became.

    Through sysfs, Documentation/ABI/testing/sysfs-bus-cxl: a region over all of the device, which
    becomes a dax device, whose memory is put online.
    """
    bus = Path("/sys/bus/cxl/devices")
    memory = _await(bus, "mem*")
    decoder = _await(bus, "endpoint*/decoder*.0")
    size = int((memory / "ram/size").read_text(encoding="ascii"), 16)
    root = bus / "decoder0.0/create_ram_region"
    region = root.read_text(encoding="ascii").strip()
    _write(root, region)
    for name, value in (("interleave_ways", 1), ("interleave_granularity", 256), ("size", size)):
        _write(bus / region / name, value)
    _write(decoder / "mode", "ram")
    _write(decoder / "dpa_size", size)
    _write(bus / region / "target0", decoder.name)
    _write(bus / region / "commit", 1)
    _write(Path("/sys/bus/cxl/drivers/cxl_region/bind"), region)
    device = Path("/sys/bus/dax/devices/dax0.0")
    _await(device, "driver")
    said("daxctl", "online-memory", device.name)
    return node_of(device.name)


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), encoding="ascii")


def _await(folder: Path, pattern: str, limit_s: float = 10) -> Path:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if found := sorted(folder.glob(pattern)):
            return found[0]
        time.sleep(0.05)
    raise RuntimeError(f"{folder}: no {pattern} has come within {limit_s:.0f} s")
