"""The library that is preloaded into a program: huge pages, or a memory policy, of large blocks.

It advises huge pages for large anonymous maps and large blocks of malloc (madvise(2)), or gives
them a memory policy (mbind(2)), and leaves the rest of the program's memory alone. See
core/preload/preload.c for what it reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.native import installed_file
from memgauge.system.tree import Tree

LIBRARY = Path("lib") / "libmemgauge_preload.so"
HUGE_PAGE_FILE = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
LARGE_BYTES = 2 << 20
"""From here on a block is large, and with huge pages from the size of one of them on."""
_SEPARATORS = frozenset(" :\t\n")
"""Of LD_PRELOAD, in which no name can hold one (ld.so(8))."""


def why_not_preloaded() -> str | None:
    """Why the library cannot be preloaded; None: it can."""
    library = installed_file(LIBRARY)
    if library is None:
        return f"{LIBRARY.name} is missing from this installation of memgauge"
    if _SEPARATORS & set(str(library)):
        return f"the path of {LIBRARY.name} has a blank or a colon, which LD_PRELOAD cannot name"
    return None


def huge(environment: Mapping[str, str], tree: Tree | None = None) -> dict[str, str]:
    """Variables by which large blocks of a program get huge pages, and glibc's heap too.

    The heap, where small blocks are, grows within the C library: its own tunable advises that
    (since glibc 2.35), which the library cannot see.

    Args:
        environment: That the program has otherwise.
        tree: Root of the sysfs to read.
    """
    page_bytes = (tree or Tree()).integer(HUGE_PAGE_FILE) or LARGE_BYTES
    return {
        **_preload(environment, page_bytes),
        **heap_on_huge_pages(environment),
        "MEMGAUGE_LARGE_PAGES": "huge",
    }


def placed(environment: Mapping[str, str], policy: MemoryPolicy) -> dict[str, str]:
    """Variables by which large blocks of a program get a memory policy.

    Args:
        environment: That the program has otherwise.
        policy: Of the large blocks alone.
    """
    nodes = ",".join(map(str, policy.nodes))
    return {
        **_preload(environment, LARGE_BYTES),
        "MEMGAUGE_LARGE_POLICY": f"{policy.mode}:{nodes}",
    }


def heap_on_huge_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """The tunable by which malloc of glibc advises huge pages, beside those that are set.

    Args:
        environment: That the program has otherwise.
    """
    tunables = environment.get("GLIBC_TUNABLES")
    return {"GLIBC_TUNABLES": ":".join(filter(None, (tunables, "glibc.malloc.hugetlb=1")))}


def _preload(environment: Mapping[str, str], least_bytes: int) -> dict[str, str]:
    others = environment.get("LD_PRELOAD")
    names = [str(installed_file(LIBRARY)), *([others] if others else [])]
    return {"LD_PRELOAD": ":".join(names), "MEMGAUGE_LARGE_BYTES": str(least_bytes)}
