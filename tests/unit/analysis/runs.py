"""A whole run made by formula, as on a virtual machine of two threads."""

import random
from collections.abc import Iterator

import msgspec
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of

from memgauge.model.records import (
    AnyRecord,
    ArrayCheck,
    Clock,
    Environment,
    Point,
    RunEnd,
    RunStart,
    Validation,
)
from memgauge.model.run import Run, run_of
from memgauge.model.system import Cache, Cpu, Node, System

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ROUNDS = 140
NEAR_NS, FAR_NS = 27.0, 175.0

SPEEDS = {("triad", "standard"): 20.0, ("triad", "tuned"): 28.0, ("copy", "tuned"): 40.0}


def system(**changes: object) -> System:
    fields: dict[str, object] = {
        "machine_id": "0123456789abcdef",
        "architecture": "x86_64",
        "cpu_model": "Example Processor",
        "kernel": "Linux 6.18",
        "virtualisation": "kvm",
        "cpus": [Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(2)],
        "allowed_cpus": [0, 1],
        "caches": [
            *(cache(1, 32 * KIB, [n], "data") for n in range(2)),
            *(cache(1, 64 * KIB, [n], "instruction") for n in range(2)),
            *(cache(2, MIB, [n]) for n in range(2)),
            cache(3, 32 * MIB, [0, 1]),
        ],
        "nodes": [Node(node=0, cpus=[0, 1], bytes=16 * GIB, distances={0: 10})],
        "memory_bytes": 16 * GIB,
        "available_bytes": 12 * GIB,
        "base_page_bytes": 4096,
        "thp": "madvise",
        "huge_pages": [],
        "governor": None,
        "isas": ["avx512", "avx2", "generic"],
        "topology_notes": ["the hypervisor shares the L3 with other guests"],
    }
    return msgspec.convert(msgspec.to_builtins(fields | changes), System)


def cache(level: int, bytes_: int, cpus: list[int], type_: str = "unified") -> Cache:
    return msgspec.convert(
        {
            "level": level,
            "type": type_,
            "bytes": bytes_,
            "line_bytes": 64,
            "ways": 8,
            "sets": None,
            "cpus": cpus,
        },
        Cache,
    )


def start(of: System | None = None, *, resumed: bool = False) -> RunStart:
    return RunStart(
        format_version=2,
        memgauge_version="0.1.0",
        run_id="abc",
        started_at="2026-01-02T03:04:05+00:00",
        experiments=["stream", "latency", "workingset"],
        parameters={"stream": {"threads": None}},
        budget_s=60,
        precision=0.01,
        clock=Clock(
            source="tsc",
            ns_per_tick=0.4,
            cost_ns=10,
            resolution_ns=1,
            calibration_error_ppm=0.3,
            epoch_raw_ns=0,
        ),
        system=of or system(),
        software={"python": "3.11"},
        resumed=resumed,
    )


def stream_points() -> Iterator[tuple[Point, float]]:
    """Points with the speed of their near regime; two threads, far apart, reach twice of it."""
    for (kernel, variant), speed in SPEEDS.items():
        for threads in (1, 2):
            for role in ("slice", "pass"):
                yield (
                    bandwidth_point(
                        f"stream/{kernel}/{variant}/double/{threads}t"
                        + ("/pass" if role == "pass" else ""),
                        threads=threads,
                        role=role,
                        requested={
                            "kernel": kernel,
                            "variant": variant,
                            "element": "double",
                            "threads": threads,
                            "pages": "auto",
                        },
                        actual={
                            "cpus": "0" if threads == 1 else "0-1",
                            "isa": "avx2" if variant == "standard" else "avx512",
                            "store": "temporal" if variant == "standard" else "non-temporal",
                            "pages": "thp",
                            "array_bytes": 128 * MIB,
                            "stream_conformant": True,
                        },
                        bytes_counted=24_000_000,
                        bytes_moved=32_000_000 if variant == "standard" else 24_000_000,
                    ),
                    speed,
                )


def latency_points() -> Iterator[tuple[Point, float]]:
    for level, order, pages, ns in [
        ("L1", "random", "thp", 1.0),
        ("L2", "random", "thp", 4.0),
        ("DRAM", "block-random", "thp", 150.0),
        ("DRAM", "random", "thp", 180.0),
        ("DRAM", "random", "4k", 270.0),
    ]:
        yield (
            latency_point(
                f"latency/{level}/{order}/{pages}",
                experiment="latency",
                requested={"level": level, "order": order, "pages": pages, "footprint_bytes": MIB},
                actual={"cpus": "0", "pages": pages, "huge_share": 1.0},
            ),
            ns,
        )


def workingset_points() -> Iterator[tuple[Point, float]]:
    sizes = [4 * KIB * 2**octave * step // 4 for octave in range(15) for step in (4, 5, 6, 7)]
    for size in sizes:
        ns, held = 0.0, 0.0
        for capacity, level_ns in ((32 * KIB, 1.0), (MIB, 4.0), (6 * MIB, 13.0)):
            share = max(held, min(1.0, (capacity / size) ** 2))
            ns, held = ns + (share - held) * level_ns, share
        ns += (1 - held) * 150.0
        facts = {"cpus": "0", "pages": "thp", "huge_share": 1.0}
        for access, make in (("latency", latency_point), ("read", bandwidth_point)):
            yield (
                make(
                    f"workingset/{access}/{size}",
                    experiment="workingset",
                    requested={"access": access, "footprint_bytes": size, "pages": "auto"},
                    actual=facts,
                ),
                ns if access == "latency" else 100 / ns,
            )


def records(rounds: int = ROUNDS, seed: int = 1, of: System | None = None) -> Iterator[AnyRecord]:
    """All records of a run in the order in which they are written."""
    rng = random.Random(seed)
    yield start(of)
    points = [*stream_points(), *latency_points(), *workingset_points()]
    yield from (point for point, _ in points)
    for round_ in range(rounds):
        far = rng.random() < 0.4
        for point, value in points:
            if point.role == "pass" and round_ >= 11:
                continue
            pingpong_ns = None
            speed = value * rng.gauss(1, 0.002)
            if point.threads > 1:
                pingpong_ns = rng.gauss(FAR_NS, 0.5) if far else rng.gauss(NEAR_NS, 0.5)
                speed *= 2 if far else 1
            cycles_per_ns = 4.0 if point.experiment == "latency" else None
            yield sample_of(
                point, speed, round_, pingpong_ns=pingpong_ns, cycles_per_ns=cycles_per_ns
            )
    yield environment()
    yield validation()
    yield RunEnd(status="budget", elapsed_s=42.0, rounds=rounds)


def environment(**changes: float | None) -> Environment:
    fields: dict[str, object] = {
        "at_ns": 1,
        "interval_s": 10.0,
        "steal_s": 0.0,
        "others_s": 0.0,
        "load_1min": 1.0,
        "frequency_khz": None,
    }
    return msgspec.convert(fields | changes, Environment)


def validation(*, passed: bool = True) -> Validation:
    return Validation(
        experiment="stream",
        subject="double, 2 threads",
        checks=[
            ArrayCheck(
                array=array,
                average_relative_error=0.0 if passed else 0.5,
                epsilon=1e-13,
                elements=100,
                failed_elements=0 if passed else 1,
                first_failed=-1 if passed else 7,
                passed=passed,
            )
            for array in "abc"
        ],
    )


def whole_run() -> Run:
    return run_of(records())
