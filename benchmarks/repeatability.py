"""Do two surveys in a row agree within the intervals they state?

    python -m benchmarks.repeatability --budget 60s --pairs 3

For every point and regime that both runs measured, the two sustained figures agree when their
difference is within what both runs state: their intervals and the run-to-run drift of the machine,
taken together (root of the sum of squared half widths).
Printed: the share that agrees, which is meant to be 95% or more, and the worst that does not.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import memgauge
from memgauge.analysis.figures.summary import summarise
from memgauge.analysis.statistics.estimate import Estimate


def estimates(result: memgauge.Result) -> dict[tuple[str, str], Estimate]:
    """Sustained figures by point and kind of regime, where they have an interval."""
    run = result.run
    summaries = summarise(run.points.values(), run.samples, run.start.precision)
    return {
        (one.point, one.regime.split(" (")[0]): one.sustained
        for of_point in summaries.values()
        for one in of_point
        if one.sustained is not None and math.isfinite(one.sustained.high)
    }


def half_width(estimate: Estimate) -> float:
    """Of its interval."""
    return (estimate.high - estimate.low) / 2


def main() -> None:
    """Parse arguments and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--pairs", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for pair in range(chosen.pairs):
            runs = [
                memgauge.survey(
                    budget=chosen.budget, output=str(Path(directory) / f"{pair}-{which}")
                )
                for which in "ab"
            ]
            first, second = map(estimates, runs)
            paces_of = [run.document()["run_to_run_drift"] or 0.0 for run in runs]
            both = first.keys() & second.keys()
            apart = {}
            for key in both:
                a, b = first[key], second[key]
                paces = (paces_of[0] * a.value, paces_of[1] * b.value)
                allowed = math.hypot(half_width(a), half_width(b), *paces)
                if abs(a.value - b.value) > allowed:
                    apart[key] = abs(a.value - b.value) / a.value
            share = 1 - len(apart) / len(both)
            worst = sorted(apart.items(), key=lambda item: -item[1])[:3]
            listed = ", ".join(f"{point} by {by:.1%}" for (point, _), by in worst) or "none"
            print(
                f"pair {pair + 1}: {share:.1%} of {len(both)} points agree "
                f"(run-to-run drift {paces_of[0]:.1%}, {paces_of[1]:.1%}); apart most: {listed}"
            )


if __name__ == "__main__":
    main()
