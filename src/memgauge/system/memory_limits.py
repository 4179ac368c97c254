"""How much memory may still be allocated, found before any page is touched."""

from __future__ import annotations

from typing import NamedTuple

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.system.cgroup import memory_headrooms
from memgauge.system.topology import NODE_DIRECTORY, node_memory_bytes
from memgauge.system.tree import Tree, sorted_numbers

_KIB = 1024
_MIB = 1 << 20
_GIB = 1 << 30
_SMALLEST_MARGIN_BYTES = 32 << 20
_LARGEST_MARGIN_BYTES = 512 << 20


class MemoryLimit(NamedTuple):
    """One bound on what this process may still allocate."""

    free_bytes: int
    origin: str
    """In words, such as `cgroup limit 4.0 GiB in /sys/fs/cgroup/a/memory.max`."""


def memory_limits(tree: Tree) -> list[MemoryLimit]:
    """All bounds in force: the system's, the control groups', the process's."""
    limits = [
        *_system_limits(tree),
        *(
            MemoryLimit(room.free_bytes, f"cgroup limit {gib(room.limit_bytes)} in {room.origin}")
            for room in memory_headrooms(tree)
        ),
    ]
    address_space = _address_space_limit(tree)
    return limits if address_space is None else [*limits, address_space]


def available_bytes(tree: Tree | None = None) -> int:
    """The smallest of all bounds; 0 where not one can be read."""
    return min((limit.free_bytes for limit in memory_limits(tree or Tree())), default=0)


def require_memory(
    needed_bytes: int,
    what: str,
    *,
    remedy: str = "ask for smaller buffers or fewer threads",
    node: int | None = None,
    tree: Tree | None = None,
) -> None:
    """Refuse a request that would run into the OOM killer; nothing is allocated here.

    Explicit huge pages come from pools reserved beforehand: do not ask about them here.

    Raises:
        RequestError: the memory, and a margin for the program itself, is not there, or the node
            does not exist or is not ours to use.
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
        raise RequestError(
            f"{what} needs {gib(needed_bytes)}, {gib(max(usable, 0))} can be used "
            f"({tightest.origin}, less a margin): {remedy}"
        )


def margin_bytes(free_bytes: int) -> int:
    """Left untouched for page tables, the program itself and its neighbours: 5%, bounded."""
    return min(max(free_bytes // 20, _SMALLEST_MARGIN_BYTES), _LARGEST_MARGIN_BYTES)


def gib(count: int) -> str:
    """Bytes for a message, rounded down so that what is offered can be had; MiB below one GiB."""
    unit, name = (_GIB, "GiB") if count >= _GIB else (_MIB, "MiB")
    return f"{count * 10 // unit / 10:.1f} {name}"


def _system_limits(tree: Tree) -> list[MemoryLimit]:
    fields = tree.fields("/proc/meminfo")
    limits = []
    available = _kib(fields.get("MemAvailable"))
    if available is None:  # before Linux 3.14
        available = _kib(fields.get("MemFree"))
    if available is not None:
        limits.append(MemoryLimit(available, "free in the system"))
    ceiling, committed = _kib(fields.get("CommitLimit")), _kib(fields.get("Committed_AS"))
    strict = tree.integer("/proc/sys/vm/overcommit_memory") == 2
    if strict and ceiling is not None and committed is not None:
        limits.append(MemoryLimit(max(ceiling - committed, 0), "vm.overcommit_memory=2"))
    return limits


def _address_space_limit(tree: Tree) -> MemoryLimit | None:
    for line in (tree.text("/proc/self/limits") or "").splitlines():
        words = line.split()
        if line.startswith("Max address space") and len(words) >= 4 and words[3].isdigit():
            used = _kib(tree.fields("/proc/self/status").get("VmSize")) or 0
            limit = int(words[3])
            return MemoryLimit(max(limit - used, 0), f"address space limit {gib(limit)}, ulimit -v")
    return None


def _node_limits(tree: Tree, node: int) -> list[MemoryLimit]:
    """What the node has free; no bound where the system hides it. Refuses one we may not use."""
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


def _kib(text: str | None) -> int | None:
    words = (text or "").split()
    return int(words[0]) * _KIB if words and words[0].isdigit() else None
