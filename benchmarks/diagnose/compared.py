"""Pairs of diagnoses on simulated machines: does `compare` find differences, and only those?

    python -m benchmarks.diagnose.compared --replications 2000

Two programs of known shares are diagnosed as in `simulated`, each run ended early as a real one is,
and compared by the share of time like waiting for memory: how often the interval of the difference
holds the true one, and how often it is said to differ. On the second machine pressure is stronger
than on the first, as when two runs got other CPUs: shares must not differ for that.
"""

from __future__ import annotations

import random
from collections import Counter

from benchmarks.diagnose.replicated import Options, head, parser, row
from benchmarks.diagnose.simulated import (
    MACHINES,
    NEAR,
    PRESSURES,
    Machine,
    Truth,
    decided_rounds,
    first_rounds,
    judged,
    passes,
)
from memgauge.analysis.diagnose.judgement import OF_MEMORY
from memgauge.analysis.statistics.differences import difference
from memgauge.analysis.statistics.estimate import Estimate

STRONGER = Machine(name="stronger", stretch={**NEAR, "write": (1.9, 3.0, 3.0)})
PAIRS = ((0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (1.0, 1.0), (0.5, 0.45), (0.5, 0.4), (0.5, 0.2))
"""Shares of time that the one program and the other wait for memory."""


def share_of(machine: Machine, latency: float, most: int, draw: random.Random) -> Estimate | None:
    """The share that a comparison would take of one diagnosis; None: it has none."""
    truth = Truth(name="", latency=latency, right=frozenset())
    made = passes(machine, truth, most, draw)
    judgement = judged(first_rounds(made, decided_rounds(PRESSURES, made, most)))
    return judgement.latency_share if judgement.kind in OF_MEMORY | {"not memory"} else None


def main() -> None:
    """Print a row for each pair of machines and each pair of programs."""
    options = parser(__doc__, replications=400).parse_args(namespace=Options())
    draw = random.Random(options.seed)
    head(["machines", "shares", "told", "covered", "differs"])
    for first, second in ((MACHINES[0], MACHINES[0]), (MACHINES[0], STRONGER), (MACHINES[1],) * 2):
        for one, other in PAIRS:
            found: Counter[str] = Counter()
            for _ in range(options.replications):
                shares = [
                    share_of(machine, latency, options.rounds, draw)
                    for machine, latency in ((first, one), (second, other))
                ]
                interval = difference(shares[1], shares[0])
                if interval is None:
                    continue
                found["told"] += 1
                found["covered"] += interval.low <= other - one <= interval.high
                found["differs"] += not interval.low <= 0 <= interval.high
            told = max(1, found["told"])
            cells = [
                f"{first.name} and {second.name}",
                f"{one:.0%} and {other:.0%}",
                f"{found['told'] / options.replications:.0%}",
                f"{found['covered'] / told:.1%}",
                f"{found['differs'] / told:.1%}",
            ]
            row(cells)


if __name__ == "__main__":
    main()
