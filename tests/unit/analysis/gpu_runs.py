"""A whole run made by formula, as of a GPU whose levels are known."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import KIB, MIB, start

from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import Run, run_of

ROUNDS = 140
L1, L2 = 192 * KIB, 48 * MIB
L1_NS, L2_NS, MEMORY_NS, RANDOM_NS = 20.0, 160.0, 560.0, 580.0
READ_GB_PER_S, L2_GB_PER_S = 3000.0, 5500.0
CLOCK_GHZ = 1.7

FACTS = {
    "gpu": "NVIDIA Example",
    "multiprocessors": 100,
    "l2_bytes": L2,
    "theoretical_bytes_per_s": 3.2e12,
}
Made = tuple[Point, float]


def walked(level: str, order: str, ns: float, memory: str = "cuda:0") -> Made:
    requested = {
        "level": level,
        "order": order,
        "footprint_bytes": {"L1": 16 * KIB, "L2": L2 // 8}.get(level, 8 * L2),
        "node_bytes": 256 if level == "DRAM" else 128,
        "through": "l1" if level == "L1" else "l2",
        "memory": memory,
    }
    facts = FACTS | {"timer_resolution_ns": 32}
    name = f"latency/{level}/{order}"
    return latency_point(name, requested=requested, actual=facts), ns


def latencies() -> list[Made]:
    return [
        walked("L1", "random", L1_NS),
        walked("L2", "random", L2_NS),
        walked("DRAM", "block-random", MEMORY_NS),
        walked("DRAM", "random", RANDOM_NS),
    ]


def footprint(access: str, size: int, value: float, l2_bytes: int | None = L2) -> Made:
    latency = access == "latency"
    make = latency_point if latency else bandwidth_point
    point = make(
        f"workingset/{access}/{size}" if latency else f"workingset/{access}/cuda:0/{size}",
        experiment="workingset",
        requested={"access": access, "footprint_bytes": size, "memory": "cuda:0"},
        actual=FACTS | {"l2_bytes": l2_bytes},
    )
    return point, value


def footprints(held_bytes: int = L2, l2_bytes: int | None = L2) -> Iterator[Made]:
    """Latency falls off as the fourth power beyond each level; `held_bytes`: of the L2 there is."""
    octaves = [4 * KIB * 2**octave for octave in range(17)]
    sizes = [octave * step // 4 for octave in octaves for step in (4, 5, 6, 7)]
    for size in [size for size in sizes if size < 6 * L2] + [6 * L2]:
        near = min(1.0, (L1 / size) ** 4)
        held = max(near, min(1.0, (held_bytes / size) ** 4))
        ns = near * L1_NS + (held - near) * L2_NS + (1 - held) * RANDOM_NS
        yield footprint("latency", size, ns, l2_bytes)
        if size >= 2 * MIB:
            rate = 1 / (held / L2_GB_PER_S + (1 - held) / READ_GB_PER_S)
            yield footprint("read", size, rate, l2_bytes)


def mixed(share: float, gb_per_s: float, memory: str = "cuda:0") -> Made:
    requested = {"read_share": share, "store": None, "order": "sequential", "memory": memory}
    point = bandwidth_point(
        f"mix/{100 * share:g}r/sequential/cuda:0",
        experiment="mix",
        requested=requested,
        actual=FACTS | {"read_share_issued": share},
    )
    return point, gb_per_s


def mixes() -> list[Made]:
    shares = {1.0: 1.0, 0.75: 0.94, 0.5: 0.92, 0.0: 0.95}
    return [mixed(share, READ_GB_PER_S * part) for share, part in shares.items()]


def stream_read(gb_per_s: float = READ_GB_PER_S) -> Made:
    requested = {"kernel": "read", "variant": "tuned", "element": "double", "memory": "cuda:0"}
    return bandwidth_point(
        "stream/read/tuned/double/cuda:0", requested=requested, actual=FACTS
    ), gb_per_s


def gpu_run(points: Iterable[Made], noise: float = 0.002, seed: int = 5) -> Run:
    made: Sequence[Made] = [(_enlarged(point), value) for point, value in points]
    draw = random.Random(seed)
    experiments = list(dict.fromkeys(point.experiment for point, _ in made))
    records: list[AnyRecord] = [msgspec.structs.replace(start(), experiments=experiments)]
    records += [point for point, _ in made]
    for round_ in range(ROUNDS):
        for point, value in made:
            clock = CLOCK_GHZ if point.quantity == "latency" else None
            taken = value * draw.gauss(1, noise)
            records.append(sample_of(point, taken, round_, cycles_per_ns=clock))
    return run_of(records)


def _enlarged(point: Point) -> Point:
    """So that a whole number of ns tells the value well enough."""
    counted = 1000 * point.bytes_counted
    return msgspec.structs.replace(point, bytes_counted=counted, bytes_moved=counted)


def whole_gpu_run() -> Run:
    return gpu_run([stream_read(), *latencies(), *footprints(), *mixes()])
