"""A back end for tests: counters kept in files, which a stimulus makes grow, with chosen faults.

Two sockets are made up of CPUs of one: each node's memory is this machine's.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target
from memgauge.experiments.counters_verify.bench import Moved
from memgauge.model.counting.back_ends import BACK_ENDS, Entry
from memgauge.model.counting.events import Counter, Event, Quantity
from memgauge.model.errors import CounterRefused
from memgauge.model.system import Cpu, Node, System
from memgauge.system.detect import detect

QUANTITIES: tuple[Quantity, ...] = ("read_bytes", "write_bytes")
CONTROLLERS = 2
LINE = 64


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one event."""

    factor: float = 1.0
    silent: frozenset[str] = frozenset()
    refused: str | None = None


class Board:
    """The files, and what makes them grow."""

    def __init__(self, directory: Path, name: str, faults: dict[Quantity, Fault]) -> None:
        self.directory = directory
        self.name = name
        self.faults = faults
        self.seen: list[Moved] = []
        self.most_open: int | None = None
        """Events that can be open at a time; None: all."""
        self._rng = random.Random(5)
        self._counts: dict[Path, int] = {}
        for quantity in QUANTITIES:
            for instance in instances():
                self._set(self.file(quantity, instance), 1000)

    def file(self, quantity: Quantity, instance: str) -> Path:
        """Of one counter."""
        return self.directory / f"{self.name}-{quantity}-{instance}"

    def __call__(self, moved: Moved) -> None:
        """Count what was moved, and a little of others."""
        self.seen.append(moved)
        due: dict[Quantity, int] = {
            "read_bytes": moved.read_bytes + moved.allocate_bytes,
            "write_bytes": moved.write_bytes,
        }
        for quantity in QUANTITIES:
            fault = self.faults.get(quantity, Fault())
            for instance in instances():
                mine = (
                    due[quantity] / CONTROLLERS * (socket_of(instance) == moved.place.memory_node)
                )
                mine += self._rng.uniform(0, 1e4)
                path = self.file(quantity, instance)
                if instance not in fault.silent:
                    self._set(path, self._counts[path] + round(mine * fault.factor / LINE))

    def _set(self, path: Path, count: int) -> None:
        self._counts[path] = count
        path.write_text(f"{count}\n")


def instances() -> list[str]:
    return [f"imc_{n}@cpu{socket}" for socket in range(2) for n in range(CONTROLLERS)]


def socket_of(instance: str) -> int:
    return int(instance[-1])


class Counting(BackEnd):
    """Files as counters."""

    name: ClassVar[str] = "perf"
    summary: ClassVar[str] = "counters of a test"
    board: ClassVar[Board]

    def probe(self) -> Probe:
        return Probe(state="ready")

    def events(self) -> list[Event]:
        return [
            Event(
                name=f"{self.name}:imc/{quantity}/",
                back_end=self.name,
                quantity=quantity,
                domain="memory",
                scope="controller",
                unit="B",
                scale=float(LINE),
                meaning="what the test says",
                encoding="a file",
                instances=instances(),
                source="the test",
                traffic="dram",
                state="ready",
            )
            for quantity in QUANTITIES
        ]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        del target
        for event in events:
            fault = self.board.faults.get(event.quantity, Fault())
            if fault.refused is not None:
                raise CounterRefused(f"{event.name}: {fault.refused}")
        if self.board.most_open is not None and len(events) > self.board.most_open:
            raise CounterRefused("too many counters at a time")
        counters = [
            self._counter(event, instance, slot)
            for slot, (event, instance) in enumerate((e, i) for e in events for i in instances())
        ]
        files = [self.board.file(c.quantity, c.instance) for c in counters]
        source = _core.open_number_files([_core.NumberFile(str(path)) for path in files])
        return Opened(sources=[source], counters=counters)

    def _counter(self, event: Event, instance: str, slot: int) -> Counter:
        return Counter(
            name=f"{event.name}@{instance}",
            event=event.name,
            back_end=self.name,
            quantity=event.quantity,
            domain=event.domain,
            scope=event.scope,
            unit=event.unit,
            scale=event.scale,
            scale_source="the test",
            instance=instance,
            socket=socket_of(instance),
            slot=slot,
            route="kept-open file",
        )


class OtherCounting(Counting):
    """A second route to the same counts."""

    name: ClassVar[str] = "pcp"


def install(monkeypatch: pytest.MonkeyPatch, kind: type[Counting], board: Board) -> None:
    """Put the back end in place of the real one of its name."""
    monkeypatch.setattr(kind, "board", board, raising=False)
    monkeypatch.setitem(sys.modules, "memgauge.counters.of_this_test", sys.modules[__name__])
    monkeypatch.setitem(BACK_ENDS, kind.name, Entry("of_this_test", kind.__name__))


def two_nodes() -> System:
    """This machine as if each of two of its CPUs were a socket with memory of its own."""
    real = detect()
    chosen = real.allowed_cpus[:2]
    if len(chosen) < 2:
        pytest.skip("two CPUs are needed, which stand for two sockets")
    cpus = [Cpu(cpu=cpu, core=n, socket=n, node=n, sibling=0) for n, cpu in enumerate(chosen)]
    nodes = [
        Node(node=n, cpus=[cpu], bytes=1 << 33, distances={0: 10 + 11 * n, 1: 21 - 11 * n})
        for n, cpu in enumerate(chosen)
    ]
    small = [msgspec.structs.replace(cache, bytes=1 << 20) for cache in real.caches]
    return msgspec.structs.replace(real, cpus=cpus, allowed_cpus=chosen, nodes=nodes, caches=small)


@contextmanager
def unbound_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Memory of made-up nodes is taken wherever it is."""
    real, nests = _core.Traffic, _core.LoopNest

    def traffic(team: _core.Team, bytes: int, **options: object) -> _core.Traffic:
        options.pop("memory", None)
        return real(team, bytes, **options)  # type: ignore[arg-type]

    def nest(
        team: _core.Team, spec: _core.NestSpec, copies: int, **options: object
    ) -> _core.LoopNest:
        options.pop("memory", None)
        return nests(team, spec, copies, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(_core, "Traffic", traffic)
        patched.setattr(_core, "LoopNest", nest)
        yield
