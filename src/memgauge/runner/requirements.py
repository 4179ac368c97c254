"""Checks what a request needs of the machine before anything is opened."""

from __future__ import annotations

from memgauge.model.errors import RequestError
from memgauge.model.parameters import CommonParameters
from memgauge.model.system import System
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.topology.memory_nodes import require_nodes


def require_placement(parameters: CommonParameters, system: System) -> None:
    """Check that the requested memory and pages exist.

    Whether explicit pages suffice for the buffers is checked by the core when it allocates.

    Raises:
        RequestError: no such node, or it may not be used, or no explicit page of that size is free.
    """
    for memory in parameters.memories:
        require_nodes(memory.nodes, f"memory {memory}", system)
    if not all(memory.is_gpu for memory in parameters.memories):
        for pages in parameters.page_kinds:
            _require_pages(pages, system)


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
