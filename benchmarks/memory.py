"""What `--memory` adds: STREAM on other names for the same DRAM, interleaved, as ratios to `dram`.

    python -m benchmarks.memory --memory node:0 --memory file:/mnt/huge/arrays [--threads 1,2]

Give names of memory that is the same hardware: a node of a machine with one, a file on a tmpfs
mounted with huge=always, shm:. In each round all arrays are allocated anew, because which pages a
buffer gets is part of what it costs; then slices of each are timed in turn, in an order that
rotates. A round gives one ratio: that of the median speeds.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.system.detect import detect
from memgauge.system.memory.sources import opened
from memgauge.system.topology.placement import cpus_for

KERNELS = ("copy", "triad", "read")
BLOCKS = 16
LEAD_IN_BLOCKS = 4
ARRAY_BYTES = 160_000_000
SLICES = 64
"""Of each kernel and memory in a round."""
DRAM = MemoryPlacement()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table for each team."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="append", required=True)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--pages", default="auto")
    requested = parser.parse_args(arguments)
    placements = [DRAM, *(parse_placement(text, "--memory") for text in requested.memory)]
    system = detect()
    for threads in map(int, requested.threads.split(",")):
        team = _core.Team(cpus_for("cores", threads, system))
        ratios: dict[tuple[str, str], Ratios] = defaultdict(Ratios)
        for _ in range(requested.rounds):
            for (kernel, memory), ratio in _round(team, placements, requested.pages).items():
                ratios[kernel, memory].values.append(ratio)
        header = ["kernel", *(f"{placement} / dram" for placement in placements[1:])]
        lines = [[name, *(ratios[name, str(p)].text() for p in placements[1:])] for name in KERNELS]
        sys.stdout.write(
            f"\n{threads} threads, {requested.rounds} rounds\n{table(header, lines)}\n"
        )
    return 0


def _round(
    team: _core.Team, placements: Sequence[MemoryPlacement], pages: str
) -> dict[tuple[str, str], float]:
    """By kernel and memory: median speed over that of `dram`."""
    speeds: dict[tuple[str, str], list[float]] = defaultdict(list)
    wanted = dict.fromkeys(placements, 4 * ARRAY_BYTES)
    specs = {kernel: _core.default_tuned_spec(kernel) for kernel in KERNELS}
    with opened(wanted) as memories:
        made = {
            placement: _core.StreamArrays(
                team,
                ARRAY_BYTES // 8,
                pages=pages,
                memory=memories.of(placement),
                blocks=BLOCKS,
            )
            for placement in placements
        }
        for turn in range(SLICES):
            for kernel, spec in specs.items():
                shift = turn % len(placements)
                for placement in [*placements[shift:], *placements[:shift]]:
                    speeds[kernel, str(placement)].append(_speed(made[placement], spec, turn))
        for arrays in made.values():
            arrays.close()
    return {
        (kernel, memory): median(values) / median(speeds[kernel, str(DRAM)])
        for (kernel, memory), values in speeds.items()
    }


def _speed(arrays: _core.StreamArrays, spec: _core.KernelSpec, turn: int) -> float:
    """Bytes a ns of one slice; the same count for all memories, so only ratios mean something."""
    taken = arrays.run(spec, first_block=turn % BLOCKS, lead_in_blocks=LEAD_IN_BLOCKS).threads
    elapsed_ns = max(t.end_ns[-1] for t in taken) - min(t.begin_ns[0] for t in taken)
    return arrays.elements_per_block * len(taken) / elapsed_ns


if __name__ == "__main__":
    sys.exit(main())
