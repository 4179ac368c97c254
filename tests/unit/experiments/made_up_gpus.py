"""A GPU and transfers to and from it, made up: stamps by formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

GIB = 1 << 30


def a_gpu(
    index: int = 0, *, free_bytes: int = 16 * GIB, error: str = "", peers: Sequence[int] = ()
) -> Any:
    """As `_core.Gpu`; its clock is known to half a microsecond."""
    return SimpleNamespace(
        facts=SimpleNamespace(
            index=index,
            name=f"GPU {index}",
            uuid=f"GPU-{index}",
            bus_id=f"ffff:{index:02x}:00.0",
            error=error,
        ),
        free_bytes=free_bytes,
        clock_error_ns=500.0,
        peers=lambda: list(peers),
    )


def thread(iterations: int, took_ns: int, begin_ns: int = 1000) -> Any:
    """Back to back."""
    begins = [begin_ns + at * took_ns for at in range(iterations)]
    return SimpleNamespace(
        cpu=0,
        begin_ns=begins,
        end_ns=[begin + took_ns for begin in begins],
        involuntary_switches=0,
        page_faults=0,
        read_bytes=0,
        write_bytes=0,
    )


class FakeTransfers:
    """As `_core.GpuTransfers`; 2 GB/s to the device and 1 GB/s from it."""

    latest: ClassVar[FakeTransfers]
    host_was_slower: ClassVar[bool] = False
    direct: ClassVar[bool] = True
    now: ClassVar[Callable[[], int]] = lambda: 1000
    """When transfers begin."""
    bytes_per_ns: ClassVar[int] = 2
    """To the device; half of it from there."""

    def __init__(self, gpu: Any, bytes: int, **given: Any) -> None:
        self.gpu, self.bytes, self.given = gpu, bytes, given
        self.peer: Any = given.get("peer")
        self.calls: list[str] = []
        self.queued: tuple[str, int, int, int] | None = None
        FakeTransfers.latest = self

    def run(
        self,
        direction: str,
        size: int,
        *,
        iterations: int = 1,
        repeats: int = 1,
        begin_ns: int | None = None,
    ) -> Any:
        assert size <= self.bytes
        assert self.queued is None
        self.calls.append("run")
        ways = 2 if direction.startswith("both") else 1
        took_ns = size * repeats // self.bytes_per_ns or 1
        begin = type(self).now() if begin_ns is None else begin_ns
        return SimpleNamespace(
            threads=[thread(iterations, took_ns << way, begin) for way in range(ways)],
            pingpong_ns=None,
        )

    def start(self, direction: str, size: int, *, iterations: int) -> None:
        assert self.queued is None
        self.calls.append("start")
        self.queued = direction, size, iterations, type(self).now()

    def finish(self) -> Any:
        assert self.queued is not None
        direction, size, iterations, begin_ns = self.queued
        self.queued = None
        found = self.run(direction, size, iterations=iterations, begin_ns=begin_ns)
        self.calls.append("finish")
        return found

    def backing(self) -> list[Any]:
        return [
            SimpleNamespace(
                mapped_bytes=1 << 21,
                resident_bytes=1 << 21,
                huge_bytes=1 << 21,
                base_page_bytes=4096,
                huge_page_bytes=1 << 21,
                node=0,
                share_on_node=1.0,
            )
        ]

    def validate(self) -> list[Any]:
        return []

    def close(self) -> None:
        self.calls.append("close")
