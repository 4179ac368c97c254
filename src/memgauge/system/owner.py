"""Identifies the process that owns something, also after its number was reused."""

from __future__ import annotations

import os

import msgspec

from memgauge.system.tree import Tree, whole_number

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A process, identified also by its start time and boot, because process numbers are reused."""

    pid: int
    boot_id: str
    start_ticks: int | None
    """Start time in ticks since boot, as in proc_pid_stat(5); None if unknown."""


def this_process(tree: Tree | None = None) -> Owner:
    """The calling process."""
    tree = tree or Tree()
    pid = os.getpid()
    return Owner(pid=pid, boot_id=boot_id(tree), start_ticks=_start_ticks(tree, pid))


def is_another_alive(owner: Owner, tree: Tree | None = None) -> bool:
    """Whether the owner is another process that is still running on this machine."""
    tree = tree or Tree()
    if owner.pid == os.getpid() or owner.boot_id != boot_id(tree):
        return False
    started = _start_ticks(tree, owner.pid)
    return started is not None and owner.start_ticks in (started, None)


def boot_id(tree: Tree) -> str:
    """Identifier of the current boot of the machine; empty if unknown."""
    return tree.text(_BOOT_ID) or ""


def _start_ticks(tree: Tree, pid: int) -> int | None:
    # The name in parentheses may itself hold spaces and parentheses; the start is field 22.
    _, _, rest = (tree.text(f"/proc/{pid}/stat") or "").rpartition(")")
    fields = rest.split()
    return whole_number(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
