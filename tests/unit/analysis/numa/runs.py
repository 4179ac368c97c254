"""Runs of `numa` made by formula: matrices of speeds, alone and at once."""

import random
from collections.abc import Mapping, Sequence

import msgspec
from tests.unit.analysis.records import sample_of
from tests.unit.analysis.runs import start, system

from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import Run, run_of
from memgauge.model.system import FirmwareSpeed, Node, System, Tier

ITERATION_BYTES = 1 << 20
ITERATIONS = 20
HOPS = 2000

Pair = tuple[int, int]
Speeds = Mapping[Pair, float]

LATENCIES = {(0, 0): 100.0, (0, 1): 180.0, (1, 0): 181.0, (1, 1): 100.0}
ALONE = {(0, 0): 40.0, (0, 1): 20.0, (1, 0): 20.1, (1, 1): 40.0}
AT_ONCE = {(0, 0): 20.0, (0, 1): 10.0, (1, 0): 10.0, (1, 1): 20.0}


def machine(
    distances: Mapping[int, Sequence[int]] | None = None, claims: Mapping[int, float] | None = None
) -> System:
    """Nodes with SLIT distances, and read latencies that HMAT claims of local memory."""
    rows = distances or {0: [10, 21], 1: [21, 10]}
    return msgspec.structs.replace(
        system(),
        nodes=[
            Node(node=n, cpus=[n], bytes=1 << 34, distances=dict(enumerate(row)))
            for n, row in rows.items()
        ],
        tiers=[
            Tier(
                kind="dram",
                placement=f"node:{node}",
                bytes=None,
                nodes=[node],
                evidence="made up",
                firmware=FirmwareSpeed(
                    from_nodes=[node], read_latency_ns=ns, read_bytes_per_s=5e10
                ),
            )
            for node, ns in (claims or {}).items()
        ],
    )


def latency_point(pair: Pair) -> Point:
    return Point(
        point=f"numa/latency/n{pair[0]}-n{pair[1]}",
        experiment="numa",
        quantity="latency",
        requested={"cpu_node": pair[0], "memory_node": pair[1], "order": "block-random"},
        actual={"cpus": str(pair[0]), "pages": "thp"},
        accesses=HOPS,
    )


def bandwidth_point(kernel: str, pair: Pair, *, at_once: bool, leader: str | None) -> Point:
    middle = "all/" if at_once else ""
    return Point(
        point=f"numa/{kernel}/{middle}n{pair[0]}-n{pair[1]}",
        experiment="numa",
        quantity="bandwidth",
        requested={
            "kernel": kernel,
            "cpu_node": pair[0],
            "memory_node": pair[1],
            "at_once": at_once,
        },
        actual={"cpus": str(pair[0]), "pages": "thp"},
        bytes_counted=ITERATION_BYTES,
        bytes_moved=ITERATION_BYTES,
        work="window",
        measured_with=leader,
    )


def window_sample(point: Point, gb_per_s: float, round_: int) -> Sample:
    took = ITERATION_BYTES / gb_per_s
    stamps = [1000 + round(took * n) for n in range(ITERATIONS + 1)]
    return Sample(
        point=point.point,
        round=round_,
        threads=[ThreadSample(cpu=0, begin_ns=stamps[:-1], end_ns=stamps[1:])],
        window_ns=(stamps[0], stamps[-1]),
    )


def _at_once(points: Sequence[Point], speeds: Sequence[float], round_: int) -> list[Sample]:
    """All over the time of the fastest, which ends first."""
    taken = [
        window_sample(point, speed, round_) for point, speed in zip(points, speeds, strict=True)
    ]
    end = min((sample.threads[0].end_ns[-1] for sample in taken), default=0)
    return [msgspec.structs.replace(sample, window_ns=(1000, end)) for sample in taken]


def numa_run(
    *,
    latencies: Speeds = LATENCIES,
    alone: Speeds = ALONE,
    at_once: Speeds | None = AT_ONCE,
    of: System | None = None,
    rounds: int = 50,
    noise: float = 0.003,
    kernel: str = "read",
) -> Run:
    rng = random.Random(7)
    rings = [(latency_point(pair), ns) for pair, ns in latencies.items()]
    singles = [
        (bandwidth_point(kernel, pair, at_once=False, leader=None), speed)
        for pair, speed in alone.items()
    ]
    together: list[Point] = []
    for pair in at_once or {}:
        leader = together[0].point if together else None
        together.append(bandwidth_point(kernel, pair, at_once=True, leader=leader))
    declared = [*(p for p, _ in rings), *(p for p, _ in singles), *together]
    records: list[AnyRecord] = [start(of or machine()), *declared]
    for round_ in range(rounds):
        records += [sample_of(p, ns * rng.gauss(1, noise), round_) for p, ns in rings]
        records += [window_sample(p, s * rng.gauss(1, noise), round_) for p, s in singles]
        pace = rng.gauss(1, noise)
        records += _at_once(together, [s * pace for s in (at_once or {}).values()], round_)
    return run_of(records)
