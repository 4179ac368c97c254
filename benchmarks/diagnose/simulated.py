"""Diagnoses of programs whose shares are known, on a simulated machine: do their intervals hold?

    python -m benchmarks.diagnose.simulated --replications 2000

Each simulated run is analysed three times: with a fixed number of rounds, ended early, as soon as
its treatments are decided, and with the traffic of the program beside all rounds. Last come
variants of known gain.

A program waits for memory for a share of its time, streams for another, and lives in the shared
cache for a third; pressure stretches each of these by a factor of its own, which differs from pass
to pass. Times are disturbed by a pace common to a round, by noise of each measurement, and by
stragglers. What the analysis makes of such rounds is set beside what is true.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.diagnose.replicated import Options, head, parser, row
from memgauge.analysis.diagnose.by_region.judged import treated_under
from memgauge.analysis.diagnose.deciding import decided_treatments, next_look
from memgauge.analysis.diagnose.figures import treated_of
from memgauge.analysis.diagnose.judgement import Judgement, judge
from memgauge.analysis.diagnose.passes import Pass
from memgauge.analysis.diagnose.verdicts import MATTERS, is_faster, is_slower
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHED,
    LATENCY,
    SCATTERED,
    DiagnoseRequested,
)

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
WALKS = 1.3
"""Stretch of loads that walk page tables, over that of others, less 1 each."""
CROWDED = {
    "write": (1.5, 2.6, 1.9),
    "read": (1.11, 1.5, 1.3),
    "cache": (1.03, 1.03, 1.05),
}
"""Others have taken the shared cache: what would live in it is slower anyway."""
MACHINES = (
    Machine(name="near", stretch=NEAR),
    Machine(name="near, noisy", stretch=NEAR, noise=0.06, pace=0.05, stragglers=0.1),
    Machine(name="cores that move", stretch=NEAR, moves=0.3),
    Machine(name="crowded cache", stretch=CROWDED),
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
    scattered: float = 0.0
    """Waiting for loads that walk page tables too, which pressure stretches by more."""
    bandwidth: float = 0.0
    cached: float = 0.0
    right: frozenset[str]


MEMORY = frozenset({"memory", "latency"})
PROGRAMS = (
    Truth(name="arithmetic", right=frozenset({"not memory"})),
    Truth(name="2% waiting", latency=0.02, right=MEMORY | {"not memory"}),
    Truth(name="25% waiting", latency=0.25, right=MEMORY),
    Truth(name="50% waiting", latency=0.50, right=MEMORY),
    Truth(name="75% waiting", latency=0.75, right=MEMORY),
    Truth(name="waiting", latency=1.0, right=MEMORY),
    Truth(name="50% waiting, with page walks", scattered=0.5, right=MEMORY),
    Truth(name="25% waiting, 25% with page walks", latency=0.25, scattered=0.25, right=MEMORY),
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
    return passes_of_parts(machine, [truth], rounds, draw)[0]


def passes_of_parts(
    machine: Machine, truths: Sequence[Truth], rounds: int, draw: random.Random
) -> list[dict[str, list[Pass]]]:
    """Passes of several parts of one program, in the same rounds and beside the same references.

    Args:
        machine: On which it runs.
        truths: Of each part.
        rounds: So many.
        draw: Source of chance.
    """
    found: list[dict[str, list[Pass]]] = [{name: [] for name in TREATMENTS} for _ in truths]
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
            of_references = [1 + dose * (one - 1) for one in stretch]
            of_references.append(1 + WALKS * (of_references[0] - 1))
            first: Pass | None = None
            for part, truth in zip(found, truths, strict=True):
                times = [pace * one for one in (time_of(truth, of_references), *of_references)]
                made = disturbed(machine, times, draw, round_=round_, regime=regime)
                first = first or made
                part[name].append(msgspec.structs.replace(made, references=first.references))
    return found


def time_of(truth: Truth, references: Sequence[float]) -> float:
    """Time of a program over that without pressure.

    Args:
        truth: By its shares.
        references: Times of what waits, streams, lives in the cache, and waits with page walks,
            likewise.
    """
    shares = (truth.latency, truth.bandwidth, truth.cached, truth.scattered)
    return 1 - sum(shares) + sum(share * one for share, one in zip(shares, references, strict=True))


def disturbed(
    machine: Machine, times: Sequence[float], draw: random.Random, *, round_: int, regime: str
) -> Pass:
    """A pass with noise of each time, in which the program may be a straggler.

    Args:
        machine: Has noise and stragglers.
        times: Of the program, and of the references in the order latency, bandwidth, cached,
            scattered, which may be left out.
        draw: Source of chance.
        round_: Number of the round.
        regime: Distance of the cores.
    """
    late = draw.uniform(1.1, 1.5) if draw.random() < machine.stragglers else 1.0
    program, *references = (one * draw.lognormvariate(0, machine.noise) for one in times)
    return Pass(
        round=round_,
        regime=regime,
        program=late * program,
        references=dict(zip((LATENCY, BANDWIDTH, CACHED, SCATTERED), references, strict=False)),
    )


GAINS = (1.0, 0.99, 0.985, 0.97, 0.95, 0.9, 0.7, 1.01, 1.05)
"""Time of variants over that of the usual way."""


def variant_passes(
    machine: Machine, gain: float, rounds: int, draw: random.Random
) -> dict[str, list[Pass]]:
    """Passes of the usual way, twice in each round, and of a variant."""
    found: dict[str, list[Pass]] = {"as it is": [], "as it is again": [], "variant": []}
    for round_ in range(rounds):
        pace = draw.lognormvariate(0, machine.pace)
        for name, time in (("as it is", 1.0), ("as it is again", 1.0), ("variant", gain)):
            slow = draw.uniform(1.1, 1.5) if draw.random() < machine.stragglers else 1.0
            program = time * pace * slow * draw.lognormvariate(0, machine.noise)
            found[name].append(Pass(round=round_, regime="", program=program))
    return found


def decided_rounds(
    requested: Mapping[str, DiagnoseRequested], made: Mapping[str, Sequence[Pass]], most: int
) -> int:
    """After how many rounds all is decided; `most` if it never is."""
    look = next_look(0)
    while look < most:
        if decided_treatments(requested, first_rounds(made, look)) == set(requested):
            return look
        look = next_look(look)
    return most


def first_rounds(made: Mapping[str, Sequence[Pass]], rounds: int) -> dict[str, list[Pass]]:
    """The passes of the first rounds."""
    return {name: [one for one in of if one.round < rounds] for name, of in made.items()}


PRESSURES = {
    name: DiagnoseRequested(
        subject="program",
        treatment=name,
        kind="pressure",
        baseline="" if name == "compute" else "compute",
    )
    for name in TREATMENTS
}
VARIANTS = {
    "as it is": DiagnoseRequested(subject="program", treatment="as it is", kind="variant"),
    "variant": DiagnoseRequested(
        subject="program", treatment="variant", kind="variant", baseline="as it is", change="x"
    ),
}


def judged(made: Mapping[str, Sequence[Pass]]) -> Judgement:
    """The verdict on these passes."""
    return judge(treated_under(PRESSURES, made, 0.95))


def judged_with_traffic(
    made: Mapping[str, Sequence[Pass]], truth: Truth, draw: random.Random
) -> Judgement:
    """The same where the program's traffic was simulated, which errs by some percent.

    What streams has several lines on their way at once, so that to wait for each would take longer.
    """
    error = draw.lognormvariate(0, TRAFFIC_ERROR)
    waiting = truth.latency + truth.scattered
    waits = (waiting + OVERLAP * truth.bandwidth) * error
    treated = treated_under(PRESSURES, made, 0.95)
    return judge(treated, (LITTLE * waiting + truth.bandwidth) * error, waits=(waits, waits))


OVERLAP = 10
TRAFFIC_ERROR = 0.1
LITTLE = 0.03
"""Share of the bandwidth, of what waits all of its time."""


class Tally:
    """What became of the diagnoses of one program."""

    def __init__(self) -> None:
        self.diagnoses = self.given = self.covered = 0
        self.right = self.untold = self.rounds = 0

    def add(self, judgement: Judgement, truth: Truth, rounds: int) -> None:
        """One diagnosis."""
        self.diagnoses += 1
        self.rounds += rounds
        self.right += judgement.kind in truth.right
        self.untold += judgement.kind == "cannot tell"
        if truth.cached:
            return
        known = judgement.bandwidth_share if truth.bandwidth else judgement.latency_share
        true = truth.bandwidth or truth.latency + truth.scattered
        if known is not None:
            self.given += 1
            self.covered += known.low <= true <= known.high

    def cells(self) -> list[str]:
        """Coverage, rounds, and shares of right, withheld and wrong verdicts."""
        n = self.diagnoses
        wrong = n - self.right - self.untold
        return [
            f"{self.covered / self.given:.1%}" if self.given else "-",
            f"{self.rounds / n:.1f}",
            f"{self.right / n:.0%}",
            f"{self.untold / n:.0%}",
            f"{wrong / n:.1%}",
        ]


def main() -> None:
    """Print a row for each machine and program, then one for each machine and variant."""
    options = parser(__doc__, replications=400).parse_args(namespace=Options())
    draw = random.Random(options.seed)
    of = ["share covered", "rounds", "right", "cannot tell", "wrong"]
    ways = ("", ", early", ", with traffic")
    head(["machine", "program", *(f"{one}{way}" for way in ways for one in of)])
    totals: Counter[str] = Counter()
    for machine in MACHINES:
        for truth in PROGRAMS:
            fixed, early, traffic = Tally(), Tally(), Tally()
            for _ in range(options.replications):
                made = passes(machine, truth, options.rounds, draw)
                fixed.add(judged(made), truth, options.rounds)
                traffic.add(judged_with_traffic(made, truth, draw), truth, options.rounds)
                rounds = decided_rounds(PRESSURES, made, options.rounds)
                early.add(judged(first_rounds(made, rounds)), truth, rounds)
            row([machine.name, truth.name, *fixed.cells(), *early.cells(), *traffic.cells()])
            for name, tally in (("fixed", fixed), ("early", early), ("with traffic", traffic)):
                totals[f"given {name}"] += tally.given
                totals[f"covered {name}"] += tally.covered
                totals[f"wrong {name}"] += tally.diagnoses - tally.right - tally.untold
    for name in ("fixed", "early", "with traffic"):
        covered = totals[f"covered {name}"] / max(1, totals[f"given {name}"])
        print(f"\n{name}: {covered:.1%} of all shares covered, {totals[f'wrong {name}']} wrong")
    print()
    _variants(options.replications, options.rounds, draw)


def _variants(replications: int, most: int, draw: random.Random) -> None:
    head(["machine", "time", "covered", "wrong", "covered, early", "wrong, early", "rounds"])
    for machine in MACHINES[:2]:
        for gain in GAINS:
            found: Counter[str] = Counter()
            for _ in range(replications):
                made = variant_passes(machine, gain, most, draw)
                rounds = decided_rounds(VARIANTS, made, most)
                found["rounds"] += rounds
                for name, of in (("fixed", most), ("early", rounds)):
                    taken = first_rounds(made, of)
                    one = treated_of(VARIANTS["variant"], taken)[0]
                    time = one.program
                    if time is None:
                        continue
                    found[f"covered {name}"] += time.low <= gain <= time.high
                    found[f"wrong {name}"] += (is_faster(time) and gain >= 1 - MATTERS) or (
                        is_slower(time) and gain <= 1 + MATTERS
                    )
            cells = [
                f"{found[f'{what} {name}'] / replications:.1%}"
                for name in ("fixed", "early")
                for what in ("covered", "wrong")
            ]
            row([machine.name, f"{gain}", *cells, f"{found['rounds'] / replications:.1f}"])


if __name__ == "__main__":
    main()
