"""Idle latency of memgauge against multichase, on the same rings and pages, interleaved.

    python -m benchmarks.latency --rounds 10 --peers DIR

multichase visits nodes at random within 256 KiB (in memory 256 bytes apart, here in caches 64) and
reports the best of its samples of half a second. memgauge walks rings of the same shape, a tenth of
that time for each figure. Printed: the ratio of the two best values, and how long memgauge needed
for an interval of one per cent.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.analysis.statistics.intervals import precision, sustained

MULTICHASE_SAMPLES = 5
MULTICHASE_SECONDS = MULTICHASE_SAMPLES * 0.5
NODE_BYTES = 256
BLOCK_BYTES = 256 << 10
SIZES = {"L1": 24 << 10, "L2": 512 << 10, "L3": 4 << 20, "DRAM": 256 << 20}
SLICE_HOPS = {"L1": 50_000, "L2": 20_000, "L3": 20_000, "DRAM": 5_000}
REQUESTED = 0.01
LEAST_SAMPLES = 40


def shape(level: str) -> tuple[int, int]:
    """Bytes of a node and of a block: every line where a cache is meant, or it would hold more."""
    return (NODE_BYTES, BLOCK_BYTES) if level == "DRAM" else (64, min(SIZES[level], BLOCK_BYTES))


def multichase(program: str, level: str, *, huge: bool) -> float | None:
    """Its best latency in ns; None when it prints no number."""
    size = SIZES[level]
    node, locality = shape(level)
    arguments = [
        "-m",
        str(size),
        "-s",
        str(node),
        "-T",
        str(locality),
        "-n",
        str(MULTICHASE_SAMPLES),
    ]
    done = subprocess.run(
        ["taskset", "-c", "0", program, *(["-H"] if huge else []), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return float(done.stdout.split()[-1])
    except (IndexError, ValueError):
        return None


class Ring:
    """memgauge's ring of the same shape."""

    def __init__(self, level: str, *, huge: bool) -> None:
        size = SIZES[level]
        node, block = shape(level)
        self._hops = SLICE_HOPS[level]
        self._ring = _core.ChaseRing(
            _core.Team([0]),
            size,
            node_bytes=node,
            block_bytes=block,
            order="block-random",
            pages="thp" if huge else "4k",
        )
        self._sweeps = 4 if level != "DRAM" else 0

    def measure(self, limit_s: float) -> tuple[float, float | None]:
        """Best ns an access, and seconds until its interval was one per cent; None: not reached."""
        values: list[float] = []
        began = time.monotonic()
        reached: float | None = None
        while time.monotonic() - began < limit_s:
            taken = self._ring.run(self._hops, sweeps=0 if values else self._sweeps).threads[0]
            values.append((taken.end_ns[0] - taken.begin_ns[0]) / self._hops)
            if reached is None and len(values) >= LEAST_SAMPLES:
                estimate = sustained(values, 0.1)
                if precision(estimate) <= REQUESTED:
                    reached = time.monotonic() - began
        return min(values), reached


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--peers", type=Path, action="append", default=[], metavar="DIR")
    chosen = parser.parse_args()
    path = os.pathsep.join([*map(str, chosen.peers), os.environ.get("PATH", "")])
    program = shutil.which("multichase", path=path)
    if program is None:
        print("multichase was not found, so nothing is compared")
        return
    ratios: dict[tuple[str, str], Ratios] = defaultdict(Ratios)
    figures: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    times: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    rings = {(level, p): Ring(level, huge=p == "thp") for level in SIZES for p in ("thp", "4k")}
    for _ in range(chosen.rounds):
        for key, ring in rings.items():
            level, pages = key
            theirs = multichase(program, level, huge=pages == "thp")
            mine, reached = ring.measure(MULTICHASE_SECONDS / 10)
            times[key].append(reached)
            if theirs:
                ratios[key].values.append(mine / theirs)
                figures[key].append((mine, theirs))
    lines = []
    for (level, pages), pairs in figures.items():
        middle = sorted(pairs)[len(pairs) // 2]
        got = sorted(t for t in times[level, pages] if t is not None)
        lines.append(
            [
                level,
                pages,
                f"{middle[0]:.2f}",
                f"{middle[1]:.2f}",
                ratios[level, pages].text(),
                f"{got[len(got) // 2] * 1e3:.0f} ms in {len(got)} of {len(times[level, pages])}"
                if got
                else "not reached",
            ]
        )
    head = ["level", "pages", "memgauge ns", "multichase ns", "ratio", "1% interval after"]
    print(table(head, lines))


if __name__ == "__main__":
    main()
