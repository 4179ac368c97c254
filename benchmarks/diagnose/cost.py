"""How long a verdict takes for a program of so many seconds.

    python -m benchmarks.diagnose.cost --seconds 1 60
    python -m benchmarks.diagnose.cost --seconds 1 --run
    python -m benchmarks.diagnose.cost --known known.jsonl

What a pass takes beside the run of the program (generators that settle, reference loops), and what
precedes the first round, are measured here by a short diagnosis of `sleep`. How many rounds are
needed is that of programs of `benchmarks.diagnose.simulated` on its machine `near`. The time of a
verdict by pressure is computed from both; with `--run` a diagnosis of `sleep` of each length is
made too, and its time measured. With `--known` the rounds are those of real diagnoses, as
`benchmarks.diagnose.known --output` keeps them: after how many the verdict was the final one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

import memgauge
from benchmarks.diagnose.known_results import KnownResult, kept
from benchmarks.diagnose.replicated import head, row
from benchmarks.diagnose.simulated import MACHINES, PRESSURES, PROGRAMS, decided_rounds, passes
from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.shares import LEAST_ROUNDS
from memgauge.analysis.figures.run import figures_of
from memgauge.experiments.diagnose.parameters import DEFAULT_BUDGET_S, DEFAULT_ROUNDS
from memgauge.model.points.diagnose import PROGRAM, point_name
from memgauge.model.run import Run

TREATMENTS = len(PRESSURES)
UNTIMED_RUNS = 1
"""Before the first round. Traffic adds one for the working set, and its simulation."""
SHORT_S = 0.2
"""Of the diagnosis that shows what is spent beside the runs."""
SHORT_ROUNDS = 2


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a diagnosis spends beside the runs of the program."""

    setup_s: float
    pass_s: float

    def total_s(self, run_s: float, rounds: float) -> float:
        """Time of a diagnosis by pressure.

        Args:
            run_s: Time of one run of the program.
            rounds: So many.
        """
        runs = UNTIMED_RUNS + rounds * TREATMENTS
        return self.setup_s + runs * run_s + rounds * TREATMENTS * self.pass_s


def diagnosed(run_s: float, rounds: int | None) -> Run:
    """A diagnosis of a program that sleeps.

    Args:
        run_s: For so long.
        rounds: None: until it is decided.
    """
    with tempfile.TemporaryDirectory() as place:
        return memgauge.diagnose(
            ["sleep", f"{run_s}"],
            only="interference",
            rounds=rounds,
            budget="3h",
            output=f"{place}/run",
        ).run


def measured_cost() -> Cost:
    """By a short diagnosis on this machine."""
    run = diagnosed(SHORT_S, SHORT_ROUNDS)
    if run.end is None:
        raise SystemExit("the short diagnosis was not ended")
    begins_ns, ends_ns = _spans(run)
    programs_s = sum(_program_s(run))
    rounds_s = (max(ends_ns) - min(begins_ns)) * 1e-9
    taken = SHORT_ROUNDS * TREATMENTS
    return Cost(
        setup_s=max(0.0, run.end.elapsed_s - rounds_s - SHORT_S),
        pass_s=(rounds_s - programs_s) / taken,
    )


def _spans(run: Run) -> tuple[list[int], list[int]]:
    threads = [sample.threads[0] for of in run.samples.values() for sample in of]
    return [one.begin_ns[0] for one in threads], [one.end_ns[-1] for one in threads]


def _program_s(run: Run) -> Iterator[float]:
    for name in PRESSURES:
        for sample in run.samples[point_name(PROGRAM, name)]:
            thread = sample.threads[0]
            for begin_ns, end_ns in zip(thread.begin_ns, thread.end_ns, strict=True):
                yield (end_ns - begin_ns) * 1e-9


def simulated_rounds(replications: int, seed: int) -> dict[str, float]:
    """Median number of rounds by program."""
    draw = random.Random(seed)
    return {
        truth.name: median(
            decided_rounds(
                PRESSURES, passes(MACHINES[0], truth, DEFAULT_ROUNDS, draw), DEFAULT_ROUNDS
            )
            for _ in range(replications)
        )
        for truth in PROGRAMS
    }


def main() -> None:
    """Print what is spent, then a row for each length and number of rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 60.0])
    parser.add_argument("--replications", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", action="store_true", help="also run such diagnoses to their end")
    parser.add_argument("--known", type=Path, metavar="FILE", help="rounds of real diagnoses")
    options = parser.parse_args()
    cost = measured_cost()
    print(
        f"measured here: {cost.setup_s:.1f} s before the first round, {cost.pass_s:.2f} s a pass "
        f"beside the program; {TREATMENTS} passes a round\n"
    )
    cases = {"least for a verdict": float(LEAST_ROUNDS)}
    if options.known is None:
        cases |= _ends(simulated_rounds(options.replications, options.seed))
    else:
        cases |= known_rounds(kept(options.known))
    cases["most"] = float(DEFAULT_ROUNDS)
    head(["a run, s", "rounds", "", "computed, min", "in the default budget"])
    for run_s in options.seconds:
        for name, count in cases.items():
            total_s = cost.total_s(run_s, count)
            fits = "yes" if total_s <= DEFAULT_BUDGET_S else "no"
            row([f"{run_s:g}", f"{count:g}", name, f"{total_s / 60:.1f}", fits])
    if options.run:
        print()
        _run(options.seconds, cost)


def _ends(rounds: Mapping[str, float]) -> dict[str, float]:
    quick, slow = min(rounds, key=lambda name: rounds[name]), max(rounds, key=rounds.__getitem__)
    return {f"quickest: {quick}": rounds[quick], f"slowest: {slow}": rounds[slow]}


def known_rounds(results: Sequence[KnownResult]) -> dict[str, float]:
    """Of real diagnoses: median of the rounds since which the verdict was what it was in the end.

    Args:
        results: Those that had a verdict count.
    """
    of: dict[str, list[int]] = {}
    for one in results:
        if one.since_round is not None:
            of.setdefault(one.program, []).append(one.since_round)
    return {f"the same since, {name}": float(median(rounds)) for name, rounds in of.items()}


def _run(lengths: list[float], cost: Cost) -> None:
    head(["a run, s", "rounds", "verdict", "measured, min", "computed, min"])
    for run_s in lengths:
        run = diagnosed(run_s, None)
        found = diagnosis_figures(figures_of(run))
        if run.end is None or found is None:
            raise SystemExit("the diagnosis was not ended")
        computed = cost.total_s(run_s, run.end.rounds) / 60
        taken = f"{run.end.elapsed_s / 60:.1f}"
        row([f"{run_s:g}", f"{run.end.rounds}", found.verdict, taken, f"{computed:.1f}"])


if __name__ == "__main__":
    main()
