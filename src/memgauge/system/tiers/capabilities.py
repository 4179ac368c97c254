"""Which tiers of memory a measurement can use, what is known of them, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.system import Capability
from memgauge.model.tier_names import second_tiers
from memgauge.system.tiers.gpus import gpu_capability
from memgauge.system.tiers.hmat import has_table

if TYPE_CHECKING:
    from memgauge.model.system import System, Tier
    from memgauge.system.tree import Tree

_WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"


def tier_capabilities(tree: Tree, system: System) -> list[Capability]:
    """A second memory, the firmware's figures, and how the kernel handles several nodes."""
    found = [_second(system), _firmware(tree, system), _weights(tree)]
    if system.demotion is not None and len(_nodes(system)) > 1:
        found.append(_demotion(system))
    return [*found, gpu_capability(tree, system.tiers)]


def _second(system: System) -> Capability:
    others = second_tiers(system)
    if others:
        named = ", ".join(f"{tier.placement} ({tier.kind})" for tier in others)
        return Capability(name="second memory", available=True, detail=named)
    idle = next(
        (
            tier
            for tier in system.tiers
            if tier.placement is None and tier.remedy and (tier.kind != "gpu" or tier.nodes)
        ),
        None,
    )
    return Capability(
        name="second memory",
        available=False,
        detail="no memory other than dram was found"
        if idle is None
        else f"{idle.device or f'node {idle.nodes[0]}'} ({idle.kind}) cannot hold arrays in its "
        "present configuration",
        remedy="if you know of other memory, name it: --memory file:PATH, devdax:/dev/daxN.M or "
        "node:N"
        if idle is None
        else idle.remedy,
    )


def _firmware(tree: Tree, system: System) -> Capability:
    known = [tier.nodes[0] for tier in _nodes(system) if tier.firmware is not None]
    if known:
        detail = f"of nodes {format_cpu_list(known)}"
    elif has_table(tree):
        detail = "the firmware has an HMAT, but this kernel reports nothing of it"
    elif system.architecture == "ppc64le":
        detail = "not known: this architecture has no HMAT"
    else:
        detail = "not known: the firmware provides no HMAT, or it is hidden"
    return Capability(name="memory speeds by the firmware", available=bool(known), detail=detail)


def _weights(tree: Tree) -> Capability:
    there = tree.exists(_WEIGHTS)
    return Capability(
        name="weighted interleave",
        available=there,
        detail="by the kernel" if there else "this kernel has none (Linux 6.9 and later do)",
    )


def _demotion(system: System) -> Capability:
    """Whether pages stay where they were placed, or may be moved during a measurement."""
    return Capability(
        name="memory that stays where it was put",
        available=not system.demotion,
        detail="the kernel moves cold pages to slower memory (demotion)"
        if system.demotion
        else "the kernel does not demote cold pages",
        remedy="as root: echo false > /sys/kernel/mm/numa/demotion_enabled"
        if system.demotion
        else None,
    )


def _nodes(system: System) -> list[Tier]:
    """Tiers that consist of a single node."""
    return [tier for tier in system.tiers if len(tier.nodes) == 1]
