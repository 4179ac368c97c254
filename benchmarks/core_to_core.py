"""Core-to-core latency of memgauge against core-to-core-latency and c2clat, interleaved.

    python -m benchmarks.core_to_core --rounds 20 --peers DIR [--cpus 0,1]
    python -m benchmarks.core_to_core --published DIR

core-to-core-latency reports the mean of its samples, of compare-and-swap on one line and of
stores to two lines; c2clat the best of its samples, rounded down to whole ns. memgauge hands over
one line. In each round each program runs once on the same two CPUs, in an order that alternates; a
round counts if the CPUs were equally far at its begin and its end. Printed: memgauge over the peer,
the mean over the mean and the best over the best, by round.

With --published the groups that memgauge finds in the matrices that core-to-core-latency publishes
(its directory `results`) are printed, for each machine.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.rounds import Ratios, Regime, table
from memgauge import _core
from memgauge.analysis.core_to_core.clusters import find_levels
from memgauge.experiments.core_to_core.plan import BATCH_ROUND_TRIPS, BATCHES, ROUND_TRIPS
from memgauge.model.cpulist import format_cpu_list, parse_cpu_list

SAMPLES = 300
PEER_ROUND_TRIPS = 1000
TIMEOUT_S = 60

Figures = dict[str, float]
"""ns by operation and statistic, such as `store, best`."""


def printed(arguments: Sequence[str]) -> str:
    """Output of a peer; empty where it failed."""
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def viennot(program: str, cpus: Sequence[int], bench: int, operation: str) -> Figures:
    """The mean of core-to-core-latency, which prints rows of a lower triangle."""
    text = printed([
        program, str(PEER_ROUND_TRIPS), str(SAMPLES), "--csv", "--bench", str(bench),
        "--cores", ",".join(map(str, cpus)),
    ])  # fmt: skip
    found = [float(cell) for row in csv.reader(text.splitlines()) for cell in row if cell]
    return {f"{operation}, mean": found[0]} if found else {}


def c2clat(program: str, cpus: Sequence[int], operation: str) -> Figures:
    """The best of c2clat, from the last cell of its first row."""
    listed = ",".join(map(str, cpus))
    swaps = ["-w"] if operation == "compare-and-swap" else []
    lines = printed(["taskset", "-c", listed, program, *swaps]).splitlines()
    try:
        return {f"{operation}, best": float(lines[1].split()[-1])}
    except (IndexError, ValueError):
        return {}


class Mine:
    """memgauge's exchange, sampled as often as core-to-core-latency samples its own."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._lines = _core.SharedLines(_core.Team(list(cpus)), 0)

    def figures(self) -> Figures:
        """Mean and best of both operations, over samples in which both CPUs were there."""
        taken: dict[str, list[float]] = defaultdict(list)
        for _ in range(SAMPLES * PEER_ROUND_TRIPS // ROUND_TRIPS // 4):
            slices = self._lines.hand_over(0, 1, BATCHES, BATCH_ROUND_TRIPS)
            of_both = {"store": slices.store, "compare-and-swap": slices.compare_and_swap}
            for operation, one in of_both.items():
                served = one.threads[0]
                if served.begin_ns and one.threads[1].begin_ns:
                    ns = served.end_ns[0] - served.begin_ns[0]
                    taken[operation].append(ns / (2 * ROUND_TRIPS))
        return {
            f"{operation}, {statistic.__name__.replace('min', 'best')}": statistic(values)
            for operation, values in taken.items()
            for statistic in (mean, min)
        }


def compared(cpus: Sequence[int], directories: Sequence[Path], rounds: int) -> str:
    """A table of ratios, by peer and figure."""
    path = os.pathsep.join([*map(str, directories), os.environ.get("PATH", "")])
    programs = {name: shutil.which(name, path=path) for name in ("core-to-core-latency", "c2clat")}
    for name in [name for name, program in programs.items() if program is None]:
        print(f"{name}: not found; name its directory with --peers")
    team, mine = _core.Team(list(cpus)), Mine(cpus)
    regime = Regime(team)
    ratios: dict[tuple[str, str, str], Ratios] = defaultdict(Ratios)
    values: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    dropped = 0
    for round_ in range(rounds):
        before = regime.now()
        own = mine.figures() if round_ % 2 == 0 else {}
        theirs = {}
        latency, rigtorp = programs["core-to-core-latency"], programs["c2clat"]
        if latency is not None:
            theirs["core-to-core-latency"] = viennot(
                latency, cpus, 1, "compare-and-swap"
            ) | viennot(latency, cpus, 2, "store")
        if rigtorp is not None:
            theirs["c2clat"] = c2clat(rigtorp, cpus, "store") | c2clat(
                rigtorp, cpus, "compare-and-swap"
            )
        own = own or mine.figures()
        if before != regime.now():
            dropped += 1
            continue
        for peer, figures in theirs.items():
            for figure, ns in figures.items():
                if figure in own and ns > 0:
                    ratios[peer, figure, before].values.append(own[figure] / ns)
                    values[peer, figure, before].append((own[figure], ns))
    print(f"{rounds - dropped} of {rounds} rounds count: in the others the CPUs were moved")
    return table(
        ["peer", "figure", "distance", "memgauge, ns", "peer, ns", "ratio"],
        [
            [
                *key,
                f"{sorted(v[0] for v in values[key])[len(values[key]) // 2]:.1f}",
                f"{sorted(v[1] for v in values[key])[len(values[key]) // 2]:.1f}",
                one.text(),
            ]
            for key, one in sorted(ratios.items())
        ],
    )


def numbers(row: Sequence[str]) -> list[float | None]:
    """Cells of a row of a matrix, None where there is none; no cell of another row."""
    try:
        return [float(cell) if cell.strip() else None for cell in row]
    except ValueError:
        return []


def published(directory: Path) -> str:
    """The groups in each published matrix."""
    lines = []
    for file in sorted(directory.glob("*.csv")):
        with file.open(encoding="utf-8") as opened:
            read = [numbers(row) for row in csv.reader(opened)]
        matrix = [row for row in read if row]
        distances = {
            (column, row): ns
            for row, cells in enumerate(matrix)
            for column, ns in enumerate(cells)
            if ns and column < row
        }
        count = len(matrix)
        if len(distances) < count * (count - 1) // 2:
            lines.append([file.stem, str(count), "some pairs are missing"])
            continue
        found = [
            f"{len(level.groups)} ({level.within:.0f} / {level.across:.0f} ns): "
            f"{' '.join(format_cpu_list(group) for group in level.groups[:3])} ..."
            for level in find_levels(range(count), distances)
        ]
        lines.append([file.stem, str(count), "; ".join(found) or "none"])
    return table(["machine", "CPUs", "groups (within / across): the first three"], lines)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--peers", type=Path, action="append", default=[])
    parser.add_argument("--cpus", default=None, help="two CPUs, such as 0,1")
    parser.add_argument("--published", type=Path, default=None)
    given = parser.parse_args()
    if given.published is not None:
        print(published(given.published))
        return
    cpus = parse_cpu_list(given.cpus) if given.cpus else sorted(os.sched_getaffinity(0))[:2]
    print(compared(cpus, given.peers, given.rounds))


if __name__ == "__main__":
    main()
