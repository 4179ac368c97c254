"""Nodes of a cluster made by formula: figures with a known spread, and facts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import msgspec

from memgauge.analysis.cluster.groups import Cluster
from memgauge.model.storage.cluster import ClusterNode, FigureOfNode, Manifest, NodeFigures

NAMES = (
    ("stream/triad/tuned/double/2t", "GB/s", 50.0),
    ("stream/triad/standard/double/1t", "GB/s", 20.0),
    ("latency/L1/random/thp", "ns", 1.1),
    ("latency/DRAM/block-random/thp", "ns", 120.0),
)
FACTS = {
    "processor": "Example Processor",
    "frequency governor": "performance",
    "transparent huge pages": "always",
}


def figure(
    name: str, value: float, unit: str = "GB/s", share: float | None = 0.002
) -> FigureOfNode:
    """Known to `share`, half its interval; None: not known."""
    return FigureOfNode(
        name=name,
        regime="",
        unit=unit,
        direction="higher" if unit == "GB/s" else "lower",
        statistic="90th percentile of speed",
        value=value,
        low=None if share is None else value * (1 - share),
        high=None if share is None else value * (1 + share),
    )


def node(speed: float = 1.0, rng: random.Random | None = None, **changes: object) -> NodeFigures:
    """Figures of a node `speed` times as fast as usual, each with 1% of spread where `rng`."""
    figures = []
    for name, unit, usual in NAMES:
        factor = speed * (rng.gauss(1, 0.01) if rng else 1.0)
        figures.append(figure(name, usual * factor if unit == "GB/s" else usual / factor, unit))
    fields: dict[str, object] = {
        "format_version": 1,
        "memgauge_version": "0.1.0",
        "run_id": "abc",
        "started_at": "2026-01-02T03:04:05+00:00",
        "status": "ended by its budget; 60 s",
        "ended": "budget",
        "facts": FACTS,
        "shares": {"steal": 0.0, "other programs": 0.0},
        "clock_ghz": 3.0,
        "cpus": 2,
        "sockets": 1,
        "numa_nodes": 1,
        "figures": figures,
    }
    return msgspec.convert(msgspec.to_builtins(fields | changes), NodeFigures)


def manifest(names: Sequence[str], **changes: object) -> Manifest:
    fields: dict[str, object] = {
        "format_version": 1,
        "memgauge_version": "0.1.0",
        "cluster_id": "job",
        "started_at": "2026-01-02T03:04:05+00:00",
        "launcher": "mpirun of Open MPI",
        "mpi": "Open MPI v4.1.4",
        "ranks": len(names),
        "arguments": ["survey"],
        "budget_s": 60.0,
        "nodes_at_once": None,
        "grace_s": 60.0,
        "nodes": [manifest_node(name, rank) for rank, name in enumerate(names)],
        "ended": True,
    }
    return msgspec.convert(msgspec.to_builtins(fields | changes), Manifest)


def manifest_node(name: str, rank: int = 0, /, **changes: object) -> ClusterNode:
    fields: dict[str, object] = {
        "name": name,
        "hostname": name,
        "boot": f"boot of {name}",
        "ranks": [rank],
        "cpus": 2,
        "cpus_why": "",
        "state": "done",
        "elapsed_s": 60.0,
        "exit_code": 0,
    }
    return ClusterNode(**(fields | changes))  # type: ignore[arg-type]


def cluster(
    figures: Mapping[str, NodeFigures], missing: Mapping[str, str] | None = None, **changes: object
) -> Cluster:
    missing = dict(missing or {})
    return Cluster(
        manifest=manifest([*figures, *missing], **changes), figures=dict(figures), missing=missing
    )


def alike(count: int, seed: int = 1) -> dict[str, NodeFigures]:
    rng = random.Random(seed)
    return {f"node{at}": node(rng=rng) for at in range(count)}
