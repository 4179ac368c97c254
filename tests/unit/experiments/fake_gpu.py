"""A GPU made of Python: what the experiments ask of the native core, and what they do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from memgauge import _core

if TYPE_CHECKING:
    import pytest

MIB = 1 << 20
EXPERIMENTS = ("latency.gpu", "workingset.gpu", "mix.gpu")


@dataclass
class FakeGpu:
    """One device, and a record of what was made on it."""

    l2_bytes: int | None = 50 * MIB
    memory_bytes: int = 80_000 * MIB
    multiprocessors: int = 132
    ns_per_hop: float = 100.0
    resolution_ns: int = 32
    chases: list[FakeChase] = field(default_factory=list)
    closed: int = 0

    @property
    def facts(self) -> Any:
        return self


def one_slice(elapsed_ns: int, read_bytes: int = 0, write_bytes: int = 0) -> Any:
    thread = SimpleNamespace(
        cpu=0,
        begin_ns=[1_000],
        end_ns=[1_000 + elapsed_ns],
        involuntary_switches=0,
        page_faults=0,
        read_bytes=read_bytes,
        write_bytes=write_bytes,
    )
    return SimpleNamespace(threads=[thread], pingpong_ns=None)


class FakeChase:
    def __init__(
        self,
        gpu: FakeGpu,
        bytes: int,
        node_bytes: int = 128,
        *,
        through: str = "l1",
        order: str = "random",
        block_bytes: int = 0,
    ) -> None:
        assert order in {"random", "block-random"}
        assert (order == "block-random") == (block_bytes > 0)
        self.gpu, self.through, self.nodes = gpu, through, bytes // node_bytes
        self.runs: list[tuple[int, int, int, int]] = []
        gpu.chases.append(self)

    def run(self, hops: int, warm_hops: int = 0, iterations: int = 1, sweeps: int = 0) -> Any:
        self.runs.append((hops, warm_hops, iterations, sweeps))
        return SimpleNamespace(
            slice=one_slice(round(self.gpu.ns_per_hop * hops * iterations)),
            cycles=[1],
            cycles_per_ns=1.7,
            timer_resolution_ns=self.gpu.resolution_ns,
        )

    def close(self) -> None:
        self.gpu.closed += 1


class FakeStreamArrays:
    def __init__(self, gpu: FakeGpu, elements: int) -> None:
        self.gpu, self.elements = gpu, elements

    def prepare(self, specs: list[object]) -> None:
        assert specs

    def run(self, spec: object, *, prefix_elements: int, repeats: int) -> Any:
        del spec
        assert 0 < prefix_elements <= self.elements
        assert prefix_elements % 32 == 0
        return one_slice(max(1, prefix_elements * 8 * repeats // 3_000))

    def close(self) -> None:
        self.gpu.closed += 1


class FakeTraffic:
    """Issues whole steps of a megabyte, as a real one rounds up."""

    def __init__(self, gpu: FakeGpu, bytes: int) -> None:
        self.gpu, self.bytes = gpu, bytes
        self.prepared: list[tuple[int, int]] = []

    def prepare(self, mixes: list[tuple[int, int]]) -> None:
        self.prepared = mixes

    def run(self, reads: int, writes: int, *, bytes: int, lead_in_bytes: int) -> Any:
        assert (reads, writes) in self.prepared
        assert 0 <= lead_in_bytes <= self.bytes
        step = (reads + writes) << 10
        steps = -(-bytes // step)
        return one_slice(steps * step // 2_000, steps * reads << 10, steps * writes << 10)

    def validate(self) -> list[Any]:
        return [
            SimpleNamespace(
                array="w",
                average_relative_error=0.0,
                epsilon=0.0,
                elements=self.bytes // 16,
                failed_elements=0,
                first_failed=-1,
                passed=True,
            )
        ]

    def close(self) -> None:
        self.gpu.closed += 1


def install(monkeypatch: pytest.MonkeyPatch, gpu: FakeGpu) -> None:
    """In place of the driver and of the native classes."""
    fakes = {
        "GpuChase": FakeChase,
        "GpuStreamArrays": FakeStreamArrays,
        "GpuTraffic": FakeTraffic,
        "gpu_default_tuned_spec": lambda *_: object(),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(_core, name, fake, raising=False)
    for module in EXPERIMENTS:
        path = f"memgauge.experiments.{module}"
        monkeypatch.setattr(f"{path}.opened_gpu", lambda _: gpu)
        monkeypatch.setattr(f"{path}.gpu_facts", lambda *_: facts_of(gpu))


def facts_of(gpu: FakeGpu) -> dict[str, object]:
    return {
        "gpu": "NVIDIA Example",
        "multiprocessors": gpu.multiprocessors,
        "l2_bytes": gpu.l2_bytes,
        "memory_bytes": gpu.memory_bytes,
        "theoretical_bytes_per_s": 3.35e12,
    }
