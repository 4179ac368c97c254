"""Which CPUs a running process may use, by the kernel's lists of all of its threads."""

from __future__ import annotations

from pathlib import Path

from memgauge.system.programs.program import tree_of
from memgauge.system.tree import ROOT, Tree, sorted_numbers

_LINE = "Cpus_allowed_list:"


def cpus_of(pid: int, root: Path = ROOT) -> list[int]:
    """CPUs that at least one thread of a process, or of what it started, may use.

    Reading them needs no privilege, also of another user's process, unless procfs hides it.

    Args:
        pid: The process.
        root: Of procfs.

    Returns:
        Empty: the process has ended, or is hidden.
    """
    tree = Tree(root)
    found: set[int] = set()
    for process in tree_of(pid, root):
        for thread in tree.names(f"/proc/{process}/task"):
            status = tree.text(f"/proc/{process}/task/{thread}/status") or ""
            for line in status.splitlines():
                if line.startswith(_LINE):
                    found.update(sorted_numbers(line.removeprefix(_LINE)) or ())
    return sorted(found)
