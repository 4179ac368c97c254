"""Programs whose share of address translation is known, on simulated machines: is it ever wrong?

    python -m benchmarks.diagnose.simulated_translation --replications 1000

Machines and disturbances are those of `benchmarks.diagnose.simulated`. A program on base pages
spends shares of its time on translation, on page faults in the kernel, on what these cost in user
mode afterwards, and on what huge pages change besides (prefetchers, lines that collide). Huge pages
take all of it away, or a part of translation only, as where a hypervisor splits them. The kernel
tells user mode from its own time by 100 ticks a second. A statement is wrong if translation takes
less than it says at least, or if `little` is said of a program of which huge pages take more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.diagnose.replicated import Options, head, parser, row
from benchmarks.diagnose.simulated import (
    MACHINES,
    PRESSURES,
    Machine,
    Truth,
    decided_rounds,
    first_rounds,
    passes,
)
from memgauge.analysis.diagnose.by_region.judged import treated_under
from memgauge.analysis.diagnose.figures import treated_of
from memgauge.analysis.diagnose.judgement import judge
from memgauge.analysis.diagnose.page_facts import Spent, TlbReach, saved_between
from memgauge.analysis.diagnose.passes import Pass
from memgauge.analysis.diagnose.translation import (
    LEAST_SHARE,
    Evidence,
    Translation,
    judge_translation,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import AS_IT_IS, AS_IT_IS_AGAIN, DiagnoseRequested

MIB = 1 << 20
REACH = TlbReach(bytes=10 * MIB, is_measured=True, source="the TLB (measured)")
LLC_BYTES = 32 * MIB
TICKS_PER_S = 100
FAULT_S = 1e-6
OTHER = "other pages"
REQUESTED = {
    AS_IT_IS: DiagnoseRequested(subject="program", treatment=AS_IT_IS, kind="variant"),
    **{
        name: DiagnoseRequested(
            subject="program", treatment=name, kind="variant", baseline=AS_IT_IS, change=change
        )
        for name, change in ((AS_IT_IS_AGAIN, ""), (OTHER, "pages"))
    },
}


class Paged(msgspec.Struct, frozen=True, kw_only=True):
    """A program by shares of its time on base pages."""

    name: str
    translation: float = 0.0
    removed: float = 1.0
    """Part of it that huge pages take away."""
    faults: float = 0.0
    """In the kernel,"""
    aftermath: float = 0.5
    """and over that, in user mode afterwards."""
    else_gained: float = 0.0
    """By huge pages, of neither."""
    latency: float = 0.0
    bandwidth: float = 0.0
    cached: float = 0.0
    """By what pressure shows, as in `Truth`."""
    traffic_share: float | None = 0.05
    working_set_bytes: int = 256 * MIB
    is_huge: bool = False
    """Whether it is on huge pages as it is."""
    run_s: float = 1.0

    @property
    def user_saved(self) -> float:
        """Share of time in user mode that huge pages take."""
        return self.translation * self.removed + self.faults * self.aftermath + self.else_gained

    @property
    def beyond_faults(self) -> float:
        """What the share that is stated estimates."""
        return self.user_saved - self.faults


PROGRAMS = (
    Paged(name="nothing of either"),
    Paged(name="30% page faults", faults=0.30),
    Paged(name="30% page faults, as much again afterwards", faults=0.30, aftermath=1.0),
    Paged(name="3% translation", translation=0.03),
    Paged(name="6% translation", translation=0.06),
    Paged(name="10% translation", translation=0.10),
    Paged(name="20% translation", translation=0.20),
    Paged(name="50% translation", translation=0.50),
    Paged(name="20% translation, half taken (split)", translation=0.20, removed=0.5),
    Paged(name="20% translation, 20% page faults", translation=0.20, faults=0.20),
    Paged(name="20% translation, waits 50%", translation=0.20, latency=0.5),
    Paged(
        name="20% translation, waits 50%, traffic unknown",
        translation=0.20,
        latency=0.5,
        traffic_share=None,
    ),
    Paged(name="20% translation, on huge pages already", translation=0.20, is_huge=True),
    Paged(name="20% translation, runs of 0.3 s", translation=0.20, run_s=0.3),
    Paged(name="streams, prefetch gains 15%", bandwidth=1.0, else_gained=0.15, traffic_share=0.9),
    Paged(name="waits 50%, small, gains 15%", latency=0.5, else_gained=0.15, working_set_bytes=MIB),
    Paged(name="cached, collides 20%", cached=1.0, else_gained=0.20, working_set_bytes=24 * MIB),
    Paged(
        name="waits 50%, collides 15%", latency=0.5, else_gained=0.15, working_set_bytes=40 * MIB
    ),
)


class Runs(msgspec.Struct, frozen=True):
    """Of the usual way, of it again, and on other pages."""

    passes: Mapping[str, Sequence[Pass]]
    spent: Mapping[str, Mapping[int, Spent]]


def page_runs(machine: Machine, truth: Paged, rounds: int, draw: random.Random) -> Runs:
    """Times and processor times, as a diagnosis would have them."""
    base = (1 - truth.faults, truth.faults)
    huge = (base[0] - truth.user_saved, 0.0)
    usual, other = (huge, base) if truth.is_huge else (base, huge)
    made: dict[str, list[Pass]] = {name: [] for name in REQUESTED}
    spent: dict[str, dict[int, Spent]] = {name: {} for name in REQUESTED}
    for round_ in range(rounds):
        pace = draw.lognormvariate(0, machine.pace)
        for name, shares in ((AS_IT_IS, usual), (AS_IT_IS_AGAIN, usual), (OTHER, other)):
            late = draw.uniform(1.1, 1.5) if draw.random() < machine.stragglers else 1.0
            time_s = truth.run_s * sum(shares) * pace * late * draw.lognormvariate(0, machine.noise)
            system_s = time_s * _ticked(shares[1] / sum(shares), time_s, draw)
            made[name].append(Pass(round=round_, regime="", program=time_s))
            spent[name][round_] = Spent(
                active_s=time_s,
                user_s=time_s - system_s,
                system_s=system_s,
                faults=truth.run_s * shares[1] / FAULT_S,
            )
    return Runs(made, spent)


def _ticked(share: float, time_s: float, draw: random.Random) -> float:
    """A share of time as so many ticks show it: by the normal approximation of a binomial."""
    ticks = max(1, round(time_s * TICKS_PER_S))
    found = round(draw.gauss(ticks * share, (ticks * share * (1 - share)) ** 0.5))
    return min(1.0, max(0.0, found / ticks))


def judged(
    pressed: Mapping[str, Sequence[Pass]], runs: Runs, truth: Paged, rounds: int
) -> Translation:
    """What is said after so many rounds on both kinds of pages.

    Args:
        pressed: Passes of the program under pressure.
        runs: Of the program on its pages.
        truth: The program.
        rounds: Of the runs, that are looked at.
    """
    taken = first_rounds(runs.passes, rounds)
    treated = {name: treated_of(REQUESTED[name], taken)[0] for name in (AS_IT_IS_AGAIN, OTHER)}
    spent = {
        name: {round_: one for round_, one in of.items() if round_ < rounds}
        for name, of in runs.spent.items()
    }
    base, huge = (OTHER, AS_IT_IS) if truth.is_huge else (AS_IT_IS, OTHER)
    return judge_translation(
        Evidence(
            is_huge=truth.is_huge,
            base=base,
            huge=huge,
            saved=saved_between(spent[base], spent[huge]),
            gain=_gain(treated[OTHER].program, is_huge=truth.is_huge),
            again=treated[AS_IT_IS_AGAIN].program,
            again_saved=saved_between(spent[AS_IT_IS], spent[AS_IT_IS_AGAIN]),
            judgement=judge(treated_under(PRESSURES, pressed, 0.95), truth.traffic_share),
            traffic_share=truth.traffic_share,
            working_set_bytes=truth.working_set_bytes,
            reach=REACH,
            llc_bytes=LLC_BYTES,
        )
    )


def _gain(time: Estimate | None, *, is_huge: bool) -> Estimate | None:
    if time is None:
        return None
    ends = (time.value, time.low, time.high) if is_huge else (time.value, time.high, time.low)
    return Estimate(*((1 - 1 / one) if is_huge else 1 - one for one in ends))


def is_wrong(found: Translation, truth: Paged) -> bool:
    """Whether the statement does not hold of the program."""
    if found.at_least is not None:
        return found.at_least > truth.translation
    return found.kind == "little" and truth.user_saved > LEAST_SHARE


class Tally:
    """What became of the diagnoses of one program."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def add(self, found: Translation, truth: Paged, rounds: int) -> None:
        """One diagnosis."""
        self.found["diagnoses"] += 1
        self.found["rounds"] += rounds
        self.found[found.kind] += 1
        self.found["wrong"] += is_wrong(found, truth)
        if found.saved is not None:
            interval = found.saved.beyond_faults
            self.found["given"] += 1
            self.found["covered"] += interval.low <= truth.beyond_faults <= interval.high
            self.found["held"] += interval.low <= truth.beyond_faults

    def cells(self) -> list[str]:
        """Coverage of the interval and of its lower end, what is said, and what of it is wrong."""
        n, given = self.found["diagnoses"], max(1, self.found["given"])
        told = self.found["translation"] + self.found["spared"]
        return [
            f"{self.found['covered'] / given:.1%}",
            f"{self.found['held'] / given:.1%}",
            f"{told / n:.0%}",
            f"{self.found['little'] / n:.0%}",
            f"{self.found['cannot tell'] / n:.0%}",
            f"{self.found['wrong'] / n:.1%}",
            f"{self.found['rounds'] / n:.1f}",
        ]


def diagnosed(
    machine: Machine, truth: Paged, most: int, draw: random.Random
) -> tuple[Translation, Translation, int]:
    """With all rounds; ended early, as soon as the variants are decided; and after how many rounds.

    Args:
        machine: On which it runs.
        truth: The program.
        most: Rounds.
        draw: Source of chance.
    """
    of = Truth(
        name=truth.name,
        latency=truth.latency,
        bandwidth=truth.bandwidth,
        cached=truth.cached,
        right=frozenset(),
    )
    pressed = passes(machine, of, most, draw)
    runs = page_runs(machine, truth, most, draw)
    rounds = decided_rounds(REQUESTED, runs.passes, most)
    fixed, early = (judged(pressed, runs, truth, count) for count in (most, rounds))
    return fixed, early, rounds


def main() -> None:
    """Print a row for each machine and program."""
    options = parser(__doc__, replications=200).parse_args(namespace=Options())
    draw = random.Random(options.seed)
    of = ["covered", "low holds", "translation", "little", "cannot tell", "wrong", "rounds"]
    head(["machine", "program", *of, *(f"{one}, early" for one in of)])
    sums = Tally(), Tally()
    for machine in MACHINES:
        for truth in PROGRAMS:
            tallies = Tally(), Tally()
            for _ in range(options.replications):
                fixed, early, rounds = diagnosed(machine, truth, options.rounds, draw)
                for fixed_tally, early_tally in (tallies, sums):
                    fixed_tally.add(fixed, truth, options.rounds)
                    early_tally.add(early, truth, rounds)
            row([machine.name, truth.name, *(cell for one in tallies for cell in one.cells())])
    row(["all", "", *(cell for one in sums for cell in one.cells())])


if __name__ == "__main__":
    main()
