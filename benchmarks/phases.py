"""How many phases does noise make, and are those that are there found, by simulation?

    python -m benchmarks.phases --hours 40

An hour of ten tracks in 2,000 bins, at noise of 10% whose neighbours are correlated by so much: the
false phases in an hour. Then a step of 20% in one track or in all, at noise of 5%: how often it is
found and nothing else, and how often the interval of its moment holds it.

Goal: fewer than 0.1 false phases an hour; 90% of the steps found.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable

from benchmarks.rounds import table
from memgauge.analysis.statistics.change_points import Cut, Signal, cuts_of

BINS = 2000
TRACKS = 10
LEAST = 4
Noise = Callable[[random.Random], list[float]]


def autoregressive(correlation: float) -> Noise:
    """Normal noise of deviation 1 in which neighbours are correlated."""

    def made(rng: random.Random) -> list[float]:
        value, values = rng.gauss(0, 1), []
        for _ in range(BINS):
            values.append(value)
            value = correlation * value + rng.gauss(0, math.sqrt(1 - correlation**2))
        return values

    return made


def mixed(rng: random.Random) -> list[float]:
    """Half of the variance slow, half of it independent: no autoregressive process of order 1."""
    slow = autoregressive(0.95)(rng)
    return [math.sqrt(0.5) * (one + rng.gauss(0, 1)) for one in slow]


def heavy(rng: random.Random) -> list[float]:
    """Student's t with 3 degrees of freedom, scaled to a deviation of 1."""
    return [rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2)) for _ in range(BINS)]


NOISES: dict[str, Noise] = {
    "independent": autoregressive(0.0),
    "AR 0.5": autoregressive(0.5),
    "AR 0.8": autoregressive(0.8),
    "AR 0.9": autoregressive(0.9),
    "AR 0.95": autoregressive(0.95),
    "AR 0.95 beside independent": mixed,
    "Student's t, 3 df": heavy,
}


def cuts(
    rng: random.Random, noise: Noise, deviation: float, stepped: int = 0, at: int = BINS // 2
) -> list[Cut]:
    """Of ten tracks, of which the first so many rise by 20% somewhere."""
    signals = []
    for track in range(TRACKS):
        values = [100 * (1 + deviation * value) for value in noise(rng)]
        if track < stepped:
            values = [value * (1.2 if bin_ >= at else 1) for bin_, value in enumerate(values)]
        signals.append(Signal(values, 1.0))
    return cuts_of(signals, BINS, LEAST)


def main() -> None:
    """Parse arguments and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hours", type=int, default=40)
    hours = parser.parse_args().hours
    rows = []
    for name, noise in NOISES.items():
        rng = random.Random(name)
        false = sum(len(cuts(rng, noise, 0.1)) for _ in range(hours))
        row = [name, f"{false / hours:.2f}"]
        for stepped in (1, TRACKS):
            steps = [rng.randrange(200, BINS - 200) for _ in range(hours)]
            tries = [(at, cuts(rng, noise, 0.05, stepped, at)) for at in steps]
            near = [
                (at, found[0])
                for at, found in tries
                if len(found) == 1 and found[0].low - 5 <= at <= found[0].high + 5
            ]
            held = sum(found.low <= at <= found.high for at, found in near)
            row.append(f"{len(near) / hours:.0%} (held {held / max(1, len(near)):.0%})")
        rows.append(row)
    print("False phases an hour at noise of 10% (goal 0.1), and steps of 20% found at noise of 5%")
    print(f"(goal 90%; how often the interval of the moment holds it), {hours} hours of each\n")
    print(table(["noise", "false phases/h", "step in 1 of 10 tracks", "in all"], rows))


if __name__ == "__main__":
    main()
