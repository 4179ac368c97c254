"""How often do intervals hold, by simulation on made-up machines?

    python -m benchmarks.intervals --runs 2000

For each process, and number of rounds: how often an interval is given, how often it holds the
quantile of the stretch that was sampled, and its median half width over the ideal one (half of the
central 95% range of the figure's error). With `--allocation`, a run of 500 rounds as the runner
samples it: a precise point in one round of two or four, the interval weighted.

Goal: at least 93% wherever an interval is given, and given always from 16 rounds on.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass, field
from statistics import median

from benchmarks.processes import PROCESSES, Path, moments
from benchmarks.rounds import table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval, precision, sustained
from memgauge.runner.point_progress import FIRST_LOOK, GROWTH, MOST_ROUNDS

GOAL = 0.93
ROUNDS = (8, 16, 20, 29, 36, 50, 100, 200, 500)
SLACK = 1e-9


@dataclass
class Tally:
    """Of one process and number of rounds."""

    runs: int = 0
    given: int = 0
    held: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)

    def add(self, found: Estimate | None, truth: float, taken: int) -> None:
        """Count one run."""
        self.runs += 1
        self.taken.append(taken)
        if found is not None:
            self.errors.append(found.value - truth)
        if found is not None and has_interval(found):
            self.given += 1
            self.held += found.low <= truth + SLACK and found.high >= truth - SLACK
            self.widths.append((found.high - found.low) / 2)

    @property
    def coverage(self) -> float | None:
        """Of the intervals that were given."""
        return self.held / self.given if self.given else None

    def text(self) -> str:
        """Coverage in %, and the width over the ideal."""
        if self.coverage is None:
            return "none"
        ordered = sorted(self.errors)
        cut = len(ordered) // 40
        ideal = (ordered[-1 - cut] - ordered[cut]) / 2
        width = f"{median(self.widths) / ideal:.1f}" if ideal > 0 else "-"
        rare = "" if self.given == self.runs else f", given {self.given / self.runs:.0%}"
        return f"{100 * self.coverage:.0f} ({width}{rare})"


def every_round(path: Path, rng: random.Random, rounds: int) -> tuple[list[float], list[float]]:
    """A value at a random moment of each round; all weigh the same."""
    return [path.sample(at) for at in moments(rng, rounds)], [1.0] * rounds


def as_the_runner(
    path: Path, rng: random.Random, rounds: int, requested: float, quantile: float
) -> tuple[list[float], list[float]]:
    """Values and weights of a run that samples less often what is precise, and often again."""
    values: list[float] = []
    weights: list[float] = []
    stride, look_at = 1, FIRST_LOOK
    for begin in range(0, rounds, MOST_ROUNDS):
        for part in range(0, MOST_ROUNDS, stride):
            at = begin + part + rng.randrange(stride) + rng.random()
            values.append(path.sample(at))
            weights.append(float(stride))
        if len(values) >= look_at:
            look_at = int(look_at * GROWTH) + 1
            narrow = precision(sustained(values, quantile, weights)) <= requested
            stride = min(MOST_ROUNDS, 2 * stride) if narrow else max(1, stride // 2)
    return values, weights


def tally(
    name: str, rounds: int, runs: int, quantile: float, requested: float | None = None
) -> Tally:
    """Simulate one process.

    Args:
        name: Of the process.
        rounds: Rounds of each run.
        runs: How many runs.
        quantile: Which quantile is estimated.
        requested: Precision from which on a point is sampled less often; None: in every round.
    """
    rng = random.Random(f"{name} {rounds} {quantile} {requested}")
    found = Tally()
    for _ in range(runs):
        path = PROCESSES[name](rng, rounds)
        values, weights = (
            every_round(path, rng, rounds)
            if requested is None
            else as_the_runner(path, rng, rounds, requested, quantile)
        )
        found.add(sustained(values, quantile, weights), path.quantile(quantile), len(values))
    return found


def report(title: str, columns: list[str], rows: dict[str, list[Tally]]) -> None:
    """Print a table, and whether the goal is met."""
    every = [(one.coverage, name) for name, many in rows.items() for one in many if one.given]
    worst = min(((share, name) for share, name in every if share is not None), default=(1.0, "-"))
    print(f"\n{title}\n")
    print(table(["process", *columns], [[n, *(t.text() for t in m)] for n, m in rows.items()]))
    print(f"\nworst: {worst[0]:.1%} ({worst[1]}); goal {GOAL:.0%}")


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--quantile", type=float, default=0.9)
    parser.add_argument("--only", default="", help="processes whose name contains this")
    parser.add_argument("--allocation", action="store_true", help="as the runner samples")
    chosen = parser.parse_args()
    names = [name for name in PROCESSES if chosen.only in name]
    if chosen.allocation:
        goals = (0.005, 0.01, 0.02)
        allocated = {
            name: [tally(name, 500, chosen.runs, chosen.quantile, goal) for goal in goals]
            for name in names
        }
        report(
            "Coverage in % (width over ideal), 500 rounds as the runner samples them",
            [f"requested {goal:.1%}" for goal in goals],
            allocated,
        )
        rows = [[name, *(f"{median(t.taken):.0f}" for t in m)] for name, m in allocated.items()]
        print(f"\nSamples of 500 rounds\n\n{table(['process', *map(str, goals)], rows)}")
        return
    rows_ = {
        name: [tally(name, rounds, chosen.runs, chosen.quantile) for rounds in ROUNDS]
        for name in names
    }
    report(
        f"Coverage in % of the {chosen.quantile:g} quantile (width over ideal)",
        [f"n={rounds}" for rounds in ROUNDS],
        rows_,
    )


if __name__ == "__main__":
    main()
