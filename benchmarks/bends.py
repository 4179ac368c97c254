"""How often do curves bend that do not, and are those found that do, by simulation?

    python -m benchmarks.bends --curves 400

Curves of bandwidth over threads with normal noise of 1% and 3%: the share of those in which no
bend, one, two, or a gradual one is found, first by values alone, then with intervals that tell the
noise.

Goal: at most 5% of straight and of level curves bend; not every smooth saturation has two bends.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable

from benchmarks.rounds import table
from memgauge.analysis.statistics.bends import find_bends
from memgauge.analysis.statistics.estimate import Estimate

Law = Callable[[float], float]

LAWS: dict[str, tuple[Law, int]] = {
    **{f"straight, {count} sizes": (lambda x: x, count) for count in (5, 6, 8, 12, 16, 32)},
    **{f"level, {count} sizes": (lambda _: 1.0, count) for count in (5, 8, 16)},
    "one bend at 8 of 16": (lambda x: min(x, 8) + 0.05 * max(0, x - 8), 16),
    "bends at 5 and 11 of 16": (lambda x: min(x, 5) + 0.4 * max(0, min(x, 11) - 5), 16),
    "smooth: exponential": (lambda x: 1 - math.exp(-x / 4), 16),
    "smooth: hyperbola": (lambda x: x / math.hypot(1, x / 8), 16),
    "smooth: Amdahl": (lambda x: x / (1 + 0.1 * (x - 1)), 16),
}
KINDS = ("none", "one", "two", "gradual")


def shares(law: Law, count: int, noise: float, curves: int, *, known: bool) -> str:
    """How often each kind is found, in %."""
    rng = random.Random(f"{count} {noise} {known}")
    found = dict.fromkeys(KINDS, 0)
    for _ in range(curves):
        values = [law(x) * (1 + rng.gauss(0, noise)) for x in range(1, count + 1)]
        half = 1.96 * noise if known else math.inf
        bends = find_bends(
            [
                (at, Estimate(value, max(0.0, value * (1 - half)), value * (1 + half)))
                for at, value in enumerate(values, start=1)
            ]
        )
        is_gradual = any(bend.is_gradual for bend in bends)
        found["gradual" if is_gradual else KINDS[len(bends)]] += 1
    return " / ".join(f"{100 * one / curves:.0f}" for one in found.values())


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--curves", type=int, default=400)
    curves = parser.parse_args().curves
    rows = [
        [name, *(shares(*law, noise, curves, known=known) for noise, known in COLUMNS)]
        for name, law in LAWS.items()
    ]
    print(f"Found in % of {curves} curves: {' / '.join(KINDS)}")
    print("Goal: at least 95 without a bend among straight and level ones\n")
    titles = [f"noise {noise:.0%}{', known' if known else ''}" for noise, known in COLUMNS]
    print(table(["curve", *titles], rows))
    print(f"\nOf 1,000 sizes: {_seconds(1000):.1f} s")


COLUMNS = [(noise, known) for known in (False, True) for noise in (0.01, 0.03)]


def _seconds(count: int) -> float:
    begin = time.perf_counter()
    find_bends([(x, Estimate(min(x, 300.0), 0.0, math.inf)) for x in range(1, count + 1)])
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
