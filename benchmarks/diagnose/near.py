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
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import fmean

from benchmarks.diagnose.replicated import head, row
from memgauge import _core
from memgauge.experiments.diagnose.pressure.core_distance import (
    CoreDistance,
    border_between,
)

WAYS = ("looks alone", "woken")
BEFORE_S = 2.0
"""Of the same work before each pass, so that what was done in one is forgotten in the next."""
PIECE_S = 0.01


def main() -> None:
    """Print the share of looks that found the cores near, in each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each pass")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    seen: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        distances = {
            "looks alone": CoreDistance(_core.Team(cpus).pingpong_ns, lambda: False, lambda: None),
            "woken": CoreDistance.between(cpus, stack),
        }
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
        row([way, str(len(shares)), f"{fmean(shares):.0%}", f"{near:.0%}"])


def _pass(distance: CoreDistance, cpus: list[int], seconds: float) -> list[float]:
    _work(cpus, BEFORE_S, lambda: None)
    distance.begin()
    _work(cpus, seconds, distance.keep)
    return distance.end()


def _work(cpus: list[int], seconds: float, between: Callable[[], None]) -> None:
    """A program on one CPU, a generator on the other, which does something else between pieces."""
    program = os.fork()
    if program == 0:
        os.sched_setaffinity(0, {cpus[0]})
        while True:
            pass
    os.sched_setaffinity(0, {cpus[1]})
    try:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            piece_s = time.monotonic() + PIECE_S
            while time.monotonic() < piece_s:
                pass
            between()
    finally:
        os.kill(program, signal.SIGKILL)
        os.waitpid(program, 0)
        os.sched_setaffinity(0, set(cpus))


if __name__ == "__main__":
    main()
