"""Bandwidth of memgauge's best variant against its peers, interleaved, as ratios with their spread.

    python -m benchmarks.bandwidth --rounds 8 --peers DIR [--threads 1,2] [--autotune]

In each round memgauge times ten passes of every kernel, and every peer runs once; each ratio pairs
figures of one round. On a virtual machine a ping-pong before and after each call names the regime,
and a pair counts only when both were taken in the same.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.peers import PEERS, Figures, find, run
from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.analysis.speeds import sample_value
from memgauge.experiments.base import Bench
from memgauge.experiments.stream import Stream
from memgauge.experiments.stream_parameters import KERNELS, StreamParameters
from memgauge.system.detect import detect
from memgauge.system.placement import cpus_for

PASSES = 10
FAR_NS = 90.0
"""Between one-way times of cores that share a last-level cache and of those that do not."""

Tagged = tuple[float, str]


class Regime:
    """Names the distance of a team's cores."""

    def __init__(self, team: _core.Team) -> None:
        self._team = team

    def now(self) -> str:
        """near, far, or one for a single thread."""
        ns = self._team.pingpong_ns()
        return "one" if ns is None else "far" if ns > FAR_NS else "near"


@contextmanager
def opened(threads: int) -> Iterator[tuple[Bench, int]]:
    """memgauge's arrays and kernels, and the bytes of an array."""
    experiment = Stream()
    system = detect()
    parameters = StreamParameters(threads=(threads,))
    group = experiment.plan(parameters, system)[0]
    with experiment.open(group, parameters, system) as bench:
        yield bench, int(str(bench.points[0].effective["array_bytes"]))


def ours(bench: Bench, round_: int) -> dict[str, float]:
    """Best of ten slices or passes of every point: kernel/variant to GB/s."""
    best: dict[str, float] = defaultdict(float)
    for point in bench.points:
        for _ in range(PASSES):
            value = sample_value(point, bench.measure(point.point, round_))
            name = f"{point.asked['kernel']}/{point.asked['variant']}"
            if value is not None and (point.role == "pass" or name[:4] in {"read", "writ", "upda"}):
                best[name] = max(best[name], value)
    return best


def measure(threads: int, rounds: int, directories: Sequence[Path]) -> str:
    """The tables of one team size."""
    cpus = cpus_for("scatter", threads, detect())
    regime = Regime(_core.Team(cpus))
    against_best: dict[str, Ratios] = defaultdict(Ratios)
    against_stream: dict[str, Ratios] = defaultdict(Ratios)
    figures: dict[tuple[str, str], list[float]] = defaultdict(list)
    missed = [peer.name for peer in PEERS if find(peer, directories) is None]
    with opened(threads) as (bench, array_bytes):
        for round_ in range(rounds):
            before = regime.now()
            mine = ours(bench, round_)
            if before != regime.now():
                continue
            theirs = _peers(threads, array_bytes, cpus, regime, before, directories)
            _pair(mine, theirs, against_best, against_stream, figures)
            print(f"{threads} threads, round {round_ + 1} of {rounds}, {before}", file=sys.stderr)
    text = [f"## {threads} thread{'s' * (threads > 1)}", "", _ratio_table(against_best), ""]
    text += ["standard / STREAM compiled with the same flags (-O3):", ""]
    text += [_ratio_table(against_stream), "", _figure_table(figures), ""]
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
    against_stream: dict[str, Ratios],
    figures: dict[tuple[str, str], list[float]],
) -> None:
    for kernel in KERNELS:
        best = max((peer[kernel] for peer in theirs.values() if kernel in peer), default=None)
        fastest = max(mine[f"{kernel}/standard"], mine[f"{kernel}/tuned"])
        if best:
            against_best[kernel].values.append(fastest / best)
        stream = theirs.get("STREAM -O3", {}).get(kernel)
        if stream:
            against_stream[kernel].values.append(mine[f"{kernel}/standard"] / stream)
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
