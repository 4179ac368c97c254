"""Does waking each other keep two CPUs near that a hypervisor moves? In pairs of passes.

    python -m benchmarks.diagnose.near --pairs 30 --seconds 1

In each pass both CPUs work for as long, as a program and a generator do: once with what a diagnosis
does to bring the cores near and to keep them so, once with its looks alone, in random order. Only
where the distance changes by itself is there anything to see: else it says that it does not.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from statistics import fmean

from benchmarks.diagnose.replicated import head, row
from memgauge.experiments.diagnose.pressure.core_distance import (
    LOOK_EVERY_S,
    CoreDistance,
    border_between,
)

WAYS = ("looks alone", "woken")


def main() -> None:
    """Print the share of looks that found the cores near, in each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each pass")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    distances = {
        "looks alone": CoreDistance(cpus, wake=lambda: None),
        "woken": CoreDistance(cpus),
    }
    seen: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for _ in range(options.pairs):
        for way in random.sample(WAYS, len(WAYS)):
            seen[way].append(_pass(distances[way], cpus, options.seconds))
    border_ns = border_between(ns for passes in seen.values() for one in passes for ns in one)
    if border_ns is None:
        print("The two CPUs were at one distance all the time: there is nothing to bring near.")
        return
    head(["way", "passes", "looks near", "passes near in 85% of their looks"])
    for way, passes in seen.items():
        shares = [fmean(ns < border_ns for ns in one) for one in passes if one]
        near = fmean(share >= 0.85 for share in shares)
        row([way, len(shares), f"{fmean(shares):.0%}", f"{near:.0%}"])


def _pass(distance: CoreDistance, cpus: list[int], seconds: float) -> list[float]:
    distance.begin()
    program = os.fork()
    if program == 0:
        os.sched_setaffinity(0, {cpus[0]})
        while True:
            pass
    os.sched_setaffinity(0, {cpus[1]})
    try:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            piece_s = time.monotonic() + min(0.01, LOOK_EVERY_S)
            while time.monotonic() < piece_s:
                pass
            distance.keep()
    finally:
        os.kill(program, 9)
        os.waitpid(program, 0)
        os.sched_setaffinity(0, set(cpus))
    return distance.end()


if __name__ == "__main__":
    main()
