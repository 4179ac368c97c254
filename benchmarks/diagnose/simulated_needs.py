"""The bandwidth and the cache that programs need, on a simulated machine: do the statements hold?

    python -m benchmarks.diagnose.simulated_needs --replications 400

Programs, machines and disturbances are those of `benchmarks.diagnose.simulated`, with part doses of
writes and of pressure on the cache. Further programs use no more than a bandwidth of their own and
do not slow down until less is left, or walk over a part of the cache of their own. What is true of
each follows from its formula: the amount of which it takes 5% longer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

import msgspec

from benchmarks.diagnose.replicated import Options, head, parser, row
from benchmarks.diagnose.simulated import MACHINES, PRESSURES, Machine, disturbed
from memgauge.analysis.diagnose.deciding import decided_treatments, next_look
from memgauge.analysis.diagnose.figures import treated_of
from memgauge.analysis.diagnose.judgement import NOTHING, judge
from memgauge.analysis.diagnose.needs import Need, bandwidth_need, cache_need
from memgauge.analysis.diagnose.passes import Pass
from memgauge.model.points.diagnose import (
    CACHE,
    CACHE_PART,
    COMPUTE,
    WRITE,
    DiagnoseRequested,
)

MISS = 6.0
"""Time of a load from memory over that of a hit in the cache."""
RING = 0.5
"""Of the cache, that the cached reference walks over."""
CURVE = 1.5
"""A part p of all writes has p to this power of their effect."""
PATH = 2000
"""Points of the path from no pressure to all of it, on which what is true is looked up."""


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """A program by the shares of its time, or by what it uses of the bandwidth at hand."""

    name: str
    latency: float = 0.0
    bandwidth: float = 0.0
    cached: float = 0.0
    footprint: float = RING
    """Of the cache, that it walks over for its cached share."""
    uses: float = 0.0
    """Of the bandwidth at hand: it slows down when less is left, and only then."""

    def time(self, latency: float, bandwidth: float, cached: float) -> float:
        """Over that without pressure.

        Args:
            latency: Time of a load from memory, over that without pressure.
            bandwidth: Time of a streamed byte, likewise.
            cached: Time of a load of its cached share, likewise.
        """
        rest = 1 - self.latency - self.bandwidth - self.cached
        time = rest + self.latency * latency + self.bandwidth * bandwidth + self.cached * cached
        return max(time, self.uses * bandwidth)


PROGRAMS = (
    Truth(name="arithmetic"),
    Truth(name="25% waiting", latency=0.25),
    Truth(name="waiting", latency=1.0),
    Truth(name="30% streaming", bandwidth=0.3),
    Truth(name="streaming", bandwidth=1.0),
    Truth(name="uses 50% of the bandwidth", uses=0.5),
    Truth(name="uses 70% of the bandwidth", uses=0.7),
    Truth(name="uses 90% of the bandwidth", uses=0.9),
    Truth(name="an eighth of the cache", cached=1.0, footprint=0.125),
    Truth(name="a quarter of the cache", cached=1.0, footprint=0.25),
    Truth(name="40% cached in half of the cache", cached=0.4),
    Truth(name="all of the cache", cached=0.8, footprint=1.0),
)


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What pressure leaves: times over those without it, and the share of the cache."""

    latency: float
    bandwidth: float
    cached: float | None
    """Of whatever lives in the cache; None: by what is left of it."""
    cache: float

    def of_ring(self, footprint: float) -> float:
        """Time of a load in a ring of this share of the cache, over that of a hit."""
        if self.cached is not None:
            return self.cached
        kept = min(1.0, self.cache / footprint)
        return kept + (1 - kept) * MISS * self.latency


def left(machine: Machine, of: str, part: float, dose: float) -> Left:
    """What a part of one kind of pressure leaves.

    Args:
        machine: By its stretches under all of it.
        of: Kind of pressure.
        part: Of all writes, or of the cache.
        dose: By which its effect in one pass differs from the usual one.
    """
    latency, bandwidth, cached = machine.stretch.get(of, (1.0, 1.0, 1.0))
    if of != CACHE:
        effect = dose * part**CURVE
        return Left(
            latency=1 + effect * (latency - 1),
            bandwidth=1 + effect * (bandwidth - 1),
            cached=1 + effect * (cached - 1),
            cache=1.0,
        )
    kept = 1 - (cached - 1) / (MISS - 1)
    power = math.log(kept * RING) / math.log(CACHE_PART) if kept < 1 else 0.0
    effect = dose * part / CACHE_PART
    return Left(
        latency=1 + effect * (latency - 1),
        bandwidth=1 + effect * (bandwidth - 1),
        cached=None,
        cache=min(1.0, max(0.01, 1 - dose * (1 - (1 - part) ** power))),
    )


def requested(steps: int) -> dict[str, DiagnoseRequested]:
    """Treatments of a run with so many part doses."""
    found = dict(PRESSURES)
    for at in range(1, steps + 1):
        part = at / (steps + 1)
        for of in (WRITE, CACHE):
            if (of, part) != (CACHE, CACHE_PART):
                name = f"{of} {part:.0%}"
                found[name] = DiagnoseRequested(
                    subject="program",
                    treatment=name,
                    kind="pressure",
                    baseline=COMPUTE,
                    step_of=of,
                    part=part,
                )
    return found


def passes(
    machine: Machine,
    truth: Truth,
    treatments: Mapping[str, DiagnoseRequested],
    rounds: int,
    draw: random.Random,
) -> dict[str, list[Pass]]:
    """Passes of all treatments, as a run would have them."""
    found: dict[str, list[Pass]] = {name: [] for name in treatments}
    regime = "near" if machine.moves else ""
    for round_ in range(rounds):
        pace = draw.lognormvariate(0, machine.pace)
        for name in draw.sample(list(treatments), len(treatments)):
            if draw.random() < machine.moves:
                regime = "far" if regime == "near" else "near"
            one = treatments[name]
            part = one.part or (CACHE_PART if name == CACHE else 1.0)
            dose = draw.lognormvariate(0, machine.dose) * (0.05 if regime == "far" else 1)
            there = left(machine, one.step_of or name, part, dose)
            time = truth.time(there.latency, there.bandwidth, there.of_ring(truth.footprint))
            references = (MISS * there.latency, 1e9 * there.bandwidth, there.of_ring(RING))
            times = [pace * one for one in (time, *references)]
            found[name].append(disturbed(machine, times, draw, round_=round_, regime=regime))
    return found


def ended_early(
    treatments: Mapping[str, DiagnoseRequested], made: Mapping[str, Sequence[Pass]], most: int
) -> dict[str, list[Pass]]:
    """The passes that are left where each treatment gets no more rounds once it is decided."""
    ends = dict.fromkeys(treatments, most)
    look = next_look(0)
    while look < most:
        taken = _first(made, ends, look)
        for name in decided_treatments(treatments, taken):
            ends[name] = min(ends[name], look)
        look = next_look(look)
    return _first(made, ends, most)


def _first(
    made: Mapping[str, Sequence[Pass]], ends: Mapping[str, int], rounds: int
) -> dict[str, list[Pass]]:
    return {
        name: [one for one in of if one.round < min(rounds, ends[name])]
        for name, of in made.items()
    }


def true_bandwidth(machine: Machine, truth: Truth) -> float:
    """Of the bandwidth without pressure; 0: less than all of the writes leave."""
    return _first_slow(
        lambda part: left(machine, WRITE, part, 1.0), truth, lambda one: 1 / one.bandwidth
    )


def true_cache(machine: Machine, truth: Truth) -> float:
    """Of the ring of the cached reference, at most 1; 0: less than can be left.

    What slows down for want of cache alone counts, as if memory were as fast as ever.
    """
    return _first_slow(
        lambda part: msgspec.structs.replace(
            left(machine, CACHE, part, 1.0), latency=1.0, bandwidth=1.0
        ),
        truth,
        lambda one: min(1.0, one.cache / RING),
    )


def _first_slow(
    of: Callable[[float], Left], truth: Truth, amount: Callable[[Left], float]
) -> float:
    for at in range(PATH):
        there = of(at / PATH)
        if truth.time(there.latency, there.bandwidth, there.of_ring(truth.footprint)) > NOTHING:
            return amount(there)
    return 0.0


class NeedsOptions(Options):
    """With part doses."""

    steps: int


class Tally:
    """What became of the statements on one program."""

    def __init__(self) -> None:
        self.told = self.closed = self.wrong = 0

    def add(self, need: Need, true: float) -> None:
        """One statement."""
        self.told += need.low is not None or need.high is not None
        self.closed += need.low is not None and need.high is not None
        self.wrong += not (need.low or 0.0) <= true <= (need.high or math.inf)

    def cells(self, diagnoses: int) -> list[str]:
        """Shares told, told between two ends, and wrong."""
        return [f"{one / diagnoses:.1%}" for one in (self.told, self.closed, self.wrong)]


def needs(
    treatments: Mapping[str, DiagnoseRequested], made: Mapping[str, Sequence[Pass]]
) -> tuple[Need, Need]:
    """What is said of these passes: of bandwidth, and of the cache as a share of the ring."""
    treated = [
        one for asked in treatments.values() if asked.baseline for one in treated_of(asked, made)
    ]
    judgement = judge(treated)
    return bandwidth_need(treated, judgement), cache_need(treated, judgement, 1)


def main() -> None:
    """Print a row for each machine and program."""
    own = parser(__doc__, replications=200)
    own.add_argument("--steps", type=int, default=3)
    options = own.parse_args(namespace=NeedsOptions())
    draw = random.Random(options.seed)
    treatments = requested(options.steps)
    columns = [
        f"{of} {what}{when}"
        for when in ("", ", early")
        for of in ("bandwidth", "cache")
        for what in ("told", "two ends", "wrong")
    ]
    head(["machine", "program", *columns, "runs, early"])
    sums = [Tally() for _ in range(4)]
    for machine in MACHINES:
        for truth in PROGRAMS:
            true = (true_bandwidth(machine, truth), true_cache(machine, truth))
            tallies = [Tally() for _ in range(4)]
            runs = 0
            for _ in range(options.replications):
                made = passes(machine, truth, treatments, options.rounds, draw)
                early = ended_early(treatments, made, options.rounds)
                runs += sum(map(len, early.values()))
                said = [*needs(treatments, made), *needs(treatments, early)]
                for each in (tallies, sums):
                    for tally, need, amount in zip(each, said, true * 2, strict=True):
                        tally.add(need, amount)
            cells = [cell for tally in tallies for cell in tally.cells(options.replications)]
            row([machine.name, truth.name, *cells, f"{runs / options.replications:.0f}"])
    total = options.replications * len(MACHINES) * len(PROGRAMS)
    row(["all", "", *(cell for tally in sums for cell in tally.cells(total)), ""])


if __name__ == "__main__":
    main()
