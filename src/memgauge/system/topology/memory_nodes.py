"""Which NUMA nodes can hold arrays."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.model.errors import RequestError
from memgauge.model.system import System


def nodes_with_memory(system: System) -> list[int]:
    """Nodes that can hold arrays, in rising order: those with memory that the cpuset allows."""
    allowed = system.allowed_nodes
    return sorted(
        node.node
        for node in system.nodes
        if node.bytes > 0 and (allowed is None or node.node in allowed)
    )


def require_nodes(requested: Iterable[int], subject: str, system: System) -> None:
    """Check that each node can hold arrays.

    Args:
        requested: Numbers of NUMA nodes.
        subject: The request, as the beginning of the error message, such as `memory node:7`.
        system: The machine as detected.

    Raises:
        RequestError: a node cannot; the message states why, and which nodes can.
    """
    usable = nodes_with_memory(system)
    for node in requested:
        if node not in usable:
            listed = ", ".join(map(str, usable)) or "none"
            raise RequestError(f"{subject}: {_why_not(node, system)}; choose among {listed}")


def _why_not(node: int, system: System) -> str:
    sizes = {one.node: one.bytes for one in system.nodes}
    if sizes.get(node):
        return f"the cgroup's cpuset excludes node {node} (cpuset.mems)"
    if node in sizes:
        return f"node {node} has no memory"
    return f"this machine has no node {node} with memory"
