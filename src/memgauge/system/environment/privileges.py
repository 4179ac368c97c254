"""Rights of this process, and the performance counters that they allow it to use."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.system import Capability

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

# Bit numbers of include/uapi/linux/capability.h.
_RIGHTS = (("CAP_SYS_ADMIN", 21), ("CAP_PERFMON", 38), ("CAP_IPC_LOCK", 14), ("CAP_SYS_NICE", 23))
_PMUS = "/sys/bus/event_source/devices"
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"
_FILTERED = "2"
"""SECCOMP_MODE_FILTER in /proc/PID/status."""


def privilege_capabilities(tree: Tree, perf_errno: int | None = None) -> list[Capability]:
    """The process's rights, and the processor's counters with the rights they need.

    Args:
        tree: Root of the sysfs and procfs to read.
        perf_errno: What perf_event_open(2) answered, 0 if it worked; None if it was not called.
    """
    rights = effective_rights(tree)
    return [_privileges(tree, rights), _counters(tree, rights, perf_errno)]


def effective_rights(tree: Tree) -> set[str]:
    """Those of `_RIGHTS` in the effective set of this process."""
    text = tree.fields("/proc/self/status").get("CapEff", "")
    try:
        mask = int(text, 16)
    except ValueError:
        return set()
    return {name for name, bit in _RIGHTS if mask >> bit & 1}


def _privileges(tree: Tree, rights: set[str]) -> Capability:
    user = tree.fields("/proc/self/status").get("Uid", "").split()
    root = len(user) > 1 and user[1] == "0"
    held = [name for name, _ in _RIGHTS if name in rights]
    detail = "root" if root else "not root"
    detail += f", with {', '.join(held)}" if held else ", without extra rights"
    return Capability(name="privileges", available=bool(held), detail=detail)


def core_pmus(tree: Tree) -> list[str]:
    """Counters of the cores, one per core type; none in most virtual machines."""
    names = ("cpu", "cpu_core", "cpu_atom", "cpu_lowpower")
    return [n for n in tree.names(_PMUS) if n in names or n.startswith(("armv", "apple_"))]


def _counters(tree: Tree, rights: set[str], perf_errno: int | None) -> Capability:
    pmus = core_pmus(tree)
    paranoid = tree.integer(_PARANOID)
    # 2 still lets a process count its own user-space events; 3 (Debian, Android) does not.
    entitled = bool(rights & {"CAP_SYS_ADMIN", "CAP_PERFMON"})
    open_to_us = entitled or (paranoid is not None and paranoid <= 2)
    refusal = _refusal(tree, perf_errno) if perf_errno and open_to_us else None
    shown = ", ".join(pmus) or "the kernel reports no processor counters"
    setting = f"perf_event_paranoid {'not shown' if paranoid is None else paranoid}"
    if refusal is not None:
        remedy = refusal.remedy
    elif not pmus:
        remedy = "in a virtual machine: ask the host for a virtual PMU"
    else:
        remedy = None if open_to_us else "as root: sysctl kernel.perf_event_paranoid=2"
    return Capability(
        name="performance counters",
        available=bool(pmus) and open_to_us and refusal is None,
        detail="; ".join([shown, setting, *([refusal.reason] if refusal else [])]),
        remedy=remedy,
    )


class _Refusal(NamedTuple):
    reason: str
    remedy: str | None


def _refusal(tree: Tree, number: int) -> _Refusal:
    """Why the call fails although the kernel's setting and the rights allow it.

    The errno of a seccomp filter is chosen by its profile: EPERM for docker, ENOSYS for others.
    """
    name = errno.errorcode.get(number, str(number))
    refusals = {errno.EPERM, errno.EACCES, errno.ENOSYS}
    if number in refusals and tree.fields("/proc/self/status").get("Seccomp") == _FILTERED:
        return _Refusal(
            f"a seccomp filter, as containers have, refuses perf_event_open ({name})",
            "allow the call: docker --security-opt seccomp=unconfined, or --cap-add PERFMON where "
            "the profile knows it",
        )
    if number in refusals - {errno.ENOSYS}:
        return _Refusal(
            f"perf_event_open is refused ({name}): a security module or a filter forbids it", None
        )
    return _Refusal(f"perf_event_open fails ({name})", None)
