"""Two groups on one DRAM: their sum over all splits against stream's bandwidth, interleaved.

    python -m benchmarks.competition [--threads 2] [--rounds 40]

Both groups work in ordinary memory, so that the split means nothing and the sum must be what
stream's arrays give. STREAM's rule divides all bytes by the time until the slowest thread has
ended; groups are valued by what all did while all were at work. Where threads have unequal paces
the two differ by definition, so stream is valued by both: `waiting` is STREAM's rule, `at work`
adds up what each thread reaches in its own time. Every round has one visit of each split and a pass
of stream as long beside it; a visit in which a thread was switched out is left out, with its pair.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence

from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.system.detect import detect
from memgauge.system.topology.placement import cpus_for

ARRAY_BYTES = 80_000_000
"""Of each thread."""
ITERATION_BYTES = 4 << 20
BLOCKS = 16
DURATION_NS = 10e6
KERNELS = ("copy", "triad")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=40)
    requested = parser.parse_args(arguments)
    team = _core.Team(cpus_for("cores", requested.threads, detect()))
    for kernel in KERNELS:
        waiting, at_work = _compare(team, kernel, requested.rounds)
        lines = [
            [str(k), waiting[k].text(), at_work[k].text()] for k in range(requested.threads + 1)
        ]
        header = ["threads in B", "sum / stream, waiting", "sum / stream, at work"]
        sys.stdout.write(f"\n{kernel}, {requested.threads} threads\n{table(header, lines)}\n")
    return 0


def _compare(
    team: _core.Team, kernel: str, rounds: int
) -> tuple[dict[int, Ratios], dict[int, Ratios]]:
    threads = len(team.cpus)
    spec = _core.default_tuned_spec(kernel)
    arrays = _core.StreamArrays(team, threads * ARRAY_BYTES // 8, blocks=BLOCKS)
    ordinary = _core.Memory()
    sources = 2 if kernel == "triad" else 1
    groups = _core.Competition(
        team,
        [_core.Member(rank, ordinary, ordinary, sources, 1) for rank in range(threads)] * 2,
        ARRAY_BYTES,
    )
    waiting: dict[int, Ratios] = defaultdict(Ratios)
    at_work: dict[int, Ratios] = defaultdict(Ratios)
    for round_ in range(rounds):
        for k in range(threads + 1):
            first = _stream(arrays, spec, round_)
            active = [
                (rank + (threads if rank >= threads - k else 0), spec) for rank in range(threads)
            ]
            total = _sum(groups.run(active, ITERATION_BYTES, duration_ns=DURATION_NS))
            if first is not None and total is not None:
                waiting[k].values.append(total / first[0])
                at_work[k].values.append(total / first[1])
    return waiting, at_work


def _stream(
    arrays: _core.StreamArrays, spec: _core.KernelSpec, round_: int
) -> tuple[float, float] | None:
    """GB/s by STREAM's rule, and as the sum of what each thread reaches in its own time."""
    half = BLOCKS // 2
    first = round_ % 2 * half
    taken = arrays.run(spec, first_block=first, blocks=half, lead_in_blocks=1).threads
    if any(thread.involuntary_switches for thread in taken):
        return None
    size = arrays.elements_per_block * half * (spec.counted_read_bytes + spec.counted_write_bytes)
    elapsed_ns = max(t.end_ns[-1] for t in taken) - min(t.begin_ns[0] for t in taken)
    rates = (size / (t.end_ns[-1] - t.begin_ns[0]) for t in taken)
    return size * len(taken) / elapsed_ns, sum(rates)


def _sum(taken: _core.CompetitionSlice) -> float | None:
    """GB/s of all threads over whole iterations."""
    threads = taken.slice.threads
    if any(thread.involuntary_switches for thread in threads):
        return None
    return sum(
        len(t.begin_ns) * (t.read_bytes + t.write_bytes) / (t.end_ns[-1] - t.begin_ns[0])
        for t in threads
    )


if __name__ == "__main__":
    sys.exit(main())
