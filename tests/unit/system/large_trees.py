"""Made-up trees of five large machines, which a survey must plan for in little time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.unit.system.trees import (
    Files,
    cache,
    core_caches,
    cpu_directory,
    lists,
    node_directory,
    process,
    x86,
)

KIB_PER_GIB = 1 << 20


def large(
    nodes_with_cpus: int,
    cores_of_node: int,
    *,
    sockets: int,
    l3_kib: int,
    cores_of_l3: int,
    memory_nodes: Sequence[int] = (),
    gib_of_node: int,
) -> Files:
    """Cores with two threads; memory nodes without CPUs follow, each of so many GiB."""
    cores = nodes_with_cpus * cores_of_node
    nodes = nodes_with_cpus + len(memory_nodes)
    total_gib = nodes_with_cpus * gib_of_node + sum(memory_nodes)
    files = lists(range(2 * cores), range(nodes))
    files |= process("x86_64", total_gib * KIB_PER_GIB, x86("Large Example"))
    for core in range(cores):
        threads = [core, core + cores]
        files |= core_caches(threads, 32, 32, 1024)
        for cpu in threads:
            files |= cpu_directory(cpu, threads, core * sockets // cores)
    for first in range(0, cores, cores_of_l3):
        near = range(first, first + cores_of_l3)
        files |= cache(3, 3, "Unified", l3_kib, [*near, *(core + cores for core in near)])
    for node in range(nodes):
        own = range(node * cores_of_node, (node + 1) * cores_of_node)
        cpus = [*own, *(core + cores for core in own)] if node < nodes_with_cpus else []
        gib = gib_of_node if node < nodes_with_cpus else memory_nodes[node - nodes_with_cpus]
        distances = " ".join("10" if other == node else "21" for other in range(nodes))
        files |= node_directory(node, cpus, gib * KIB_PER_GIB, distances)
    return files


LARGE_MACHINES: dict[str, Callable[[], Files]] = {
    "two sockets of 96 cores, 8 nodes": lambda: large(
        8, 24, sockets=2, l3_kib=32 << 10, cores_of_l3=8, gib_of_node=192
    ),
    "the same with 2.3 GB of L3": lambda: large(
        8, 24, sockets=2, l3_kib=96 << 10, cores_of_l3=8, gib_of_node=192
    ),
    "four sockets with HBM and CXL, 16 nodes": lambda: large(
        8,
        28,
        sockets=4,
        l3_kib=105 << 10,
        cores_of_l3=28,
        memory_nodes=[16] * 4 + [256] * 4,
        gib_of_node=128,
    ),
    "72 cores, one node": lambda: large(
        1, 72, sockets=1, l3_kib=114 << 10, cores_of_l3=72, gib_of_node=480
    ),
    "eight sockets, 32 nodes": lambda: large(
        32, 15, sockets=8, l3_kib=38 << 10, cores_of_l3=15, gib_of_node=192
    ),
}
"""By what they are; sizes of caches as their vendors state them."""
