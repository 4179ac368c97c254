"""Made-up machines for tests of what is planned where."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from tests.unit.runner.fakes import a_system

from memgauge.model.system import Cache, Cpu, Node, System

MIB = 1 << 20
GIB = 1 << 30


def a_machine(
    cores: int,
    *,
    threads_per_core: int = 1,
    sockets: int = 1,
    llc_bytes: int = 32 * MIB,
    available_bytes: int = 1 << 40,
    allowed: Sequence[int] | None = None,
) -> System:
    """`cores` on each socket, each socket a node with one last-level cache; siblings come last."""
    total = cores * sockets
    cpus = [
        Cpu(
            cpu=sibling * total + core,
            core=core,
            socket=core // cores,
            node=core // cores,
            sibling=sibling,
        )
        for sibling in range(threads_per_core)
        for core in range(total)
    ]
    members = [[c.cpu for c in cpus if c.socket == socket] for socket in range(sockets)]
    return msgspec.structs.replace(
        a_system(available_bytes),
        cpus=cpus,
        allowed_cpus=[c.cpu for c in cpus] if allowed is None else list(allowed),
        caches=[
            Cache(
                level=3,
                type="unified",
                bytes=llc_bytes,
                line_bytes=64,
                ways=16,
                sets=None,
                cpus=sorted(mine),
            )
            for mine in members
        ],
        nodes=[
            Node(node=node, cpus=sorted(mine), bytes=64 * GIB, distances={})
            for node, mine in enumerate(members)
        ],
    )
