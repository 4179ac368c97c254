"""The calibrated pause of the traffic generator: time over units, and how straight the line is.

    python -m benchmarks.pause

Prints the time of some pauses, the least-squares line through all of them, r^2, and the largest
distance from the line.
"""

from __future__ import annotations

import argparse
from statistics import correlation, linear_regression

from benchmarks.rounds import table
from memgauge import _core

STEPS = 100
SHOWN = 10


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--most", type=int, default=20_000, help="units of the longest pause")
    most = parser.parse_args().most
    team = _core.Team(_core.allowed_cpus()[:1])
    units = [most * step // STEPS for step in range(STEPS + 1)]
    times_ns = [_core.pause_ns(team, count) for count in units]
    line = linear_regression(units, times_ns)
    away = [time - line.intercept - line.slope * x for x, time in zip(units, times_ns, strict=True)]
    rows = [
        [str(x), f"{time:.1f}", f"{left:+.1f}"]
        for x, time, left in zip(units, times_ns, away, strict=True)
    ]
    print(table(["units", "ns", "from the line"], rows[:: STEPS // SHOWN]))
    print(
        f"\n{line.slope:.4f} ns a unit, {line.intercept:+.1f} ns at zero, "
        f"r^2 = {correlation(units, times_ns) ** 2:.7f}, at most {max(map(abs, away)):.1f} ns away"
    )


if __name__ == "__main__":
    main()
