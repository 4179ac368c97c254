"""A run of `stream` in a GPU's memory, by formula: speeds are shares of the theoretical."""

from __future__ import annotations

import random

import msgspec
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start

from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample
from memgauge.model.run import Run, run_of

GIB = 1 << 30
CLOCK_KHZ, BUS_BITS = 2_619_000, 5120
PEAK_GB_PER_S = 2 * CLOCK_KHZ * 1e3 * BUS_BITS / 8 / 1e9
SHARES = {
    ("copy", "standard"): 0.90,
    ("copy", "tuned"): 0.92,
    ("triad", "standard"): 0.91,
    ("triad", "tuned"): 0.93,
    ("read", "tuned"): 0.95,
}
COUNTED = {"copy": 2, "triad": 3, "read": 1}
ROUNDS = 60

FACTS: dict[str, Scalar] = {
    "gpu": "NVIDIA Example",
    "gpu_uuid": "GPU-1111",
    "gpu_bus_id": "0000:3b:00.0",
    "compute": "9.0",
    "multiprocessors": 132,
    "l2_bytes": 50 << 20,
    "memory_bytes": 80 * GIB,
    "memory_clock_khz": CLOCK_KHZ,
    "bus_bits": BUS_BITS,
    "theoretical_bytes_per_s": PEAK_GB_PER_S * 1e9,
    "ecc": True,
    "mig": False,
    "cuda": "13.0",
    "compiler": "NVRTC 13.0",
    "timed_by": "device events",
    "stream_conformant": True,
}


def points(
    memory: str = "cuda:0", array_bytes: int = GIB, **facts: Scalar
) -> list[tuple[Point, float]]:
    """Slices and passes with their speeds in GB/s."""
    made = []
    for (kernel, variant), share in SHARES.items():
        for role in ("slice", "pass") if kernel != "read" else ("slice",):
            point = bandwidth_point(
                f"stream/{kernel}/{variant}/double/{memory}" + ("/pass" if role == "pass" else ""),
                role=role,
                requested={
                    "kernel": kernel,
                    "variant": variant,
                    "element": "double",
                    "memory": memory,
                    "array_bytes": None,
                },
                actual={**FACTS, "array_bytes": array_bytes, **facts},
                bytes_counted=COUNTED[kernel] * array_bytes,
                bytes_moved=COUNTED[kernel] * array_bytes,
            )
            made.append((point, share * PEAK_GB_PER_S))
    return made


def candidates(speeds: dict[str, float], memory: str = "cuda:0") -> list[tuple[Point, float]]:
    """Variants of tuned triad that a search tried, with their speeds."""
    (tuned, _) = points(memory)[6]
    assert tuned.point == f"stream/triad/tuned/double/{memory}"
    return [
        (
            msgspec.structs.replace(
                tuned,
                point=f"{tuned.point}/{name}",
                requested={**tuned.requested, "candidate": name},
            ),
            speed,
        )
        for name, speed in speeds.items()
    ]


def samples(
    made: list[tuple[Point, float]], *, switches: int = 0, rounds: int = ROUNDS
) -> list[Sample]:
    random_ = random.Random(1)
    return [
        sample_of(point, speed * random_.uniform(0.999, 1.001), round_, switches=switches)
        for round_ in range(rounds)
        for point, speed in made
    ]


def run(
    made: list[tuple[Point, float]], *, switches: int = 0, extra: tuple[AnyRecord, ...] = ()
) -> Run:
    began = msgspec.structs.replace(start(), experiments=["stream"])
    return run_of(
        [
            began,
            *(point for point, _ in made),
            *samples(made, switches=switches),
            *extra,
            RunEnd(status="complete", elapsed_s=3.0, rounds=ROUNDS),
        ]
    )
