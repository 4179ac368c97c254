"""The kinds of memory that can hold arrays, with the evidence for each; nothing is guessed.

Tiers in order: the DRAM of the nodes with CPUs; where there are several, each of them; other nodes
with memory; devices; file systems with DAX; memory that cannot be used as it is, with a remedy; and
that of GPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from memgauge.model.system import Tier
from memgauge.system.tiers import devices as tiers_devices
from memgauge.system.tiers import gpus as tiers_gpus
from memgauge.system.tiers.cxl import cxl_nodes
from memgauge.system.tiers.dax_devices import KMEM, read_dax_devices
from memgauge.system.tiers.hmat import read_firmware_speed, read_side_caches
from memgauge.system.tiers.node_kinds import Evidence, gpu_nodes, kind_of
from memgauge.system.tree import sorted_numbers

if TYPE_CHECKING:
    from memgauge.model.system import Cpu, Node
    from memgauge.system.tree import Tree

_TIERING = "/sys/devices/virtual/memory_tiering"
_WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"
_DEMOTION = "/sys/kernel/mm/numa/demotion_enabled"


class Found(NamedTuple):
    """What was read of the machine's memory."""

    tiers: list[Tier]
    allowed_nodes: list[int] | None
    demotion: bool | None
    device_bytes: int
    """Bytes of the kernel's memory that come from devices (kmem), as nodes without CPUs."""


def read_tiers(tree: Tree, nodes: list[Node], cpus: list[Cpu], cpu_model: str) -> Found:
    """All tiers, whether they can hold arrays or not.

    Args:
        tree: Root of the sysfs and procfs to read.
        nodes: All NUMA nodes, those without CPUs or memory too.
        cpus: Online CPUs; the memory of their nodes is taken as DRAM.
        cpu_model: Model of the processor, by which memory on its package is recognised.
    """
    allowed = allowed_nodes(tree)
    devices = read_dax_devices(tree)
    kmem = [device for device in devices if device.driver == KMEM]
    used = {device.target_node: device for device in kmem}
    evidence = Evidence(
        cpu_model=cpu_model,
        gpus=gpu_nodes(tree),
        cxl=cxl_nodes(tree, [node.node for node in nodes]),
        devices=used,
    )
    near = {cpu.node for cpu in cpus}
    main = [node for node in nodes if node.node in near and node.bytes > 0]
    others = [node for node in nodes if node.node not in near and node.bytes > 0]
    local = [_node_tier(tree, node, nodes, evidence, allowed) for node in main]
    tiers = [_dram(local, nodes), *(local if len(local) > 1 else [])]
    tiers += [_node_tier(tree, node, nodes, evidence, allowed) for node in others]
    tiers += tiers_devices.device_tiers(tree, devices, {node.node for node in nodes if node.bytes})
    tiers += tiers_gpus.gpu_tiers(tree)
    given = sum(node.bytes for node in others if node.node in used)
    return Found(tiers, allowed, _demotion(tree), given)


def allowed_nodes(tree: Tree) -> list[int] | None:
    """Nodes that the cgroup's cpuset allows the calling thread; None if unknown."""
    for status in ("/proc/thread-self/status", "/proc/self/status"):
        text = tree.fields(status).get("Mems_allowed_list")
        allowed = None if text is None else sorted_numbers(text)
        if allowed is not None:
            return allowed
    return None


def _dram(local: list[Tier], nodes: list[Node]) -> Tier:
    """All memory of the nodes with CPUs as one tier; the first thread to touch a page places it."""
    if len(local) == 1:
        return msgspec.structs.replace(local[0], placement="dram")
    sizes = [tier.bytes or 0 for tier in local] or [node.bytes for node in nodes]
    return Tier(
        kind="dram",
        placement="dram",
        bytes=sum(sizes) or None,
        nodes=[node for tier in local for node in tier.nodes],
        evidence="the nodes have CPUs" if local else "the system reports no other memory",
    )


def _node_tier(
    tree: Tree,
    node: Node,
    nodes: list[Node],
    evidence: Evidence,
    allowed: list[int] | None,
) -> Tier:
    nearest = _nearest(node, nodes)
    speed = read_firmware_speed(tree, node.node)
    near_speed = None if nearest is None else read_firmware_speed(tree, nearest)
    kind, why, notes = kind_of(node, evidence, speed, near_speed)
    device = evidence.devices.get(node.node)
    outside = allowed is not None and node.node not in allowed
    return Tier(
        kind=kind,
        placement=None if outside else f"node:{node.node}",
        bytes=node.bytes,
        nodes=[node.node],
        evidence=why,
        nearest_node=nearest,
        distance=None if nearest is None else _distance(nearest, node.node, nodes),
        rank=_rank(tree, node.node),
        interleave_weight=tree.quantity(f"{_WEIGHTS}/node{node.node}"),
        firmware=speed,
        side_caches=read_side_caches(tree, node.node),
        device=device.name if device and not node.cpus else None,
        notes=notes,
        remedy="widen the cgroup's cpuset.mems, which excludes this node" if outside else None,
    )


def _nearest(node: Node, nodes: list[Node]) -> int | None:
    """The node with CPUs at the least distance; None if no distance is known."""
    if node.cpus:
        return node.node
    known = [
        (distance, one.node)
        for one in nodes
        if one.cpus and (distance := _distance(one.node, node.node, nodes)) is not None
    ]
    return min(known)[1] if known else None


def _distance(start: int, end: int, nodes: list[Node]) -> int | None:
    return next((node.distances.get(end) for node in nodes if node.node == start), None)


def _rank(tree: Tree, node: int) -> int | None:
    for number in tree.numbered(_TIERING, "memory_tier"):
        if node in (tree.numbers(f"{_TIERING}/memory_tier{number}/nodelist") or []):
            return number
    return None


def _demotion(tree: Tree) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(tree.text(_DEMOTION) or "")
