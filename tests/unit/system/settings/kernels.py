"""A tree with a mode of transparent huge pages that behaves as the kernel's."""

from __future__ import annotations

import re
from pathlib import Path

from memgauge.system.memory.pages import THP_DIRECTORY, THP_FILE
from memgauge.system.tree import Tree

MODES = ("always", "madvise", "never")


def plant(root: Path, mode: str = "madvise", *, of_size: str | None = "inherit") -> Tree:
    """Files as in sysfs and procfs; `of_size` is the mode of pages of 2 MiB alone."""
    boot = root / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True, exist_ok=True)
    boot.write_text("this boot\n", encoding="ascii")
    tree = Tree(root)
    directory = tree.path(THP_DIRECTORY)
    (directory / "hugepages-2048kB").mkdir(parents=True, exist_ok=True)
    (directory / "hpage_pmd_size").write_text("2097152\n", encoding="ascii")
    if of_size is not None:
        every = "always inherit madvise never\n".replace(of_size, f"[{of_size}]")
        (directory / "hugepages-2048kB/enabled").write_text(every, encoding="ascii")
    set_mode(tree, mode)
    return tree


def set_mode(tree: Tree, mode: str) -> None:
    """What the kernel makes of a mode that is written."""
    if mode not in MODES:
        raise OSError(22, "Invalid argument")
    content = re.sub(rf"\b{mode}\b", f"[{mode}]", " ".join(MODES))
    tree.path(THP_FILE).write_text(f"{content}\n", encoding="ascii")
