"""Memory nodes that this machine has not: each is its ordinary memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from memgauge import _core
from memgauge.model.system import Node, System
from memgauge.system.detect import detect

if TYPE_CHECKING:
    import pytest

GIB = 1 << 30


def two_nodes() -> System:
    """This machine as if half of its CPUs, or all where there is one, had memory of their own."""
    real = detect()
    half = max(1, len(real.allowed_cpus) // 2)
    parts = [real.allowed_cpus[:half], real.allowed_cpus[half:]]
    node_of = {cpu: node for node, members in enumerate(parts) for cpu in members}
    small = [msgspec.structs.replace(cache, bytes=1 << 20) for cache in real.caches]
    return msgspec.structs.replace(
        real,
        cpus=[
            msgspec.structs.replace(cpu, node=node_of[cpu.cpu], socket=node_of[cpu.cpu])
            for cpu in real.cpus
            if cpu.cpu in node_of
        ],
        nodes=[
            Node(node=n, cpus=members, bytes=8 * GIB, distances={n: 10, 1 - n: 21})
            for n, members in enumerate(parts)
        ],
        caches=small,
        available_bytes=min(real.available_bytes, GIB),
        tiers=[],
        allowed_nodes=None,
    )


@contextmanager
def memory_anywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Memory of made-up nodes is taken wherever it is."""
    real = _core.Memory

    def memory(
        nodes: Sequence[int] | None = None, weights: Sequence[int] | None = None
    ) -> _core.Memory:
        del nodes, weights
        return real()

    with monkeypatch.context() as patched:
        patched.setattr(_core, "Memory", memory)
        yield
