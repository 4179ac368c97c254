"""Assigns ranks to nodes, names nodes, and chooses the CPUs of a node's survey."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Mapping

import msgspec

from memgauge.cluster.messages import Hello
from memgauge.model.units import format_count
from memgauge.system.owner import boot_id
from memgauge.system.tree import Tree


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """The ranks of one node."""

    name: str
    hostname: str
    boot: str
    ranks: list[int]
    """Ascending: the first leads."""
    bound: list[int]
    """CPUs that any of them is bound to."""


def hello() -> Hello:
    """Where this rank is.

    A node is a host name under one boot of a kernel: two machines with the same name are different
    nodes, and containers or name spaces with their own host names are separate nodes.
    """
    return Hello(
        hostname=socket.gethostname(), boot=boot_digest(), cpus=sorted(os.sched_getaffinity(0))
    )


def boot_digest() -> str:
    """What distinguishes this boot from those of other machines; empty if unknown."""
    boot = boot_id(Tree())
    return hashlib.sha256(boot.encode()).hexdigest()[:12] if boot else ""


def nodes_of(hellos: Mapping[int, Hello]) -> list[Node]:
    """The nodes, in the order of their first ranks."""
    found: dict[tuple[str, str], list[int]] = {}
    for rank in sorted(hellos):
        found.setdefault((hellos[rank].hostname, hellos[rank].boot), []).append(rank)
    names = _names([hostname for hostname, _ in found])
    return [
        Node(
            name=name,
            hostname=hostname,
            boot=boot,
            ranks=ranks,
            bound=sorted({cpu for rank in ranks for cpu in hellos[rank].cpus}),
        )
        for name, ((hostname, boot), ranks) in zip(names, found.items(), strict=True)
    ]


def _names(hostnames: list[str]) -> list[str]:
    """Directory names: the first label of the host name if unique, otherwise with a number."""
    plain = [_usable(hostname.partition(".")[0]) for hostname in hostnames]
    if len(set(plain)) < len(plain):
        plain = [_usable(hostname) for hostname in hostnames]
    names: list[str] = []
    for name in plain:
        number, unique = 2, name
        while unique in names:
            number, unique = number + 1, f"{name}-{number}"
        names.append(unique)
    return names


def _usable(hostname: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", hostname).strip(".-")[:100] or "node"


def take_cpus(bound: list[int], environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Bind this process and its children to its node's CPUs; return their number and description.

    A launcher binds each rank to a core or a socket, as suits programs that compute. A survey
    measures the node: it uses all CPUs that the cpuset of the job allows. If the batch system
    granted fewer to the job, as without cpusets, the survey uses only those of its ranks.
    """
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    allowed = sorted(os.sched_getaffinity(0))
    granted = environment.get("SLURM_CPUS_ON_NODE", "")
    if granted.isdecimal() and int(granted) < len(allowed) and len(bound) < len(allowed):
        os.sched_setaffinity(0, bound)
        taken = format_count(len(bound), "CPU")
        return len(bound), (
            f"measured with the {taken} that the ranks are bound to, because Slurm grants the job "
            f"{granted} of the node's {len(allowed)} CPUs"
        )
    if len(bound) < len(allowed):
        return len(allowed), (
            f"measured with all {len(allowed)} CPUs of the cpuset, though the launcher bound the "
            f"ranks to {len(bound)}"
        )
    return len(allowed), ""
