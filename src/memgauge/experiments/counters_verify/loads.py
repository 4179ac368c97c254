"""Loads of known traffic: reads and both kinds of writes, of each node's CPUs to its own memory.

Memory without CPUs is loaded by the nearest node's CPUs; where there are several nodes, each
memory is also loaded by another node's CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.shared.traffic_sizes import TrafficSizes, traffic_sizes
from memgauge.model.errors import RequestError
from memgauge.model.loads import NON_TEMPORAL, READ, TEMPORAL
from memgauge.model.system import Node, System
from memgauge.system.topology.placement import Policy, cpus_for

_SPECS = {
    READ: (1, 0, "temporal"),
    TEMPORAL: (0, 1, "temporal"),
    NON_TEMPORAL: (0, 1, "non-temporal"),
}

MOST_THREADS = 16
"""Of one node: far above idle traffic, and no more memory than needed."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """CPUs, and the memory that they load."""

    cpu_node: int
    memory_node: int
    cpus: tuple[int, ...]

    @property
    def name(self) -> str:
        """Such as `node0`, or `node0-node1` where CPUs of 0 load memory of 1."""
        memory = f"node{self.memory_node}"
        is_local = self.cpu_node == self.memory_node
        return memory if is_local else f"node{self.cpu_node}-{memory}"


def specs() -> dict[str, _core.TrafficSpec]:
    """The loads that this processor has instructions for."""
    found = {}
    for name, (reads, writes, store) in _SPECS.items():
        try:
            found[name] = _core.TrafficSpec(reads, writes, store)
        except RequestError:
            if store != "non-temporal":
                raise
    return found


def places(policy: Policy, system: System) -> list[Place]:
    """Each memory with the CPUs that load it: its own first, then another node's."""
    by_node: dict[int, list[int]] = {}
    node_of = {cpu.cpu: cpu.node for cpu in system.cpus}
    for cpu in cpus_for(policy, None, system):
        by_node.setdefault(node_of[cpu], []).append(cpu)
    return [
        Place(
            cpu_node=node, memory_node=memory.node, cpus=tuple(sorted(by_node[node])[:MOST_THREADS])
        )
        for memory in system.nodes
        if memory.bytes
        for node in _loaders(memory, sorted(by_node))
    ]


def _loaders(memory: Node, nodes: Sequence[int]) -> Iterator[int]:
    """Nodes whose CPUs load it: its own, and the nearest other one."""
    if memory.node in nodes:
        yield memory.node
    others = [node for node in nodes if node != memory.node]
    if others:
        yield min(others, key=lambda node: (memory.distances.get(node, 255), node))


def sizes_of(place: Place, system: System, share: int) -> TrafficSizes:
    """How much memory each thread of a place walks over, and how large its lead-in is.

    Args:
        place: CPUs that run one thread each; their last-level caches determine the sizes.
        system: Machine, for its caches and the memory that may still be allocated.
        share: Number of places allocated together; each may take an equal part of that memory.
    """
    part = msgspec.structs.replace(system, available_bytes=system.available_bytes // max(1, share))
    return traffic_sizes(place.cpus, part)
