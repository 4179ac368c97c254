"""How often do cross-checks agree, disagree or leave it open, by simulation?

    python -m benchmarks.cross_checks --pairs 300

Two figures of the same thing, each the 90th percentile of 120 rounds with normal noise, apart by a
known share; judged as a pair of latencies (5% allowed) and as one of bandwidths (3%).

Goal: latencies that are 2% apart do not disagree; bandwidths that are 10% apart beside noise of 8%
are found to disagree in most cases, equal ones never.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from benchmarks.rounds import table
from memgauge.analysis.report.checks import BANDWIDTH_SHARE, LATENCY_SHARE, Check, judged
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.analysis.statistics.ratios import ratio

ROUNDS = 120
NOISES = (0.005, 0.02, 0.05, 0.08)
APART = (0.0, 0.02, 0.05, 0.1, 0.15)
CHECK = Check(what="", unit="", one_name="", other_name="")
OUTCOMES = ("agrees", "disagrees", "inconclusive")


def outcomes(apart: float, noise: float, allowed: float, pairs: int) -> str:
    """How often each, in %."""
    rng = random.Random(f"{apart} {noise} {allowed}")

    def figure(level: float) -> Estimate | None:
        return sustained([level * rng.gauss(1, noise) for _ in range(ROUNDS)])

    found: Counter[str] = Counter(
        judged(CHECK, ratio(figure(1 + apart), figure(1.0)), allowed).outcome for _ in range(pairs)
    )
    return " / ".join(f"{100 * found[outcome] / pairs:.0f}" for outcome in OUTCOMES)


def main() -> None:
    """Parse arguments and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=300)
    pairs = parser.parse_args().pairs
    for name, allowed in (("latencies", LATENCY_SHARE), ("bandwidths", BANDWIDTH_SHARE)):
        print(f"\nTwo {name}, {allowed:.0%} allowed: {' / '.join(OUTCOMES)}, in % of {pairs}\n")
        rows = [
            [f"{apart:.0%} apart", *(outcomes(apart, noise, allowed, pairs) for noise in NOISES)]
            for apart in APART
        ]
        print(table(["", *(f"noise {noise:.1%}" for noise in NOISES)], rows))


if __name__ == "__main__":
    main()
