"""On which nodes the pages of this process really are, asked of the kernel in two ways."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from pathlib import Path

MOVE_PAGES = 279  # of x86-64
PAGE_BYTES = 4096


def _large(least_pages: int) -> dict[int, tuple[dict[int, int], int]]:
    """Start of each large mapping without a file: pages by node, and the size of a page in KiB."""
    found = {}
    for line in Path("/proc/self/numa_maps").read_text(encoding="ascii").splitlines():
        counts = {int(node): int(pages) for node, pages in re.findall(r"\bN(\d+)=(\d+)", line)}
        size = re.search(r"kernelpagesize_kB=(\d+)", line)
        if "file=" not in line and sum(counts.values()) >= least_pages and size:
            found[int(line.split()[0], 16)] = (counts, int(size.group(1)))
    return found


def mappings(least_pages: int = 64) -> set[int]:
    """Starts of large mappings without a file."""
    return set(_large(least_pages))


def by_numa_maps(beside: set[int], least_pages: int = 64) -> dict[int, int]:
    """KiB of large mappings without a file, by node, of all but those `beside` them."""
    total: Counter[int] = Counter()
    for start, (counts, size) in _large(least_pages).items():
        if start not in beside:
            total.update({node: pages * size for node, pages in counts.items()})
    return dict(total)


def by_move_pages(beside: set[int], least_pages: int = 64) -> dict[int, int]:
    """The same in pages, each of them looked up."""
    libc = ctypes.CDLL(None, use_errno=True)
    total: Counter[int] = Counter()
    for start, (counts, size) in _large(least_pages).items():
        if start in beside:
            continue
        pages = sum(counts.values()) * size * 1024 // PAGE_BYTES
        addresses = (ctypes.c_void_p * pages)(*range(start, start + pages * PAGE_BYTES, PAGE_BYTES))
        status = (ctypes.c_int * pages)()
        if libc.syscall(MOVE_PAGES, 0, ctypes.c_ulong(pages), addresses, None, status, 0):
            raise OSError(ctypes.get_errno(), "move_pages")
        total.update(node for node in status if node >= 0)
    return dict(total)
