"""Detects the machine with one call."""

from __future__ import annotations

import platform
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.system import System
from memgauge.system.capabilities import Answers, find_capabilities
from memgauge.system.environment.contradictions import topology_contradictions
from memgauge.system.environment.frequency import governor
from memgauge.system.environment.memory_modules import read_memory_hardware
from memgauge.system.environment.processor import read_processor
from memgauge.system.environment.theoretical_peak import read_theoretical_peak
from memgauge.system.environment.virtualisation import read_virtualisation
from memgauge.system.limits.memory import available_bytes
from memgauge.system.memory.pages import base_page_bytes, read_huge_page_pools, thp_mode
from memgauge.system.native import load_isas, perf_refusal
from memgauge.system.tiers.nodes import read_tiers
from memgauge.system.topology.caches import read_caches
from memgauge.system.topology.cpus import allowed_cpus, read_topology, total_memory_bytes
from memgauge.system.tree import ROOT, Tree

if TYPE_CHECKING:
    from memgauge.model.system import Cache, Cpu

_GIB = 1 << 30


def detect(root: Path = ROOT) -> System:
    """Read the machine from the sysfs and procfs below `root`; a few milliseconds.

    Hidden properties never raise an error: they are None or empty, and `topology_notes` or a
    capability explains them.
    """
    tree = Tree(root)
    architecture = tree.text("/proc/sys/kernel/arch") or platform.machine()
    topology = read_topology(tree, architecture)
    online = [cpu.cpu for cpu in topology.cpus]
    caches = read_caches(tree, online)
    virtualisation = read_virtualisation(tree)
    modules = read_memory_hardware(tree, virtualisation)
    sockets = len({cpu.socket for cpu in topology.cpus})
    sheet = read_theoretical_peak(tree, virtualisation, sockets, modules.hardware)
    isas = load_isas()
    processor = read_processor(tree, architecture)
    memory_bytes = total_memory_bytes(tree)
    memory = read_tiers(tree, topology.nodes, topology.cpus, processor.name)
    own_bytes = memory_bytes - memory.device_bytes
    system = System(
        machine_id=machine_id(
            architecture, processor.name, topology.cpus, caches.caches, own_bytes
        ),
        architecture=architecture,
        cpu_model=processor.name,
        cpu_signature=processor.signature,
        kernel=tree.text("/proc/sys/kernel/osrelease") or platform.release(),
        virtualisation=virtualisation.label,
        cpus=topology.cpus,
        allowed_cpus=allowed_cpus(tree, online),
        caches=caches.caches,
        nodes=topology.nodes,
        memory_bytes=memory_bytes,
        available_bytes=available_bytes(tree),
        base_page_bytes=base_page_bytes(),
        thp=thp_mode(tree),
        huge_pages=read_huge_page_pools(tree),
        governor=governor(tree, online),
        isas=isas.names,
        theoretical_bandwidth_bytes_per_s=sheet.bytes_per_s,
        peak_source=sheet.source,
        memory_hardware=modules.hardware,
        topology_notes=topology.notes + caches.notes,
        tiers=memory.tiers,
        allowed_nodes=memory.allowed_nodes,
        demotion=memory.demotion,
    )
    notes = system.topology_notes + topology_contradictions(system, virtualisation)
    capabilities = find_capabilities(
        tree,
        system,
        virtualisation,
        isas,
        Answers(sheet, modules, perf_refusal() if root == ROOT else None),
    )
    return msgspec.structs.replace(system, topology_notes=notes, capabilities=capabilities)


def machine_id(
    architecture: str, name: str, cpus: list[Cpu], caches: list[Cache], memory_bytes: int
) -> str:
    """Digest of the kind of machine: twelve hexadecimal digits, no host name, no serial number.

    Args:
        architecture: The kernel's name for it, such as `x86_64`.
        name: Model of the processor.
        cpus: Online CPUs.
        caches: All caches; those of equal level, type, size and ways count once.
        memory_bytes: Memory without that of devices that became NUMA nodes: the machine is the same
            without it. It is rounded up, because kernels reserve a small, varying part.
    """
    facts = {
        "architecture": architecture,
        "cpu_model": name,
        "cpus": len(cpus),
        "cores": len({cpu.core for cpu in cpus}),
        "sockets": len({cpu.socket for cpu in cpus}),
        "nodes": len({cpu.node for cpu in cpus}),
        "caches": sorted({(c.level, c.type, c.bytes, c.ways or 0) for c in caches}),
        "memory": _rounded_up(memory_bytes),
    }
    return sha256(msgspec.json.encode(facts, order="deterministic")).hexdigest()[:12]


def _rounded_up(memory_bytes: int) -> int:
    """Round up to the next of 16 steps between powers of two, which are at least one GiB apart."""
    step = max(_GIB, (1 << max(memory_bytes - 1, 0).bit_length()) // 16)
    return -(-memory_bytes // step) * step
