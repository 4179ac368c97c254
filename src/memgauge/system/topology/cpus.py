"""CPUs, cores, sockets and NUMA nodes as the kernel reports them in sysfs; nothing is guessed.

Source: the kernel's Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node. Where
a file is missing, a note states what was assumed instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.cpulist import LARGEST_CPU, format_cpu_list
from memgauge.model.system import Cpu, Node
from memgauge.system.topology.core_types import core_types
from memgauge.system.tree import bytes_of_kib, sorted_numbers, whole_number

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

CPU_DIRECTORY = "/sys/devices/system/cpu"
NODE_DIRECTORY = "/sys/devices/system/node"


class Topology(NamedTuple):
    """The topology that was read, and notes on it."""

    cpus: list[Cpu]
    nodes: list[Node]
    notes: list[str]


def read_topology(tree: Tree, architecture: str) -> Topology:
    """Read online CPUs with their cores and sockets, and all NUMA nodes."""
    notes: list[str] = []
    online = online_cpus(tree)
    nodes = _read_nodes(tree, online, notes)
    node_of = {cpu: node.node for node in nodes for cpu in node.cpus}
    lost = [cpu for cpu in online if cpu not in node_of]
    if lost:
        notes.append(f"no NUMA node claims CPUs {format_cpu_list(lost)}: node 0 is assumed")
    cores = _cores(tree, online, notes)
    sockets = _sockets(tree, online, notes)
    types = core_types(tree, online, architecture)
    cpus = [
        Cpu(
            cpu=cpu,
            core=cores[cpu][0],
            sibling=cores[cpu][1],
            socket=sockets[cpu],
            node=node_of.get(cpu, 0),
            core_type=types.get(cpu),
        )
        for cpu in online
    ]
    _note_offline(tree, notes)
    return Topology(cpus, nodes, notes)


def online_cpus(tree: Tree) -> list[int]:
    """CPUs the scheduler can use, rising; from /proc where sysfs is hidden."""
    online = tree.numbers(f"{CPU_DIRECTORY}/online")
    if online:
        return online
    listed = tree.numbered(CPU_DIRECTORY, "cpu")
    if listed:
        return [c for c in listed if tree.integer(f"{CPU_DIRECTORY}/cpu{c}/online") != 0]
    lines = (tree.text("/proc/stat") or "").splitlines()
    names = (line.split()[0] for line in lines if line.startswith("cpu"))
    numbers = (whole_number(name[3:]) for name in names)
    return sorted(one for one in numbers if one is not None and one <= LARGEST_CPU)


def allowed_cpus(tree: Tree, online: list[int]) -> list[int]:
    """CPUs that the affinity mask and the cgroup's cpuset allow the calling thread."""
    for status in ("/proc/thread-self/status", "/proc/self/status"):
        text = tree.fields(status).get("Cpus_allowed_list")
        allowed = None if text is None else sorted_numbers(text)
        if allowed is not None:
            return sorted(set(online) & set(allowed))
    return list(online)


def _cores(tree: Tree, online: list[int], notes: list[str]) -> dict[int, tuple[int, int]]:
    """CPU to (core, rank among the core's online threads), cores numbered by their first CPU."""
    groups: dict[int, list[int]] = {}
    alone: list[int] = []
    present = set(online)
    for cpu in online:
        if cpu in groups:
            continue
        siblings = _siblings(tree, cpu)
        if siblings is None:
            alone.append(cpu)
        members = [c for c in siblings or [cpu] if c in present and c not in groups]
        for member in members or [cpu]:
            groups[member] = members or [cpu]
    if alone:
        notes.append(
            f"the system hides the cores of CPUs {format_cpu_list(alone)}: each CPU is treated as "
            "a core of its own"
        )
    firsts = sorted({members[0] for members in groups.values()})
    number = {first: index for index, first in enumerate(firsts)}
    return {cpu: (number[of[0]], of.index(cpu)) for cpu, of in groups.items()}


def _siblings(tree: Tree, cpu: int) -> list[int] | None:
    # thread_siblings_list is the name before Linux 5.3 and is still kept.
    for name in ("core_cpus_list", "thread_siblings_list"):
        siblings = tree.numbers(f"{CPU_DIRECTORY}/cpu{cpu}/topology/{name}")
        if siblings and cpu in siblings:
            return siblings
    return None


def _sockets(tree: Tree, online: list[int], notes: list[str]) -> dict[int, int]:
    """CPU to the kernel's package number, which need not start at 0 nor be dense."""
    sockets: dict[int, int] = {}
    hidden: list[int] = []
    for cpu in online:
        package = tree.integer(f"{CPU_DIRECTORY}/cpu{cpu}/topology/physical_package_id")
        if package is None or package < 0:  # -1: firmware without that table, on some Arm machines
            hidden.append(cpu)
        sockets[cpu] = max(package or 0, 0)
    if hidden:
        notes.append(
            f"the system hides the sockets of CPUs {format_cpu_list(hidden)}: socket 0 is assumed"
        )
    return sockets


def _read_nodes(tree: Tree, online: list[int], notes: list[str]) -> list[Node]:
    numbers = tree.numbers(f"{NODE_DIRECTORY}/online")
    if numbers is None:
        numbers = tree.numbered(NODE_DIRECTORY, "node")
    if not numbers:
        notes.append("the system reports no NUMA nodes: all memory is treated as node 0")
        return [Node(node=0, cpus=list(online), bytes=total_memory_bytes(tree), distances={})]
    present = set(online)
    return [_read_node(tree, number, numbers, present) for number in numbers]


def _read_node(tree: Tree, number: int, numbers: list[int], online: set[int]) -> Node:
    directory = f"{NODE_DIRECTORY}/node{number}"
    cpus = tree.numbers(f"{directory}/cpulist") or []
    row = (tree.text(f"{directory}/distance") or "").split()
    distances = [number for number in map(whole_number, row) if number is not None]
    return Node(
        node=number,
        cpus=[cpu for cpu in cpus if cpu in online],
        bytes=node_memory_bytes(tree, number, "MemTotal") or 0,
        # The kernel writes one column per online node, in rising order.
        distances=dict(zip(numbers, distances, strict=True))
        if len(distances) == len(numbers)
        else {},
    )


def node_memory_bytes(tree: Tree, node: int, name: str) -> int | None:
    """One line of the node's meminfo in bytes; None if it cannot be read.

    Args:
        tree: Root of the sysfs to read.
        node: Number of the NUMA node.
        name: Name of the line, such as `MemFree`.
    """
    for line in (tree.text(f"{NODE_DIRECTORY}/node{node}/meminfo") or "").splitlines():
        words = line.split()  # Node 0 MemTotal:  16384 kB
        if len(words) >= 4 and words[2] == f"{name}:":
            return bytes_of_kib(words[3])
    return None


def total_memory_bytes(tree: Tree) -> int:
    """MemTotal: the memory the kernel manages, a little less than what is installed."""
    return bytes_of_kib(tree.fields("/proc/meminfo").get("MemTotal", "")) or 0


def _note_offline(tree: Tree, notes: list[str]) -> None:
    offline = tree.numbers(f"{CPU_DIRECTORY}/offline")
    present = tree.numbers(f"{CPU_DIRECTORY}/present") or []
    # `offline` also lists numbers that are possible but not there.
    asleep = [cpu for cpu in offline or [] if cpu in set(present)]
    if asleep:
        notes.append(f"CPUs {format_cpu_list(asleep)} are offline")
