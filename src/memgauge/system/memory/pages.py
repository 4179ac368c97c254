"""Page sizes, transparent huge pages and the pools of explicit ones."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from memgauge.model.system import HugePagePool

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

HUGE_PAGE_DIRECTORY = "/sys/kernel/mm/hugepages"
EXPLICIT_PAGE_BYTES = {"2m": 2 << 20, "1g": 1 << 30}
"""Page sizes of the explicit policies, in bytes."""

THP_DIRECTORY = "/sys/kernel/mm/transparent_hugepage"
THP_FILE = f"{THP_DIRECTORY}/enabled"
USUAL_THP_BYTES = 2 << 20
"""Size of a transparent huge page where the kernel does not report it."""
_KIB = 1024


def base_page_bytes() -> int:
    """Size of the smallest page, 4 KiB or 64 KiB mostly."""
    return os.sysconf("SC_PAGE_SIZE")


def thp_mode(tree: Tree) -> str | None:
    """The mode in force, which the kernel's file shows in brackets; None if not built in."""
    return _chosen(tree, THP_FILE)


def thp_page_bytes(tree: Tree) -> int:
    """Size of the transparent huge pages that one entry of a page table maps."""
    return tree.integer(f"{THP_DIRECTORY}/hpage_pmd_size") or USUAL_THP_BYTES


def thp_mode_of_size(tree: Tree, page_bytes: int) -> tuple[str, str | None]:
    """The file with the mode of pages of one size alone, and that mode; None: there is no such one.

    Args:
        tree: Root of sysfs.
        page_bytes: Size of the pages.
    """
    file = f"{THP_DIRECTORY}/hugepages-{page_bytes // _KIB}kB/enabled"
    return file, _chosen(tree, file)


def _chosen(tree: Tree, file: str) -> str | None:
    """The word that is in brackets."""
    found = re.search(r"\[(\w+)\]", tree.text(file) or "")
    return found.group(1) if found else None


def read_huge_page_pools(tree: Tree) -> list[HugePagePool]:
    """Pools of every size the kernel knows, smallest first, the empty ones too."""
    names = tree.names(HUGE_PAGE_DIRECTORY)
    sizes = [int(size.group(1)) for n in names if (size := re.fullmatch(r"hugepages-(\d+)kB", n))]
    pools = (_read_pool(tree, size_kib) for size_kib in sorted(sizes))
    return [pool for pool in pools if pool is not None]


def _read_pool(tree: Tree, size_kib: int) -> HugePagePool | None:
    directory = f"{HUGE_PAGE_DIRECTORY}/hugepages-{size_kib}kB"
    total = tree.integer(f"{directory}/nr_hugepages")
    free = tree.integer(f"{directory}/free_hugepages")
    reserved = tree.integer(f"{directory}/resv_hugepages")
    if total is None or free is None or reserved is None:
        return None
    return HugePagePool(page_bytes=size_kib * _KIB, total=total, free=free, reserved=reserved)
