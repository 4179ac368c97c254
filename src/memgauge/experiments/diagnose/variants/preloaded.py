"""The library that is preloaded into a program: huge pages, or a memory policy, of large blocks.

It advises huge pages for large anonymous maps and large blocks of malloc (madvise(2)), or gives
them a memory policy (mbind(2)), and leaves the rest of the program's memory alone. By weights of
nodes, successive stretches of a block prefer one node after the other. See core/preload/preload.c
for what it reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memgauge.system.memory.pages import thp_page_bytes
from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.native import installed_file
from memgauge.system.tree import Tree

LIBRARY = Path("lib") / "libmemgauge_preload.so"
LARGE_BYTES = 2 << 20
"""From here on a block is large, and with huge pages from the size of one of them on."""
LEAST_UNIT_BYTES = 2 << 20
"""Of a stretch, for each unit of its node's weight: at such addresses huge pages begin and end."""
MOST_MAPS_FILE = "/proc/sys/vm/max_map_count"
MOST_MAPS = 65530
"""The kernel's default: maps that a process may have. Each stretch is one,"""
MAPS_PART = 8
"""and all of the memory that a program had takes no more than this part of them."""
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
    return {
        **_preload(environment, thp_page_bytes(tree or Tree())),
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


def stretched(
    environment: Mapping[str, str], weights: Mapping[int, int], unit_bytes: int
) -> dict[str, str]:
    """Variables by which stretches of large blocks prefer nodes in the ratio of weights.

    Args:
        environment: That the program has otherwise.
        weights: Of nodes, each 1 or more.
        unit_bytes: Length of a stretch for each unit of weight.
    """
    shares = ",".join(f"{node}={weight}" for node, weight in weights.items())
    return {
        **_preload(environment, LARGE_BYTES),
        "MEMGAUGE_LARGE_POLICY": f"stretches:{unit_bytes}:{shares}",
    }


def unit_bytes_for(
    weights: Mapping[int, int], resident_bytes: int, tree: Tree | None = None
) -> int:
    """How long stretches are for each unit of weight: as short as the maps of a process allow.

    A turn of all nodes is as many units as their weights add up to, and one stretch for each node.

    Args:
        weights: Of nodes, each 1 or more.
        resident_bytes: Memory of the program in its first run.
        tree: Root of the procfs to read.

    Returns:
        `LEAST_UNIT_BYTES` times a power of two.
    """
    most_maps = (tree or Tree()).integer(MOST_MAPS_FILE) or MOST_MAPS
    most_turns = max(1, most_maps // MAPS_PART // len(weights))
    found = LEAST_UNIT_BYTES
    while found * sum(weights.values()) * most_turns < resident_bytes:
        found *= 2
    return found


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
