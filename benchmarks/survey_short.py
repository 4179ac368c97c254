"""Are the headline figures of short surveys those of a long one?

    python -m benchmarks.survey_short --budget 10s --tries 10 --long 10m

Compared are the headline figures: bandwidth (triad, tuned, all threads, in the regime of most
passes), and the idle latency of memory and of each cache level on the fastest pages. Half of the
short surveys are made before the long one, half after it. Printed: for each short survey how far
each figure is from the long survey's, and in how many tries all are within 3%; the goal is nine of
ten. A bandwidth in another regime than the long survey's is another quantity and is printed as
such. The last line says how far the short surveys are from their own median: what runs differ by,
whatever their budget.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

import memgauge
from memgauge.analysis.figures.regimes import LEAST_RATIO
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.latency.figures import latency_results, memory_latency
from memgauge.analysis.stream.figures import headline, kernel_results

CLOSE = 0.03
GOAL = 0.9
BANDWIDTH = "bandwidth"


class Headlines(NamedTuple):
    """Of one survey."""

    figures: dict[str, float]
    """Bandwidth in GB/s, latencies in ns."""
    pingpong_ns: float | None
    """Core to core, in the regime of the bandwidth; None: not known."""

    def in_regime_of(self, other: Headlines) -> bool:
        """Whether threads were as far apart as in the other, as far as known."""
        mine, others = self.pingpong_ns, other.pingpong_ns
        return not (mine and others) or 1 / LEAST_RATIO < mine / others < LEAST_RATIO


def headlines(result: memgauge.Result) -> Headlines:
    """The figures that a survey leads with."""
    figures = figures_of(result.run)
    found: dict[str, float] = {}
    bandwidth = headline(kernel_results(figures))
    if bandwidth is not None and bandwidth.sustained is not None:
        found[BANDWIDTH] = bandwidth.sustained.value
    memory = memory_latency(figures)
    if memory is not None:
        found["DRAM"] = memory[1].value
    for one in latency_results(figures):
        if not one.in_memory:
            found[one.level] = min(found.get(one.level, math.inf), one.latency.value)
    of_slice = bandwidth.slice if bandwidth else None
    return Headlines(found, of_slice.pingpong_ns if of_slice else None)


def main() -> None:
    """Parse arguments, make the surveys and print how far they are apart."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--long", default="10m")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--output", help="keeps runs; those there are not repeated")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        output = Path(chosen.output or directory)
        before = chosen.tries // 2
        short = [_survey(output / f"s{number}", chosen.budget) for number in range(before)]
        long = _survey(output / "long", chosen.long)
        short += [
            _survey(output / f"s{number}", chosen.budget) for number in range(before, chosen.tries)
        ]
    close = 0
    for number, one in enumerate(short):
        same = one.in_regime_of(long)
        apart = {
            key: one.figures[key] / value - 1
            for key, value in long.figures.items()
            if key in one.figures and (same or key != BANDWIDTH)
        }
        is_whole = apart.keys() == long.figures.keys()
        close += is_whole and all(abs(value) <= CLOSE for value in apart.values())
        listed = ", ".join(f"{key} {value:+.1%}" for key, value in apart.items())
        missing = ", ".join(sorted(long.figures.keys() - one.figures.keys()))
        print(
            f"try {number + 1}: {listed}"
            + (f"; not measured: {missing}" if missing else "")
            + ("" if same else f"; {BANDWIDTH} in another regime")
        )
    print(
        f"{close} of {chosen.tries} tries within {CLOSE:.0%} in all figures "
        f"(goal: {GOAL:.0%} of them)"
    )
    made = [one.figures for one in short]
    print("short surveys, furthest from their own median:", _spread(made))


def _survey(directory: Path, budget: str) -> Headlines:
    if not directory.is_dir():
        memgauge.survey(budget=budget, output=str(directory))
    return headlines(memgauge.load(directory))


def _spread(made: list[dict[str, float]]) -> str:
    """Of each figure, the largest distance from its median."""
    parts = []
    for key in sorted(set().union(*made)):
        values = [one[key] for one in made if key in one]
        middle = median(values)
        furthest = max(values, key=lambda value: abs(value - middle))
        parts.append(f"{key} {furthest / middle - 1:+.1%}")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
