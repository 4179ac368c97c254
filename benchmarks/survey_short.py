"""Are the headline figures of short surveys those of a long one?

    python -m benchmarks.survey_short --budget 10s --tries 10 --long 10m

Compared are the best bandwidth, the latency of memory and of each cache level. Printed: for each
short survey how far each figure is from the long survey's, and in how many tries all are within 3%;
the goal is nine of ten.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import memgauge
from memgauge.analysis.figures.summary import summarise
from memgauge.model.points.latency import LatencyRequested

CLOSE = 0.03
GOAL = 0.9


def headline(result: memgauge.Result) -> dict[str, float]:
    """Best sustained bandwidth in GB/s, and the lowest latency of each level in ns."""
    run = result.run
    found: dict[str, float] = {}
    summaries = summarise(run.points.values(), run.samples, run.start.precision)
    for name, of_point in summaries.items():
        point = run.points[name]
        values = [one.sustained.value for one in of_point if one.sustained is not None]
        if not values:
            continue
        if point.experiment == "stream" and point.role == "slice":
            found["bandwidth"] = max([found.get("bandwidth", 0.0), *values])
        if point.experiment == "latency":
            requested = LatencyRequested.of(point.requested)
            key = f"latency {requested.level} {requested.order} {requested.pages}"
            found[key] = min([found.get(key, float("inf")), *values])
    return found


def main() -> None:
    """Parse arguments, make the surveys and print how far they are apart."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--long", default="10m")
    parser.add_argument("--tries", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory)
        long = headline(memgauge.survey(budget=chosen.long, output=str(output / "long")))
        close = 0
        for number in range(chosen.tries):
            short = headline(
                memgauge.survey(budget=chosen.budget, output=str(output / str(number)))
            )
            apart = {key: short[key] / long[key] - 1 for key in long.keys() & short.keys()}
            missing = sorted(long.keys() - short.keys())
            is_close = bool(apart) and all(abs(one) <= CLOSE for one in apart.values())
            close += is_close
            listed = ", ".join(f"{key} {one:+.1%}" for key, one in sorted(apart.items()))
            print(f"try {number + 1}: {listed}; not measured: {', '.join(missing) or 'none'}")
        print(
            f"{close} of {chosen.tries} tries within {CLOSE:.0%} in all figures "
            f"(goal: {GOAL:.0%} of them)"
        )


if __name__ == "__main__":
    main()
