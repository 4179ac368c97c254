"""Determines what the memory of a NUMA node is made of, from evidence only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.tree import whole_number

if TYPE_CHECKING:
    from memgauge.model.system import FirmwareSpeed, Node, TierKind
    from memgauge.system.tiers.dax_devices import DaxDevice
    from memgauge.system.tree import Tree

HBM_RATIO = 1.5
"""Bandwidth relative to the nearest node with CPUs above which a CPU-less node is neither DRAM nor
CXL memory: firmware states twice as much or more for HBM."""

_ON_PACKAGE = re.compile(r"Xeon.*\bMax\b|Xeon Phi", re.IGNORECASE)
"""Processors whose CPU-less nodes are high-bandwidth memory: Intel, Xeon CPU Max Series
Configuration and Tuning Guide (flat mode); Xeon Phi x200 (MCDRAM, flat and hybrid mode)."""
_GPUS = "/proc/driver/nvidia/gpus"

Kind = tuple["TierKind", str, list[str]]
"""Kind, the evidence for it, and further notes."""


class Evidence(NamedTuple):
    """Evidence read for all nodes."""

    cpu_model: str
    gpus: Mapping[int, str]
    """Nodes that a GPU's driver reports as its memory, with the GPU's address."""
    cxl: Mapping[int, str]
    """Nodes that contain memory of a CXL region, with the region's name."""
    devices: Mapping[int | None, DaxDevice]
    """Nodes to which a device gave its memory (kmem)."""


def kind_of(
    node: Node, evidence: Evidence, speed: FirmwareSpeed | None, near: FirmwareSpeed | None
) -> Kind:
    """The kind of a node's memory.

    Args:
        node: a node with memory.
        evidence: what was read of the machine.
        speed: what the firmware states for this node.
        near: what it states for the nearest node with CPUs.
    """
    if node.cpus:
        return "dram", "the node has CPUs", _mixed(node, evidence)
    if node.node in evidence.gpus:
        return "gpu", f"the driver of GPU {evidence.gpus[node.node]} reports it as its memory", []
    device = evidence.devices.get(node.node)
    if device is not None and device.kind != "unknown":
        return device.kind, f"{device.name} of {device.origin} is used as a node (kmem)", []
    if node.node in evidence.cxl:
        return "cxl", f"CXL {evidence.cxl[node.node]} is part of the node", []
    return _by_speed(
        evidence, speed, near, [f"{device.name} is of {device.origin}"] if device else []
    )


def _by_speed(
    evidence: Evidence,
    speed: FirmwareSpeed | None,
    near: FirmwareSpeed | None,
    made_of: list[str],
) -> Kind:
    if _is_faster(speed, near):
        return "hbm", "no CPUs, and the firmware states far more bandwidth than for DRAM", made_of
    if _ON_PACKAGE.search(evidence.cpu_model):
        return (
            "hbm",
            f"no CPUs, and {evidence.cpu_model} has high-bandwidth memory on its package",
            made_of,
        )
    return "unknown", "memory without CPUs; its kind is not known", made_of


def gpu_nodes(tree: Tree) -> dict[int, str]:
    """Nodes that are GPU memory (NVIDIA on POWER9 and Grace), from the driver's numa_status."""
    found: dict[int, str] = {}
    for address in tree.names(_GPUS):
        fields = tree.fields(f"{_GPUS}/{address}/numa_status")
        node = whole_number(fields.get("Node", ""))
        if node is not None and fields.get("Status") == "online":
            found[node] = address
    return found


def _mixed(node: Node, evidence: Evidence) -> list[str]:
    """Notes on other memory in a node with CPUs: placement by node cannot separate the two."""
    device = evidence.devices.get(node.node)
    notes = [] if device is None else [f"also holds memory of {device.name}, {device.origin}"]
    if node.node in evidence.cxl:
        notes.append(f"also holds memory of CXL {evidence.cxl[node.node]}")
    return notes


def _is_faster(speed: FirmwareSpeed | None, near: FirmwareSpeed | None) -> bool:
    if speed is None or near is None or not speed.read_bytes_per_s or not near.read_bytes_per_s:
        return False
    return speed.read_bytes_per_s >= HBM_RATIO * near.read_bytes_per_s
