"""Runs of `interleave` made by formula: nodes that serve their shares side by side."""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.unit.analysis.records import bandwidth_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.experiments.interleave.weights import label
from memgauge.model.interleave_weights import Weights, placement
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of
from memgauge.model.storage.run_file import RunWriter
from memgauge.model.system import FirmwareSpeed, System, Tier


def together(speeds: Sequence[float], weights: Weights) -> float:
    """GB/s: each node takes as long as its share needs, the slowest ends last."""
    whole = sum(weights)
    return 1 / max(w / whole / s for w, s in zip(weights, speeds, strict=True))


def machine(
    nodes: Sequence[int],
    kernels: Sequence[int | None] = (),
    claimed_gb_per_s: Sequence[float] = (),
) -> System:
    """Nodes with weights of the kernel, and bandwidths that the firmware claims."""
    known = list(kernels) or [None] * len(nodes)
    claims: list[float | None] = [*claimed_gb_per_s] or [None] * len(nodes)
    tiers = [
        Tier(
            kind="dram",
            placement=f"node:{node}",
            bytes=None,
            nodes=[node],
            evidence="made up",
            interleave_weight=weight,
            firmware=None
            if claim is None
            else FirmwareSpeed(
                from_nodes=[0], read_bytes_per_s=claim * 1e9, write_bytes_per_s=claim * 2e9
            ),
        )
        for node, weight, claim in zip(nodes, known, claims, strict=True)
    ]
    return msgspec.structs.replace(system(), tiers=tiers)


def interleave_run(
    speeds: Sequence[float],
    swept: Sequence[Weights],
    *,
    nodes: Sequence[int] = (0, 2),
    kernels: Sequence[str] = ("copy",),
    of: System | None = None,
    rounds: int = 60,
    noise: float = 0.003,
    drift: float = 0.0,
    largest_sum: int = 100,
    seed: int = 5,
) -> Run:
    """All weights in turn; `drift` slows the machine down by so much over the run."""
    rng = random.Random(seed)
    points = [
        (
            bandwidth_point(
                f"interleave/{kernel}/{label(nodes, weights)}/4t",
                experiment="interleave",
                threads=4,
                requested={
                    "kernel": kernel,
                    "nodes": ",".join(map(str, nodes)),
                    "weights": ",".join(map(str, weights)),
                    "threads": 4,
                    "memory": str(placement(nodes, weights)),
                },
                actual={"cpus": "0-3", "largest_sum": largest_sum, "array_bytes": 1 << 30},
                bytes_counted=64_000_000,
            ),
            together(speeds, weights),
        )
        for kernel in kernels
        for weights in swept
    ]
    records: list[AnyRecord] = [start(of), *(point for point, _ in points)]
    for round_ in range(rounds):
        pace = 1 - drift * round_ / rounds
        records += [
            sample_of(point, speed * pace * rng.gauss(1, noise), round_) for point, speed in points
        ]
    return run_of(records)


def write_three_to_one(place: Path, machine_id: str) -> None:
    """A run of a machine on which 3:1 are the best weights of nodes 0 and 1.

    Args:
        place: Directory to be made.
        machine_id: Of that machine.
    """
    swept = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (4, 1)]
    made = interleave_run((30.0, 10.0), swept, nodes=(0, 1), rounds=20)
    of = msgspec.structs.replace(made.start.system, machine_id=machine_id)
    with RunWriter(place) as writer:
        writer.write([msgspec.structs.replace(made.start, system=of), *made.points.values()])
        writer.write([one for samples in made.samples.values() for one in samples])
