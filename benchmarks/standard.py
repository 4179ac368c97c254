"""`standard` against STREAM as users compile it, interleaved, as ratios with their spread.

    gcc -O3 -march=native -fopenmp -DSTREAM_ARRAY_SIZE=20000000 stream.c -o DIR/stream-native
    python -m benchmarks.standard --rounds 8 --peers DIR [--threads 1,2] [--pages 4k,auto]

In each round STREAM runs twice, and memgauge makes arrays of the same size anew, in a process of
its own, and times the same number of passes of the same kernels in STREAM's order, of which the
first is left out and the best counts. Who comes first alternates, and both touch memory first on
the same CPUs. memgauge is compared with the first STREAM; the second over the first is the control:
what two processes of one program differ by, where they got other pages or the machine changed.
STREAM's arrays have base pages, as `4k` has, unless the system always gives transparent huge pages.
A round begins when other programs leave the CPUs alone, and counts only if they did to its end and,
on a virtual machine, all were measured in the same regime. After `--patience` seconds the rounds so
far are printed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import monotonic, sleep

from benchmarks.peers import NATIVE_STREAM, Figures, find, run
from benchmarks.rounds import Ratios, Regime, table
from memgauge import _core
from memgauge.experiments.stream.sizes import ALIAS_BYTES
from memgauge.system.detect import detect
from memgauge.system.topology.placement import cpus_for

KERNELS = ("copy", "scale", "add", "triad")
ELEMENT_BYTES = 8
LOOK_S = 0.5
"""How long they are watched before a round begins."""


class Others:
    """What other programs take of the machine's CPUs from a moment on."""

    def __init__(self) -> None:
        self._others_s, self._begin = _others_s(), monotonic()

    def cpus(self) -> float:
        """How many they kept busy on average."""
        return (_others_s() - self._others_s) / (monotonic() - self._begin)


def _others_s() -> float:
    """Processor time of all programs but this one and its children, and what the host took."""
    columns = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = columns
    busy = sum((user, nice, system, irq, softirq, steal)) / os.sysconf("SC_CLK_TCK")
    times = os.times()
    return busy - times.user - times.system - times.children_user - times.children_system


@dataclass(frozen=True)
class Round:
    """Figures of one round in GB/s."""

    stream: Figures
    mine: Figures
    again: Figures
    """Of STREAM's second process."""

    def ratio(self, kernel: str) -> float:
        """memgauge's standard loop over STREAM."""
        return self.mine[kernel] / self.stream[kernel]

    def control(self, kernel: str) -> float:
        """STREAM over STREAM."""
        return self.again[kernel] / self.stream[kernel]


@dataclass(frozen=True)
class Pair:
    """STREAM and memgauge's standard loops, on the same CPUs with arrays of the same size."""

    program: str
    cpus: tuple[int, ...]
    pages: str
    elements: int
    passes: int
    most_others: float
    """CPUs that other programs may keep busy in a round that counts."""

    def title(self) -> str:
        """Team and pages."""
        threads = len(self.cpus)
        return f"{threads} thread{'s' * (threads > 1)}, pages {self.pages}"

    def round(self, regime: Regime, *, stream_first: bool) -> Round | str:
        """Figures of both, or why the round does not count."""
        before, others = regime.now(), Others()
        stream = stream_figures(self.program, self.cpus) if stream_first else {}
        mine = self._in_own_process()
        stream = stream or stream_figures(self.program, self.cpus)
        again = stream_figures(self.program, self.cpus)
        taken = others.cpus()
        if not stream or not again:
            return f"{self.program} printed no figures"
        if taken > self.most_others:
            return f"other programs kept {taken:.1f} CPUs busy"
        if before != regime.now():
            return "the virtual CPUs were moved"
        return Round(stream, mine, again)

    def _in_own_process(self) -> Figures:
        with ProcessPoolExecutor(1, get_context("spawn")) as processes:
            return processes.submit(self.standard_figures).result()

    def standard_figures(self) -> Figures:
        """Best of memgauge's passes but the first, of each kernel."""
        team = _core.Team(list(self.cpus))
        arrays = _core.StreamArrays(
            team,
            self.elements,
            pages=self.pages,
            # As the product lays them out: relative to each other as STREAM's static arrays.
            offset_bytes=self.elements * ELEMENT_BYTES % ALIAS_BYTES,
        )
        speeds: dict[str, list[float]] = {kernel: [] for kernel in KERNELS}
        for _ in range(self.passes):
            for kernel in KERNELS:
                speeds[kernel].append(_speed(arrays, _core.KernelSpec(kernel)))
        arrays.close()
        return {kernel: max(found[1:]) for kernel, found in speeds.items()}


def stream_figures(program: str, cpus: Sequence[int]) -> Figures:
    """STREAM's best of each kernel, its `elements` and `passes`."""
    (call,) = NATIVE_STREAM.calls(len(cpus), 0)
    return run(program, call, cpus)


def _speed(arrays: _core.StreamArrays, spec: _core.KernelSpec) -> float:
    threads = arrays.run(spec).threads
    elapsed_ns = max(t.end_ns[-1] for t in threads) - min(t.begin_ns[0] for t in threads)
    counted_bytes = spec.counted_read_bytes + spec.counted_write_bytes
    return arrays.elements * counted_bytes / elapsed_ns


def is_quiet(most_others: float) -> bool:
    """Whether other programs keep no more CPUs busy."""
    others = Others()
    sleep(LOOK_S)
    return others.cpus() <= most_others


def measure(pairs: Sequence[Pair], rounds: int, patience_s: float) -> dict[Pair, list[Round]]:
    """Rounds of all pairs in turn, until each has as many or patience ends."""
    kept: dict[Pair, list[Round]] = {pair: [] for pair in pairs}
    regimes = {pair: Regime(_core.Team(list(pair.cpus))) for pair in pairs}
    end = monotonic() + patience_s
    for turn, pair in enumerate(cycle(pairs)):
        if monotonic() > end or all(len(found) >= rounds for found in kept.values()):
            break
        if len(kept[pair]) >= rounds or not is_quiet(pair.most_others):
            continue
        stream_first = turn // len(pairs) % 2 == 0
        found = pair.round(regimes[pair], stream_first=stream_first)
        if isinstance(found, Round):
            kept[pair].append(found)
        reason = f" ({found})" if isinstance(found, str) else ""
        print(f"{pair.title()}: {len(kept[pair])} of {rounds} rounds{reason}", file=sys.stderr)
    return kept


def _table(rounds: Sequence[Round]) -> str:
    lines = []
    for kernel in KERNELS:
        ratios = Ratios([one.ratio(kernel) for one in rounds])
        control = Ratios([one.control(kernel) for one in rounds])
        stream = [one.stream[kernel] for one in rounds]
        mine = [one.mine[kernel] for one in rounds]
        lines.append([kernel, _spread(stream), _spread(mine), ratios.text(3), control.text(3)])
    return table(
        [
            "kernel",
            "STREAM, GB/s: least, median, most",
            "standard, GB/s",
            "standard / STREAM",
            "STREAM / STREAM",
        ],
        lines,
    )


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{min(values):.1f} {median(values):.1f} {max(values):.1f}"


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--pages", default="4k", help="of memgauge's arrays")
    parser.add_argument(
        "--others", type=float, default=0.1, metavar="CPUS", help="others may keep busy in a round"
    )
    parser.add_argument("--patience", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--peers", type=Path, action="append", default=[], metavar="DIR")
    chosen = parser.parse_args()
    program = find(NATIVE_STREAM, chosen.peers)
    if program is None:
        parser.error(f"no {NATIVE_STREAM.program} on PATH or in a directory given by --peers")
    system = detect()
    figures = stream_figures(program, cpus_for("scatter", 1, system))
    pairs = [
        Pair(
            program=program,
            cpus=tuple(cpus_for("scatter", threads, system)),
            pages=pages,
            elements=int(figures["elements"]),
            passes=int(figures["passes"]),
            most_others=chosen.others,
        )
        for threads in map(int, chosen.threads.split(","))
        for pages in chosen.pages.split(",")
    ]
    loops = _core.KernelSpec("copy").isa
    print(f"Standard loops compiled for {loops}; others kept up to {chosen.others} CPUs busy.\n")
    for pair, found in measure(pairs, chosen.rounds, chosen.patience).items():
        print(f"## {pair.title()}\n\n{_table(found)}\n")


if __name__ == "__main__":
    main()
