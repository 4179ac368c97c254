"""Are curves of latency over bandwidth judged as an expert would?

    python -m benchmarks.knee --curves 200

The published curve of a desktop, and made-up curves with normal noise of 0.5% to 3%: how often each
verdict is given, by values alone and with intervals, beside those that an expert would accept.

Goal: each curve gets an accepted verdict in at least 95% of all cases.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence

from benchmarks.rounds import table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.knee import LoadPoint, find_knee
from memgauge.references.library import load

Pairs = Sequence[tuple[float, float]]
"""GB/s and ns."""


def queue(share: float) -> float:
    """Latency of a queue with one server."""
    return 90 + 10 / (1 - share)


def _over(shares: Sequence[float], law: object = queue) -> Pairs:
    return [(50 * share, law(share)) for share in shares]  # type: ignore[operator]


def _even(count: int, last: float) -> list[float]:
    return [0.02 + (last - 0.02) * at / (count - 1) for at in range(count)]


def published() -> Pairs:
    """The desktop with 12 hardware threads; no point lies between 36 and 54 GB/s."""
    columns = load("hybrid12-loaded-latency")
    pairs = zip(columns.column("bandwidth_MBps"), columns.column("latency_ns"), strict=True)
    return [(mb / 1e3, ns) for mb, ns in pairs][::-1]


def jumping() -> Pairs:
    """Latency up and down with bandwidth, as where the clock of the memory changes."""
    latencies = (100, 130, 105, 150, 112, 165, 125, 170, 135, 190)
    return [(16.0 * at + 10, float(ns)) for at, ns in enumerate(latencies)]


CURVES: dict[str, tuple[Pairs, set[str]]] = {
    "published desktop": (published(), {"unresolved", "unclear"}),
    "queue, 20 points": (_over(_even(20, 0.97)), {"knee"}),
    "queue, 10 points": (_over(_even(10, 0.95)), {"knee", "unresolved"}),
    "queue, gap of half": (_over([0.02, 0.1, 0.2, 0.3, 0.4, 0.92, 0.95, 0.97]), {"unresolved"}),
    "hockey stick": (
        _over(_even(20, 1.0), lambda share: 100 * (1 + 6 * max(0.0, share - 0.8))),
        {"knee"},
    ),
    "gentle bend": (
        _over(_even(15, 1.0), lambda share: 150 * (1 + 1.25 * max(0.0, share - 0.6))),
        {"knee", "unclear"},
    ),
    "straight rise": (_over(_even(15, 1.0), lambda share: 100 * (1 + share)), {"none", "unclear"}),
    "level": (_over(_even(15, 0.4), lambda _: 100.0), {"none", "unclear", "uneven"}),
    "jumping": (jumping(), {"uneven"}),
}
NOISES = (0.005, 0.03)


def verdicts(pairs: Pairs, noise: float, curves: int, *, known: bool) -> Counter[str]:
    """How often each is given."""
    rng = random.Random(f"{noise} {known}")
    half = 1.96 * noise if known else math.inf

    def estimate(value: float) -> Estimate:
        drawn = value * rng.gauss(1, noise)
        return Estimate(drawn, max(0.0, drawn * (1 - half)), drawn * (1 + half))

    return Counter(
        find_knee([LoadPoint(estimate(gb), estimate(ns)) for gb, ns in pairs]).status
        for _ in range(curves)
    )


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--curves", type=int, default=200)
    curves = parser.parse_args().curves
    rows = []
    for name, (pairs, accepted) in CURVES.items():
        row = [name, " or ".join(sorted(accepted))]
        for noise in NOISES:
            for known in (False, True):
                found = verdicts(pairs, noise, curves, known=known)
                right = sum(found[status] for status in accepted) / curves
                said = ", ".join(f"{status} {n}" for status, n in found.most_common())
                row.append(f"{right:.0%} ({said})")
        rows.append(row)
    print(f"Accepted verdicts, and all that were given, of {curves} curves; goal 95%\n")
    titles = [f"noise {n:.1%}{k}" for n in NOISES for k in ("", ", known")]
    print(table(["curve", "accepted", *titles], rows))


if __name__ == "__main__":
    main()
