"""Bandwidth of memgauge's best variant against its peers, interleaved, as ratios with their spread.

    python -m benchmarks.bandwidth --rounds 8 --peers DIR [--threads 1,2]

memgauge first searches its variants. In each round it times ten passes of every kernel and takes
the best, and every peer runs once; each ratio pairs figures of one round. On a virtual machine a
ping-pong before and after each call names the regime, and a pair counts only when both were taken
in the same.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.peers import PEERS, Figures, find, run
from benchmarks.rounds import Ratios, Regime, table
from memgauge import _core
from memgauge.experiments.stream.parameters import KERNELS
from memgauge.experiments.stream.search import label
from memgauge.system.detect import detect
from memgauge.system.topology.placement import cpus_for

PASSES = 10
HEATS = (5, 10, 20)
BLOCKS = 16
LEAD_IN_BLOCKS = 4
"""As much as the last-level cache holds, or ordinary stores look fast that only stay in it."""
ARRAY_BYTES = 160_000_000
"""As STREAM's here; at least four times the last-level cache, or change both."""


class Ours:
    """memgauge's arrays, and for each kernel its standard loop and the best tuned variant."""

    def __init__(self, team: _core.Team) -> None:
        self._threads = len(team.cpus)
        elements = ARRAY_BYTES // 8
        self._arrays = _core.StreamArrays(team, elements, blocks=BLOCKS)
        self._kernels = {f"{kernel}/standard": _core.KernelSpec(kernel) for kernel in KERNELS}
        for kernel in KERNELS:
            self._kernels[f"{kernel}/tuned"] = self._search(kernel)

    def variants(self) -> str:
        """The winners of the search."""
        tuned = ((name, spec) for name, spec in self._kernels.items() if name.endswith("tuned"))
        return ", ".join(f"{name.split('/')[0]} {label(spec)}" for name, spec in tuned)

    def figures(self) -> dict[str, float]:
        """kernel/variant to GB/s: the best of ten passes, as STREAM reports it."""
        return {
            name: max(self._speed(spec, blocks=BLOCKS) for _ in range(PASSES))
            for name, spec in self._kernels.items()
        }

    def _search(self, kernel: str) -> _core.KernelSpec:
        """The variant with the highest median speed: the better half of each heat goes on."""
        field = [(spec, list[float]()) for spec in _core.tuned_specs(kernel)]
        for visits in HEATS:
            for visit in range(visits):
                for spec, speeds in field:
                    speeds.append(
                        self._speed(spec, first_block=visit % BLOCKS, lead_in_blocks=LEAD_IN_BLOCKS)
                    )
            field.sort(key=lambda entry: -median(entry[1]))
            field = field[: max(1, len(field) // 2)]
        return field[0][0]

    def _speed(
        self, spec: _core.KernelSpec, blocks: int = 1, first_block: int = 0, lead_in_blocks: int = 0
    ) -> float:
        taken = self._arrays.run(
            spec, first_block=first_block, blocks=blocks, lead_in_blocks=lead_in_blocks
        ).threads
        elapsed_ns = max(t.end_ns[-1] for t in taken) - min(t.begin_ns[0] for t in taken)
        elements = self._arrays.elements_per_block * blocks * self._threads
        return elements * (spec.counted_read_bytes + spec.counted_write_bytes) / elapsed_ns


def measure(threads: int, rounds: int, directories: Sequence[Path]) -> str:
    """The tables of one team size."""
    cpus = cpus_for("scatter", threads, detect())
    regime = Regime(_core.Team(cpus))
    against_best: dict[str, Ratios] = defaultdict(Ratios)
    figures: dict[tuple[str, str], list[float]] = defaultdict(list)
    missed = [peer.name for peer in PEERS if find(peer, directories) is None]
    team = _core.Team(cpus)
    mine = Ours(team)
    for round_ in range(rounds):
        before = regime.now()
        found = mine.figures()
        if before == regime.now():
            theirs = _peers(threads, ARRAY_BYTES, cpus, regime, before, directories)
            _pair(found, theirs, against_best, figures)
        print(f"{threads} threads, round {round_ + 1} of {rounds}, {before}", file=sys.stderr)
    text = [f"## {threads} thread{'s' * (threads > 1)}", "", _ratio_table(against_best), ""]
    text += [f"Tuned variants: {mine.variants()}.", ""]
    text += [_figure_table(figures), ""]
    if missed:
        text += [f"Not found, so not compared: {', '.join(missed)}.", ""]
    return "\n".join(text)


def _peers(  # noqa: PLR0913, PLR0917
    threads: int,
    array_bytes: int,
    cpus: Sequence[int],
    regime: Regime,
    wanted: str,
    directories: Sequence[Path],
) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for peer in PEERS:
        program = find(peer, directories)
        for call in peer.calls(threads, array_bytes) if program else []:
            before = regime.now()
            figures = run(program or "", call, cpus)
            if before == regime.now() == wanted:
                kept = found.setdefault(peer.name, {})
                for kernel, value in figures.items():
                    kept[kernel] = max(kept.get(kernel, 0.0), value)
    return found


def _pair(
    mine: dict[str, float],
    theirs: dict[str, Figures],
    against_best: dict[str, Ratios],
    figures: dict[tuple[str, str], list[float]],
) -> None:
    for kernel in KERNELS:
        best = max((peer[kernel] for peer in theirs.values() if kernel in peer), default=None)
        fastest = max(mine[f"{kernel}/standard"], mine[f"{kernel}/tuned"])
        if best:
            against_best[kernel].values.append(fastest / best)
        for variant in ("standard", "tuned"):
            figures["memgauge " + variant, kernel].append(mine[f"{kernel}/{variant}"])
        for name, peer in theirs.items():
            if kernel in peer:
                figures[name, kernel].append(peer[kernel])


def _ratio_table(ratios: dict[str, Ratios]) -> str:
    lines = [[kernel, ratios[kernel].text()] for kernel in KERNELS if kernel in ratios]
    return table(["kernel", "memgauge / best peer, median (middle half)"], lines)


def _figure_table(figures: dict[tuple[str, str], list[float]]) -> str:
    names = list(dict.fromkeys(name for name, _ in figures))
    lines = []
    for name in names:
        cells = [figures.get((name, kernel), []) for kernel in KERNELS]
        lines.append([name, *(f"{sorted(c)[len(c) // 2]:.1f}" if c else "-" for c in cells)])
    return table(["GB/s, median of rounds", *KERNELS], lines)


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--peers", type=Path, action="append", default=[], metavar="DIR")
    chosen = parser.parse_args()
    for threads in chosen.threads.split(","):
        print(measure(int(threads), chosen.rounds, chosen.peers))


if __name__ == "__main__":
    main()
