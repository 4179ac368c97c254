"""What a request needs of the machine, checked before anything is opened."""

from __future__ import annotations

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import CommonParameters
from memgauge.model.system import System
from memgauge.system.pages import EXPLICIT_PAGE_BYTES


def require_placement(parameters: CommonParameters, system: System) -> None:
    """Check that the memory and the pages that were asked for exist.

    Whether explicit pages suffice for the buffers is checked by the core when it allocates.

    Raises:
        RequestError: no such node, or it may not be used, or no explicit page of that size is free.
    """
    for memory in parameters.memories:
        for node in memory.nodes:
            _require_node(node, memory, system)
    _require_pages(parameters.pages, system)


def _require_node(node: int, memory: MemoryPlacement, system: System) -> None:
    sizes = {one.node: one.bytes for one in system.nodes}
    allowed = system.allowed_nodes
    usable = [
        one for one, size in sizes.items() if size > 0 and (allowed is None or one in allowed)
    ]
    if node in usable:
        return
    if not sizes.get(node):
        missing = f"this machine has no node {node} with memory"
        why = f"node {node} has no memory" if node in sizes else missing
    else:
        why = f"the cgroup's cpuset leaves node {node} out (cpuset.mems)"
    listed = ", ".join(map(str, usable)) or "none"
    raise RequestError(f"--memory {memory}: {why}; choose among {listed}, or leave --memory out")


def _require_pages(pages: str, system: System) -> None:
    size = EXPLICIT_PAGE_BYTES.get(pages)
    if size is None:
        return
    if not any(pool.page_bytes == size and pool.free > 0 for pool in system.huge_pages):
        path = f"/sys/kernel/mm/hugepages/hugepages-{size >> 10}kB/nr_hugepages"
        raise RequestError(
            f"--pages {pages}: no explicit huge page of that size is free; reserve some as root "
            f"(echo N > {path}), or use --pages thp"
        )
