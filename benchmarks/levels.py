"""Are cache levels found in sharp and gradual curves, beside noise and translation, by simulation?

    python -m benchmarks.levels --curves 40

Three caches and memory, hits beyond a capacity falling as (capacity / footprint)^p: p of 50 is
sharp, 1 gradual. Found: four levels, each capacity within 1.6 times the true one, each latency
within 30%. Then the same with translation beyond 1.5 MiB, of which L3's capacity alone is asked.

Goal: sharp levels found 95% at noise of 8%, gradual ones 90%.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence

from benchmarks.rounds import table
from memgauge.analysis.statistics.level import Level
from memgauge.analysis.statistics.levels import find_levels

KIB, MIB = 1 << 10, 1 << 20
CAPACITIES = (32 * KIB, MIB, 32 * MIB)
LATENCIES = (1.09, 3.8, 13.0, 110.0)
LARGEST = 256 * MIB
REACH = 1536 * KIB
NOISES = (0.0, 0.02, 0.04, 0.06, 0.08)
POWERS = {"sharp": 50.0, "square": 2.0, "gradual": 1.0}


def footprints() -> list[int]:
    """Four an octave up to 8 MiB, then two, as `workingset` measures them."""
    sizes, size = [], 4 * KIB
    while size < LARGEST:
        sizes += [size * part // 4 for part in ((4, 5, 6, 7) if size < 8 * MIB else (4, 6))]
        size *= 2
    return [*sizes, LARGEST]


def curve(
    rng: random.Random, power: float, noise: float, tlb_ns: float = 0.0
) -> list[tuple[int, float]]:
    """A random walk over the made-up caches."""
    points = []
    for size in footprints():
        held, ns = 0.0, tlb_ns * max(0.0, 1 - REACH / size)
        for capacity, latency in zip(CAPACITIES, LATENCIES, strict=False):
            share = max(held, min(1.0, (capacity / size) ** power))
            ns += (share - held) * latency
            held = share
        ns += (1 - held) * LATENCIES[-1]
        points.append((size, ns * math.exp(rng.gauss(0, noise))))
    return points


def is_right(levels: Sequence[Level]) -> bool:
    """All levels, in their places."""
    if len(levels) != len(LATENCIES) or levels[-1].capacity_bytes is not None:
        return False
    near = all(
        abs(math.log(level.latency_ns / ns)) < 0.3
        for level, ns in zip(levels, LATENCIES, strict=True)
    )
    return near and all(map(_is_near, levels, CAPACITIES))


def _is_near(level: Level, capacity: int) -> bool:
    return capacity / 1.6 <= level.capacity_low_bytes <= 1.6 * capacity


def main() -> None:
    """Parse arguments and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--curves", type=int, default=40)
    curves = parser.parse_args().curves
    rows, translated = [], []
    for name, power in POWERS.items():
        row = [name]
        for noise in NOISES:
            rng = random.Random(f"{name} {noise}")
            found = sum(is_right(find_levels(curve(rng, power, noise))) for _ in range(curves))
            row.append(f"{found / curves:.0%}")
        rows.append(row)
        row = [name]
        for tlb_ns in (6.0, 12.0, 20.0):
            rng = random.Random(f"{name} {tlb_ns}")
            found = sum(
                any(_is_near(level, CAPACITIES[2]) for level in
                    find_levels(curve(rng, power, 0.02, tlb_ns))[:-1])
                for _ in range(curves)
            )  # fmt: skip
            row.append(f"{found / curves:.0%}")
        translated.append(row)
    print(f"All four levels found, of {curves} curves (goal: sharp 95% at 8%, gradual 90%)\n")
    print(table(["curve", *(f"noise {noise:.0%}" for noise in NOISES)], rows))
    print("\nL3 found at its size beside translation, noise of 2%\n")
    print(table(["curve", "6 ns", "12 ns", "20 ns"], translated))


if __name__ == "__main__":
    main()
