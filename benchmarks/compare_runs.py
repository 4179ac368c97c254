"""How often does a comparison of several runs a side err, and what does it find?

    python -m benchmarks.compare_runs --pairs 200

Made-up runs of one machine. Every figure of a run has an offset with a standard deviation of 1%,
half of whose variance is common to the run's figures (its pace). Within the run the figure moves
with a correlation of 0.9 from round to round and is estimated as memgauge does: the 90th percentile
of one sample a round. In the harder case the standard deviation of the offsets differs from figure
to figure, as a scaled inverse chi-square with four degrees of freedom.

Printed: of pairs of equal sides the share in which any figure stands as different, and in which the
pace does; of sides a tenth of whose figures changed, the share of the changed ones that is found
and the share of those found that is false. Goals: at most 5% of equal pairs with any standing
figure; of a change of 5% at least 90% found with 3 runs a side, of 2% at least 45% with 5.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass
from statistics import fmean

from benchmarks.processes import autoregressive, moments
from benchmarks.rounds import table
from memgauge.analysis.statistics.between_runs import Judged, judge
from memgauge.analysis.statistics.intervals import sustained

OFFSET = 0.01
"""Standard deviation of a figure between runs."""
COMMON = 0.5
"""Share of the variance that is common to all figures of a run."""
ROUNDS = 60
NOISE_PERCENT = 1.0
"""Standard deviation of a sample within a run."""
POOL = 400
"""Stretches of one run that are simulated once and drawn from."""
CHANGED = 0.1
"""Share of the figures that change, where any do."""
SIDES = ((2, 2), (3, 3), (5, 5), (3, 1), (5, 1), (10, 1), (50, 1))
"""Runs of each side; 50 earlier ones are the most that are remembered of a machine."""
GOALS = {(3, 3, 0.05): "90%", (5, 5, 0.02): "45%"}
"""Of changed figures that are found, by runs a side and change."""
USUAL_FIGURES = 75
"""Of more figures fewer pairs are simulated, so that each case takes about as long."""


@dataclass(frozen=True)
class Case:
    """What two sides are like."""

    baseline: int
    other: int
    figures: int
    unequal: bool
    change: float
    """Of the changed figures, as a share."""


@dataclass
class Tally:
    """Over all pairs of sides of one case."""

    pairs: int = 0
    any_false: int = 0
    pace: int = 0
    found: float = 0.0
    false_share: float = 0.0

    def add(self, judged: Judged, changed: int) -> None:
        """Count one pair, whose first figures changed."""
        standing = [one.stands for one in judged.figures]
        wrong = sum(standing[changed:])
        self.pairs += 1
        self.any_false += wrong > 0
        self.pace += judged.pace is not None and judged.pace.stands
        self.found += fmean(standing[:changed]) if changed else 0.0
        self.false_share += wrong / max(1, sum(standing))


def within_run(rng: random.Random) -> list[float]:
    """Errors of a run's figure that come from within the run, as logs."""
    process = autoregressive(0.9, NOISE_PERCENT)
    figures = []
    for _ in range(POOL):
        path = process(rng, ROUNDS)
        estimate = sustained([path.sample(at) for at in moments(rng, ROUNDS)])
        figures.append(math.log(estimate.value) if estimate else 0.0)
    middle = fmean(figures)
    return [one - middle for one in figures]


def runs_of(
    rng: random.Random, count: int, deviations: list[float], within: list[float]
) -> list[list[float]]:
    """Logs of the figures of some runs."""
    made = []
    for _ in range(count):
        pace = rng.gauss(0, OFFSET * math.sqrt(COMMON))
        made.append([pace + rng.gauss(0, one) + rng.choice(within) for one in deviations])
    return made


def deviations_of(rng: random.Random, case: Case) -> list[float]:
    """Standard deviation of each figure between runs, beside the pace."""
    usual = OFFSET * math.sqrt(1 - COMMON)
    if not case.unequal:
        return [usual] * case.figures
    # A chi-square of 4 degrees of freedom is twice the sum of two exponential variables; the mean
    # of its inverse is a half.
    chi_squares = [2 * (rng.expovariate(1) + rng.expovariate(1)) for _ in range(case.figures)]
    return [usual * math.sqrt(2 / one) for one in chi_squares]


def tally(case: Case, pairs: int, within: list[float]) -> Tally:
    """Simulate one case."""
    rng = random.Random(str(case))
    pairs = max(1, pairs * USUAL_FIGURES // max(case.figures, USUAL_FIGURES))
    changed = round(case.figures * CHANGED) if case.change else 0
    found = Tally()
    for _ in range(pairs):
        deviations = deviations_of(rng, case)
        first = runs_of(rng, case.baseline, deviations, within)
        second = runs_of(rng, case.other, deviations, within)
        for run in second:
            run[:changed] = [one + math.log1p(-case.change) for one in run[:changed]]
        found.add(judge(first, second), changed)
    return found


def equal_sides(pairs: int, within: list[float]) -> str:
    """A table of false differences."""
    lines = []
    for baseline, other in SIDES:
        for figures in (2, 5, 10, 30, 300):
            cells = []
            for unequal in (False, True):
                done = tally(Case(baseline, other, figures, unequal, 0.0), pairs, within)
                cells += [f"{done.any_false / done.pairs:.1%}", f"{done.pace / done.pairs:.1%}"]
            lines.append([f"{baseline} and {other}", str(figures), *cells])
    columns = ["any figure", "pace", "any figure, unequal variances", "pace"]
    return table(["runs a side", "figures", *columns], lines)


def changed_sides(pairs: int, within: list[float]) -> str:
    """A table of what is found of true changes."""
    lines = []
    for baseline, other in SIDES:
        for change in (0.05, 0.02):
            goal = GOALS.get((baseline, other, change), "-")
            for figures in (30, 300):
                cells = []
                for unequal in (False, True):
                    done = tally(Case(baseline, other, figures, unequal, change), pairs, within)
                    cells += [f"{done.found / done.pairs:.0%}"]
                    cells += [f"{done.false_share / done.pairs:.1%}"]
                lines.append(
                    [f"{baseline} and {other}", str(figures), f"{change:.0%}", *cells, goal]
                )
    columns = ["found", "false", "found, unequal variances", "false", "goal"]
    return table(["runs a side", "figures", "change", *columns], lines)


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=200)
    chosen = parser.parse_args()
    within = within_run(random.Random(1))
    print("Equal sides: pairs with anything standing (goal: any figure at most 5%)\n")
    print(equal_sides(chosen.pairs, within))
    print("\nA tenth of the figures changed\n")
    print(changed_sides(chosen.pairs, within))


if __name__ == "__main__":
    main()
