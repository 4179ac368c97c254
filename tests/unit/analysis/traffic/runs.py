"""Runs of `traffic` by formula: GEMM-like nests in caches of a known size, counted with noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from tests.unit.analysis.counters.counted import counter
from tests.unit.analysis.runs import start, system

from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.counting.events import Counter, Quantity
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import Run, run_of

MIB = 1 << 20
COUNTED: tuple[Quantity, Quantity] = ("read_bytes", "write_bytes")
LINE = 64
SIZES = (64, 128, 256, 448, 512, 640, 800, 1024)


def machine(name: str = "this", bytes_: int = 5 * MIB, **changes: object) -> CacheMachine:
    """One level, of one core."""
    fields: dict[str, object] = {
        "name": name,
        "title": name,
        "source": "test",
        "levels": [CacheLevel(name="L3", bytes=bytes_, ways=20)],
        "machine_cores": 22,
    }
    return CacheMachine(**(fields | changes))  # type: ignore[arg-type]


def gemm_point(size: int, threads: int = 1, *, prefetched: bool = False, **facts: Scalar) -> Point:
    """As the experiment declares it."""
    square = 8 * size * size
    return Point(
        point=f"traffic/gemm/{size}/{threads}t" + "/prefetched" * prefetched,
        experiment="traffic",
        quantity="bandwidth",
        requested={
            "kernel": "gemm",
            "size": size,
            "batched": threads > 1,
            "grid": None,
            "cap": None,
            "store_prefetch": prefetched,
            "machines": "this",
            "repetitions": "auto",
        },
        actual={
            "n": size,
            "A_bytes": square,
            "B_bytes": square,
            "C_bytes": square,
            "cached_bytes": 5 * MIB,
            **facts,
        },
        bytes_counted=3 * square * threads,
        bytes_moved=4 * square * threads,
        threads=threads,
        role="counted",
    )


def resort_point(
    kernel: str, size: int, arrays: Sequence[str], *, grid: str = "2x4", prefetched: bool = False
) -> Point:
    """One process of a re-sorting routine with planes, rows and columns."""
    rows, columns = (int(part) for part in grid.split("x"))
    elements = size // rows * (size // columns) * size
    return Point(
        point=f"traffic/{kernel}/{size}/1t" + "/prefetched" * prefetched,
        experiment="traffic",
        quantity="bandwidth",
        requested={"kernel": kernel, "size": size, "grid": grid, "store_prefetch": prefetched},
        actual={
            "planes": size // rows,
            "rows": size // columns,
            "cols": size,
            **{f"{array}_bytes": 16 * elements for array in arrays},
        },
        bytes_counted=32 * elements,
        bytes_moved=48 * elements,
        role="counted",
    )


def simulated(
    point: Point,
    name: str = "this",
    *,
    arrays: Mapping[str, float],
    allocated: float = 0.0,
    prefetched: float = 0.0,
    hardware: float = 0.0,
    written: float,
    bypassed: float = 0.0,
) -> Simulated:
    """So many bytes of one core; `arrays` are those that loads read."""
    cores = point.threads
    stored = list(arrays)[-1]
    loads = sum(arrays.values())
    by_array = dict(arrays) | {stored: arrays[stored] + allocated + prefetched}
    return Simulated(
        point=point.point,
        machine=name,
        cores=cores,
        accesses=1000,
        load_read_bytes=round(loads) * cores,
        allocate_read_bytes=round(allocated) * cores,
        software_prefetch_read_bytes=round(prefetched) * cores,
        hardware_prefetch_read_bytes=round(hardware) * cores,
        write_back_bytes=round(written) * cores,
        bypass_write_bytes=round(bypassed) * cores,
        array_read_bytes={array: round(bytes_) * cores for array, bytes_ in by_array.items()},
        levels=[],
        took_s=0.1,
    )


def gemm_in(point: Point, bytes_: int, name: str = "this") -> Simulated:
    """B is cached up to `bytes_`; beyond, each of its elements takes a line of memory."""
    size = int(str(point.requested["size"]))
    square = 8.0 * size * size
    b = square if square <= bytes_ else float(LINE * size**3)
    return simulated(
        point, name, arrays={"A": square, "B": b, "C": 0.0}, allocated=square, written=square
    )


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """What counters see beside the nest."""

    idle_bytes_per_s: float = 1e7
    spread: float = 0.01
    """Of what is counted, from region to region."""
    region_ns: int = 50_000_000
    repetitions: int = 10
    regions: int = 12


Bytes = Callable[[Point], tuple[float, float]]
"""Reads and writes of one execution by one core."""


def run(
    points: Iterable[Point],
    *,
    machines: Iterable[CacheMachine] = (),
    predictions: Iterable[Simulated] = (),
    counted: Bytes | None = None,
    noise: Noise | None = None,
) -> Run:
    """A whole run; without `counted` nothing was read of counters."""
    return run_of(records(points, machines, predictions, counted, noise or Noise()))


def records(
    points: Iterable[Point],
    machines: Iterable[CacheMachine],
    predictions: Iterable[Simulated],
    counted: Bytes | None,
    noise: Noise,
) -> Iterator[AnyRecord]:
    """In the order of writing."""
    points = list(points)
    begun = msgspec.structs.replace(start(system()), experiments=["traffic"], parameters={})
    yield begun
    if counted is not None:
        yield CounterSet(counters="traffic", slots=2, of=_counters())
    yield from points
    yield from (SimulatedMachine(machine=one) for one in machines)
    yield from predictions
    rounds = 0
    if counted is not None:
        clock = _Clock(noise)
        rounds = noise.regions
        for round_ in range(rounds):
            for point in points:
                yield clock.sample(point, round_, counted(point))
    yield RunEnd(status="complete", elapsed_s=4.0, rounds=rounds)


def _counters() -> list[Counter]:
    return [counter(way, ("imc_0", 0), slot=slot) for slot, way in enumerate(COUNTED)]


class _Clock:
    """Counters that only grow, and a clock."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._rng = random.Random(1)
        self._now_ns = 1000
        self._raw = [10_000, 20_000]

    def sample(self, point: Point, round_: int, each: tuple[float, float]) -> Sample:
        idle = self._region((0.0, 0.0))
        begin = self._now_ns
        whole = self._noise.repetitions * point.threads
        reading = self._region((each[0] * whole, each[1] * whole))
        step = self._noise.region_ns // self._noise.repetitions
        begins = [begin + step * at for at in range(self._noise.repetitions)]
        threads = [
            ThreadSample(cpu=cpu, begin_ns=begins, end_ns=[one + step for one in begins])
            for cpu in range(point.threads)
        ]
        return Sample(point=point.point, round=round_, threads=threads, reading=reading, idle=idle)

    def _region(self, bytes_: tuple[float, float]) -> RegionReading:
        noise, before, began = self._noise, list(self._raw), self._now_ns
        self._now_ns += noise.region_ns
        others = noise.idle_bytes_per_s * noise.region_ns * 1e-9
        for slot, moved in enumerate(bytes_):
            seen = moved * self._rng.gauss(1, noise.spread) + others * self._rng.gauss(1, 0.05)
            self._raw[slot] += round(max(0.0, seen) / 64)
        return RegionReading(
            counters="traffic",
            before_ns=(began, began),
            after_ns=(self._now_ns, self._now_ns),
            before=[*before],
            after=[*self._raw],
        )
