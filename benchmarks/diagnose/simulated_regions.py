"""Verdicts on the regions of a program, on a simulated machine: is any of them wrong too often?

    python -m benchmarks.diagnose.simulated_regions --replications 1000

Machines, disturbances and what each region does are those of `benchmarks.diagnose.simulated`. The
regions of a program are timed in the same passes, beside the same references. A diagnosis counts as
wrong as soon as the verdict on any of its regions is, and as covered only where the intervals of
all shares hold the true ones. They are also judged with the traffic of each region, of which an
upper bound is known, as counters that are sampled give it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.diagnose.replicated import Options, head, parser, row
from benchmarks.diagnose.simulated import (
    MACHINES,
    PRESSURES,
    PROGRAMS,
    Truth,
    first_rounds,
    passes_of_parts,
)
from memgauge.analysis.diagnose.by_region.judged import confidence, treated_under
from memgauge.analysis.diagnose.deciding import is_region_settled, next_look
from memgauge.analysis.diagnose.judgement import Judgement, judge
from memgauge.analysis.diagnose.passes import Pass

Passes = Mapping[str, Sequence[Pass]]
KNOWN = {one.name: one for one in PROGRAMS}
REGIONS = {
    "two alike": ("50% waiting", "50% waiting"),
    "two, one of them waits": ("arithmetic", "waiting"),
    "three": ("streaming", "waiting", "arithmetic"),
    "cached and waiting": ("cached", "75% waiting", "40% cached"),
    "eight that calculate": ("arithmetic",) * 8,
    "eight of which one waits": ("arithmetic",) * 7 + ("25% waiting",),
    "eight that differ": tuple(one.name for one in PROGRAMS[2:10]),
}
"""By name of the program: what each of its regions does."""
LOADS = 0.06
"""Traffic of what waits for each load over what one CPU streams: 64 bytes in 100 ns, beside
10 GB/s."""
BOUND = 1.1
"""The most that a region may move over what it does."""


def judged(parts: Sequence[Passes], truths: Sequence[Truth] = ()) -> list[Judgement]:
    """The verdict on each region, as a report states it.

    Args:
        parts: Passes of each region.
        truths: What each does, where its traffic is known; empty: it is not.
    """
    treated = [treated_under(PRESSURES, one, confidence(len(parts))) for one in parts]
    if not truths:
        return [judge(one) for one in treated]
    return [
        judge(one, BOUND * traffic_share(truth), "counted", is_most=True)
        for one, truth in zip(treated, truths, strict=True)
    ]


def traffic_share(truth: Truth) -> float:
    """What it moves over what one CPU streams."""
    return truth.bandwidth + LOADS * (truth.latency + truth.scattered)


def settled_rounds(parts: Sequence[Passes], most: int) -> int:
    """After how many rounds the verdicts on all regions are settled; `most` if they never are."""
    look = next_look(0)
    while look < most:
        if all(is_region_settled(PRESSURES, first_rounds(one, look)) for one in parts):
            return look
        look = next_look(look)
    return most


class Tally:
    """What became of the diagnoses of one program."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def add(self, judgements: Sequence[Judgement], truths: Sequence[Truth], rounds: int) -> None:
        """One diagnosis."""
        pairs = list(zip(judgements, truths, strict=True))
        untold = sum(one.kind == "cannot tell" for one, _ in pairs)
        right = sum(one.kind in truth.right for one, truth in pairs)
        self.found["diagnoses"] += 1
        self.found["rounds"] += rounds
        self.found["regions"] += len(pairs)
        self.found["right"] += right
        self.found["wrong"] += right + untold < len(pairs)
        self.found["covered"] += all(_covers(one, truth) for one, truth in pairs)

    def cells(self) -> list[str]:
        """Coverage of all together, rounds, regions judged rightly, diagnoses with a wrong one."""
        n = self.found["diagnoses"]
        return [
            f"{self.found['covered'] / n:.1%}",
            f"{self.found['rounds'] / n:.1f}",
            f"{self.found['right'] / self.found['regions']:.0%}",
            f"{self.found['wrong'] / n:.1%}",
        ]


def _covers(judgement: Judgement, truth: Truth) -> bool:
    """Whether the interval of the share holds the true one, where there is one."""
    known = judgement.bandwidth_share if truth.bandwidth else judgement.latency_share
    if truth.cached or known is None:
        return True
    return known.low <= (truth.bandwidth or truth.latency) <= known.high


def main() -> None:
    """Print a row for each machine and program."""
    options = parser(__doc__, replications=200).parse_args(namespace=Options())
    draw = random.Random(options.seed)
    of = ["all covered", "rounds", "right", "any wrong"]
    ways = ["", ", early", ", with traffic"]
    head(["machine", "regions", *(f"{one}{way}" for way in ways for one in of)])
    sums = Tally(), Tally(), Tally()
    for machine in MACHINES:
        for name, names in REGIONS.items():
            truths = [KNOWN[one] for one in names]
            tallies = Tally(), Tally(), Tally()
            for _ in range(options.replications):
                parts = passes_of_parts(machine, truths, options.rounds, draw)
                rounds = settled_rounds(parts, options.rounds)
                early = judged([first_rounds(one, rounds) for one in parts])
                fixed = judged(parts)
                moved = judged(parts, truths)
                for fixed_tally, early_tally, moved_tally in (tallies, sums):
                    fixed_tally.add(fixed, truths, options.rounds)
                    early_tally.add(early, truths, rounds)
                    moved_tally.add(moved, truths, options.rounds)
            row([machine.name, name, *(cell for one in tallies for cell in one.cells())])
    row(["all", "", *(cell for one in sums for cell in one.cells())])


if __name__ == "__main__":
    main()
