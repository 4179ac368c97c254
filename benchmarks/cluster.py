"""Combining many nodes into one report: how long it takes and how much memory.

    python -m benchmarks.cluster RUN [--nodes 1000] [--keep DIR]

RUN is a survey measured on any machine. Its figures are varied by a seeded formula into SYNTHETIC
nodes: nobody measured them, and they are for this benchmark only. Each varies by 1%, a few are made
slow, with facts that tell why. Asserted: below 10 s and 1 GiB for 1,000 nodes, page included.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from memgauge.analysis.cluster.node import node_figures
from memgauge.cluster.combined import write_manifest
from memgauge.model.storage.cluster import (
    CLUSTER_VERSION,
    FIGURES_NAME,
    ClusterNode,
    Manifest,
    NodeFigures,
    node_directory,
)
from memgauge.model.storage.run_file import read_run

LEAST_NODES_ASSERTED = 1000
MOST_S, MOST_BYTES = 10.0, 1 << 30
SPREAD = 0.01


def make(run: Path, directory: Path, nodes: int) -> None:
    """A combined run of synthetic nodes."""
    measured = node_figures(read_run(run))
    names = [f"synthetic{at:04}" for at in range(1, nodes + 1)]
    for at, name in enumerate(names):
        place = node_directory(directory, name)
        place.mkdir(parents=True)
        made = varied(measured, random.Random(at), at)
        (place / FIGURES_NAME).write_bytes(msgspec.json.encode(made))
    write_manifest(directory, manifest(names, at_once=None))


def varied(measured: NodeFigures, rng: random.Random, at: int) -> NodeFigures:
    """The figures of one node: 1% of spread, 15% slow in every 97th, whose facts tell why."""
    slow = 0.85 if at % 97 == 13 else 1.0
    figures = []
    for one in measured.figures:
        factor = rng.gauss(1, SPREAD) * (slow if one.direction == "higher" else 1 / slow)
        value = one.value * factor
        figures.append(
            msgspec.structs.replace(one, value=value, low=value * 0.997, high=value * 1.003)
        )
    facts = measured.facts | {"frequency governor": "powersave" if slow < 1 else "performance"}
    shares = measured.shares | {"steal": 0.12 if at % 194 == 13 else 0.0}
    return msgspec.structs.replace(
        measured, figures=figures, facts=facts, shares=shares, run_id=f"synthetic{at}"
    )


def manifest(names: list[str], *, at_once: int | None) -> Manifest:
    """Of a job that ended well."""
    return Manifest(
        format_version=CLUSTER_VERSION,
        memgauge_version="synthetic",
        cluster_id="synthetic",
        started_at="2026-01-01T00:00:00+00:00",
        launcher="synthetic",
        mpi="synthetic",
        ranks=len(names),
        arguments=["survey"],
        budget_s=60.0,
        nodes_at_once=at_once,
        grace_s=60.0,
        nodes=[
            ClusterNode(
                name=name,
                hostname=name,
                boot=name,
                ranks=[rank],
                cpus=2,
                cpus_why="",
                state="done",
                elapsed_s=60.0,
                exit_code=0,
            )
            for rank, name in enumerate(names)
        ],
        ended=True,
    )


def measure(directory: Path) -> tuple[float, int]:
    """Seconds and peak bytes of a process that combines and renders, as `memgauge report` does."""
    began_s = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "memgauge", "report", str(directory)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    elapsed_s = time.perf_counter() - began_s
    return elapsed_s, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    requested = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = requested.keep or Path(temporary) / "run"
        make(requested.run, directory, requested.nodes)
        elapsed_s, peak_bytes = measure(directory)
        page_bytes = (directory / "report.html").stat().st_size
    print(f"{requested.nodes} synthetic nodes combined: {elapsed_s:.2f} s, page of "
          f"{page_bytes / 1e6:.1f} MB, peak {peak_bytes / (1 << 20):.0f} MiB")  # fmt: skip
    failed = requested.nodes >= LEAST_NODES_ASSERTED and (
        elapsed_s > MOST_S or peak_bytes > MOST_BYTES
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
