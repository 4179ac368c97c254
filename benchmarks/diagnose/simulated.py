"""Diagnoses of programs whose shares are known, on a simulated machine: do their intervals hold?

    python -m benchmarks.diagnose.simulated --replications 2000

A program waits for memory for a share of its time, streams for another, and lives in the shared
cache for a third; pressure stretches each of these by a factor of its own, which differs from pass
to pass. Times are disturbed by a pace common to a round, by noise of each measurement, and by
stragglers. What the analysis makes of such rounds is set beside what is true.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

import msgspec

from memgauge.analysis.diagnose.figures import Pass, treated_of
from memgauge.analysis.diagnose.judgement import judge
from memgauge.model.points.diagnose import BANDWIDTH, CACHED, LATENCY, DiagnoseRequested

TREATMENTS = ("compute", "compute again", "write", "read", "cache")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """By how much pressure stretches waiting, streaming and life in the cache."""

    name: str
    stretch: dict[str, tuple[float, float, float]]
    """By treatment: of latency, of bandwidth, of what is cached."""
    noise: float = 0.02
    """Standard deviation of one time, as a share."""
    pace: float = 0.02
    """Of what a round has in common."""
    dose: float = 0.08
    """Of the stretch of one pass."""
    stragglers: float = 0.03
    """Share of passes that something else delays by 10 to 50%."""
    moves: float = 0.0
    """Chance that cores are near or far instead, from one pass to the next; pressure has little
    effect there."""


NEAR = {
    "write": (1.5, 2.6, 2.6),
    "read": (1.11, 1.5, 6.0),
    "cache": (1.03, 1.03, 3.0),
}
MACHINES = (
    Machine(name="near", stretch=NEAR),
    Machine(name="near, noisy", stretch=NEAR, noise=0.06, pace=0.05, stragglers=0.1),
    Machine(name="cores that move", stretch=NEAR, moves=0.3),
    Machine(
        name="far", stretch={"write": (1.04, 1.05, 1.1), "read": (1, 1, 1), "cache": (1, 1, 1)}
    ),
    Machine(
        name="many cores",
        stretch={"write": (3.0, 3.5, 4.0), "read": (1.8, 2.2, 6.0), "cache": (1.05, 1.05, 3.0)},
    ),
)


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """A program by the shares of its time, and the verdicts that are right."""

    name: str
    latency: float = 0.0
    bandwidth: float = 0.0
    cached: float = 0.0
    right: frozenset[str]


MEMORY = frozenset({"memory", "latency"})
PROGRAMS = (
    Truth(name="arithmetic", right=frozenset({"not memory"})),
    Truth(name="2% waiting", latency=0.02, right=frozenset({"not memory", "memory"})),
    Truth(name="25% waiting", latency=0.25, right=MEMORY),
    Truth(name="50% waiting", latency=0.50, right=MEMORY),
    Truth(name="75% waiting", latency=0.75, right=MEMORY),
    Truth(name="waiting", latency=1.0, right=MEMORY),
    Truth(name="30% streaming", bandwidth=0.3, right=frozenset({"memory"})),
    Truth(name="50% streaming", bandwidth=0.5, right=frozenset({"memory", "bandwidth"})),
    Truth(name="streaming", bandwidth=1.0, right=frozenset({"bandwidth", "memory"})),
    Truth(name="cached", cached=1.0, right=frozenset({"cache"})),
    Truth(name="40% cached", cached=0.4, right=frozenset({"cache"})),
)


def passes(
    machine: Machine, truth: Truth, rounds: int, draw: random.Random
) -> dict[str, list[Pass]]:
    """Passes of all treatments, as a run would have them."""
    found: dict[str, list[Pass]] = {name: [] for name in TREATMENTS}
    regime = "near" if machine.moves else ""
    for round_ in range(rounds):
        pace = draw.lognormvariate(0, machine.pace)
        for name in draw.sample(TREATMENTS, len(TREATMENTS)):
            if draw.random() < machine.moves:
                regime = "far" if regime == "near" else "near"
            stretch = machine.stretch.get(name, (1.0, 1.0, 1.0))
            if regime == "far":
                stretch = tuple(1 + 0.05 * (one - 1) for one in stretch)  # type: ignore[assignment]
            dose = draw.lognormvariate(0, machine.dose)
            latency, bandwidth, cached = (1 + dose * (one - 1) for one in stretch)
            rest = 1 - truth.latency - truth.bandwidth - truth.cached
            time = (
                rest + truth.latency * latency + truth.bandwidth * bandwidth + truth.cached * cached
            )
            if draw.random() < machine.stragglers:
                time *= draw.uniform(1.1, 1.5)
            noisy = [
                one * pace * draw.lognormvariate(0, machine.noise)
                for one in (time, latency, bandwidth, cached)
            ]
            found[name].append(
                Pass(
                    round=round_,
                    regime=regime,
                    program=noisy[0],
                    references=dict(zip((LATENCY, BANDWIDTH, CACHED), noisy[1:], strict=True)),
                )
            )
    return found


def main() -> None:
    """Print a row for each machine and program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    print("| machine | program | share covered | given | right | cannot tell | wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for machine in MACHINES:
        for truth in PROGRAMS:
            kinds: Counter[str] = Counter()
            given = covered = 0
            for _ in range(options.replications):
                made = passes(machine, truth, options.rounds, draw)
                treated = [
                    one
                    for name in TREATMENTS[1:]
                    for one in treated_of(
                        DiagnoseRequested(treatment=name, kind="pressure", baseline="compute"),
                        made[name],
                        made["compute"],
                    )
                ]
                judgement = judge(treated)
                kinds[judgement.kind] += 1
                if truth.cached:
                    continue
                known = (
                    (judgement.bandwidth_share, truth.bandwidth)
                    if truth.bandwidth
                    else (judgement.latency_share, truth.latency)
                )
                if known[0] is not None:
                    given += 1
                    covered += known[0].low <= known[1] <= known[0].high
            right = sum(count for kind, count in kinds.items() if kind in truth.right)
            untold = kinds["cannot tell"]
            wrong = options.replications - right - untold
            share = f"{covered / given:.1%}" if given else "-"
            n = options.replications
            print(
                f"| {machine.name} | {truth.name} | {share} | {given / n:.0%} | {right / n:.0%} | "
                f"{untold / n:.0%} | {wrong / n:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
