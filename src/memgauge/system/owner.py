"""Which process something belongs to, distinguished from later ones of the same number."""

from __future__ import annotations

import os

import msgspec

from memgauge.system.tree import Tree, whole_number

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A process: numbers are used again, so its start and the boot it runs under belong to it."""

    pid: int
    boot_id: str
    start_ticks: int | None
    """Since boot, as in proc_pid_stat(5); None: not known."""


def this_process(tree: Tree | None = None) -> Owner:
    """The process that asks."""
    tree = tree or Tree()
    pid = os.getpid()
    return Owner(pid=pid, boot_id=boot_id(tree), start_ticks=_start_ticks(tree, pid))


def is_another_alive(owner: Owner, tree: Tree | None = None) -> bool:
    """Whether the owner is a process that still runs on this machine, and not the one asking."""
    tree = tree or Tree()
    if owner.pid == os.getpid() or owner.boot_id != boot_id(tree):
        return False
    started = _start_ticks(tree, owner.pid)
    return started is not None and owner.start_ticks in (started, None)


def boot_id(tree: Tree) -> str:
    """Which boot of the machine this is; empty: not known."""
    return tree.text(_BOOT_ID) or ""


def _start_ticks(tree: Tree, pid: int) -> int | None:
    # The name in parentheses may itself hold spaces and parentheses; the start is field 22.
    _, _, rest = (tree.text(f"/proc/{pid}/stat") or "").rpartition(")")
    fields = rest.split()
    return whole_number(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
