"""How much memory may still be allocated, found before any page is touched."""

from __future__ import annotations

from typing import NamedTuple

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.system.limits.cgroup import memory_headrooms
from memgauge.system.topology.cpus import NODE_DIRECTORY, node_memory_bytes
from memgauge.system.tree import Tree, bytes_of_kib, sorted_numbers, whole_number

_MIB = 1 << 20
_GIB = 1 << 30
_SMALLEST_MARGIN_BYTES = 32 << 20
_LARGEST_MARGIN_BYTES = 512 << 20


class MemoryLimit(NamedTuple):
    """One bound on what this process may still allocate."""

    free_bytes: int
    origin: str
    """Description, such as `cgroup limit 4.0 GiB in /sys/fs/cgroup/a/memory.max`."""


def memory_limits(tree: Tree) -> list[MemoryLimit]:
    """All bounds in force: the system's, the control groups', the process's."""
    return [
        *_system_limits(tree),
        *(
            MemoryLimit(room.free_bytes, f"cgroup limit {gib(room.limit_bytes)} in {room.origin}")
            for room in memory_headrooms(tree)
        ),
        *_process_limits(tree),
    ]


def tightest_limit(tree: Tree | None = None) -> MemoryLimit | None:
    """The tightest bound; None if no bound can be read."""
    return min(memory_limits(tree or Tree()), key=lambda limit: limit.free_bytes, default=None)


def available_bytes(tree: Tree | None = None) -> int:
    """The smallest of all bounds in bytes; 0 if no bound can be read."""
    tightest = tightest_limit(tree)
    return 0 if tightest is None else tightest.free_bytes


def require_memory(
    needed_bytes: int,
    what: str,
    *,
    remedy: str = "use smaller buffers or fewer threads",
    node: int | None = None,
    tree: Tree | None = None,
) -> None:
    """Refuse a request that would run into the OOM killer; nothing is allocated here.

    Explicit huge pages come from pools reserved beforehand and must not be checked here.

    Args:
        needed_bytes: Bytes that the caller is about to allocate.
        what: Beginning of the error message: what needs the memory.
        remedy: End of the error message: what the user can do.
        node: NUMA node that must hold all of it; None if any may.
        tree: Root of the sysfs and procfs to read; None means this machine's.

    Raises:
        DoesNotFit: the memory plus a margin for the program itself is not available.
        RequestError: the node does not exist, or this process may not use it.
    """
    tree = tree or Tree()
    limits = memory_limits(tree)
    if node is not None:
        limits += _node_limits(tree, node)
    if not limits:
        return
    tightest = min(limits, key=lambda limit: limit.free_bytes)
    usable = tightest.free_bytes - margin_bytes(tightest.free_bytes)
    if needed_bytes > usable:
        raise DoesNotFit(
            f"{what} needs {gib(needed_bytes)}, {gib(max(usable, 0))} can be used "
            f"({tightest.origin}, minus a margin): {remedy}"
        )


def margin_bytes(free_bytes: int) -> int:
    """Bytes reserved for page tables, the program itself and other programs: 5%, within bounds."""
    return min(max(free_bytes // 20, _SMALLEST_MARGIN_BYTES), _LARGEST_MARGIN_BYTES)


def gib(count: int) -> str:
    """Bytes for a message, rounded down so that the offered amount is available.

    MiB below one GiB.
    """
    unit, name = (_GIB, "GiB") if count >= _GIB else (_MIB, "MiB")
    return f"{count * 10 // unit / 10:.1f} {name}"


def _system_limits(tree: Tree) -> list[MemoryLimit]:
    fields = tree.fields("/proc/meminfo")
    limits = []
    available = bytes_of_kib(fields.get("MemAvailable", ""))
    if available is None:  # before Linux 3.14
        available = bytes_of_kib(fields.get("MemFree", ""))
    if available is not None:
        limits.append(MemoryLimit(available, "free in the system"))
    ceiling, committed = (
        bytes_of_kib(fields.get("CommitLimit", "")),
        bytes_of_kib(fields.get("Committed_AS", "")),
    )
    strict = tree.integer("/proc/sys/vm/overcommit_memory") == 2
    if strict and ceiling is not None and committed is not None:
        limits.append(MemoryLimit(max(ceiling - committed, 0), "vm.overcommit_memory=2"))
    return limits


_PROCESS_LIMITS = {
    "Max address space": ("VmSize", "address space limit {}, ulimit -v"),
    "Max data size": ("VmData", "data size limit {}, ulimit -d"),
}
"""By name in `/proc/self/limits`: the usage field in `/proc/self/status`, and a description."""


def _process_limits(tree: Tree) -> list[MemoryLimit]:
    """Limits of this process on its mappings; since Linux 4.7 private mappings count as data."""
    status = tree.fields("/proc/self/status")
    found = []
    for line in (tree.text("/proc/self/limits") or "").splitlines():
        for name, (counted, words) in _PROCESS_LIMITS.items():
            soft = line.removeprefix(name).split()[:1] if line.startswith(name) else []
            limit = whole_number(soft[0]) if soft else None
            if limit is not None:
                used = bytes_of_kib(status.get(counted, "")) or 0
                found.append(MemoryLimit(max(limit - used, 0), words.format(gib(limit))))
    return found


def _node_limits(tree: Tree, node: int) -> list[MemoryLimit]:
    """The node's free memory as a bound; none if hidden. Refuses a node that may not be used."""
    known = tree.numbered(NODE_DIRECTORY, "node") or [0]
    if node not in known:
        raise RequestError(f"node {node} does not exist: choose among {format_cpu_list(known)}")
    allowed = tree.fields("/proc/self/status").get("Mems_allowed_list")
    nodes = None if allowed is None else sorted_numbers(allowed)
    if nodes is not None and node not in nodes:
        raise RequestError(
            f"node {node} is outside this process's cpuset: choose among {format_cpu_list(nodes)}"
        )
    free = node_memory_bytes(tree, node, "MemFree")
    if free is None or len(known) == 1:  # the only node: the system's bounds are its own
        return []
    reclaimable = node_memory_bytes(tree, node, "Inactive(file)") or 0
    return [MemoryLimit(free + reclaimable, f"free on node {node}")]
