"""Loaded latency of memgauge against multichase's multiload, interleaved.

    python -m benchmarks.loaded --rounds 20 --peers DIR

One thread chases, one generates traffic; both tools chase the same ring (nodes 256 bytes apart, at
random within 256 KiB, transparent huge pages). multiload generates at full speed only, with a plain
loop. Three questions, each a ratio memgauge / multiload of the same round and regime:

- bandwidth of memgauge at delay 0 (`full speed`), its fastest stores where the mix has writes;
- its latency there;
- its latency at multiload's own bandwidth, read off memgauge's curve over the delay between the two
  points around it (`same bandwidth`); not known where the curve does not reach that bandwidth.

All figures are averages over samples; memgauge's leave out visits in which a thread was switched
out or a page had gone away. multiload takes some ten seconds for one point. On a virtual machine a
ping-pong before and after each call names the regime, and a pair counts only when both were taken
in the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.peers import number
from benchmarks.rounds import Ratios, Regime, table
from memgauge import _core

RING_BYTES = 128 << 20
NODE_BYTES = 256
BLOCK_BYTES = 256 << 10
TRAFFIC_BYTES = 128 << 20
HOPS, WARM_HOPS = 2000, 200
VISITS, MOST_VISITS = 40, 400
DELAYS = (0, 5, 10, 20, 40, 80, 160, 320)
SAMPLES = 3
MIB_PER_S = 2**20 * 1e-9


class Load(NamedTuple):
    """A mix, as multiload calls it and as memgauge is asked for it."""

    peer: str
    reads: int
    writes: int


LOADS = (Load("stream-sum", 1, 0), Load("stream-copy", 1, 1), Load("stream-triad", 2, 1))


class Measured(NamedTuple):
    """One point of a bandwidth-latency curve."""

    gb_per_s: float
    latency_ns: float


def multiload(program: str, load: Load) -> Measured | None:
    """Average chase latency and average load bandwidth; None when it prints no such line."""
    arguments = ["-a", "-H", "-c", "chaseload", "-l", load.peer, "-t", "2", "-n", str(SAMPLES)]
    sizes = ["-m", str(RING_BYTES), "-s", str(NODE_BYTES), "-T", str(BLOCK_BYTES)]
    done = subprocess.run(
        [program, *arguments, *sizes], capture_output=True, text=True, check=False
    )
    return measured(done.stdout)


def measured(text: str) -> Measured | None:
    """The last line of multiload's output; None where it holds no such figures."""
    fields = text.strip().rsplit("\n", 1)[-1].split(",")
    if len(fields) < 9:
        return None
    latency_ns, mib_per_s = number(fields[3].strip()), number(fields[8].strip())
    if not latency_ns or not mib_per_s:
        return None
    return Measured(mib_per_s * MIB_PER_S, latency_ns)


class Ours:
    """One probe and one generator."""

    def __init__(self, team: _core.Team) -> None:
        self._ring = _core.ChaseRing(
            team,
            RING_BYTES,
            node_bytes=NODE_BYTES,
            block_bytes=BLOCK_BYTES,
            order="block-random",
            pages="thp",
        )
        self._traffic = _core.Traffic(team, TRAFFIC_BYTES, first_rank=1, pages="thp")

    def point(self, load: Load, store: str, delay: int) -> Measured:
        """Averages over undisturbed visits."""
        spec = _core.TrafficSpec(load.reads, load.writes, store, "sequential", delay)
        visits = (self._visit(spec) for _ in range(MOST_VISITS))
        taken = list(islice((visit for visit in visits if visit is not None), VISITS))
        return Measured(*(mean(column) for column in zip(*taken, strict=True)))

    def curve(self, load: Load, store: str) -> list[Measured]:
        """Points by rising delay."""
        return [self.point(load, store, delay) for delay in DELAYS]

    def _visit(self, spec: _core.TrafficSpec) -> Measured | None:
        probe, generator = self._traffic.run_loaded(spec, self._ring, HOPS, WARM_HOPS).slice.threads
        if any(t.involuntary_switches or t.page_faults for t in (probe, generator)):
            return None
        latency_ns = (probe.end_ns[0] - probe.begin_ns[0]) / HOPS
        elapsed_ns = generator.end_ns[0] - generator.begin_ns[0]
        return Measured((generator.read_bytes + generator.write_bytes) / elapsed_ns, latency_ns)


def latency_at(curve: Sequence[Measured], gb_per_s: float) -> float | None:
    """Latency where the curve passes a bandwidth, between two neighbours; None: it does not."""
    for one, other in pairwise(sorted(curve)):
        if one.gb_per_s <= gb_per_s <= other.gb_per_s and one.gb_per_s < other.gb_per_s:
            share = (gb_per_s - one.gb_per_s) / (other.gb_per_s - one.gb_per_s)
            return one.latency_ns + share * (other.latency_ns - one.latency_ns)
    return None


Key = tuple[str, str]
"""multiload's name of the load, and the regime."""


class Tally:
    """Pairs of all rounds."""

    def __init__(self) -> None:
        self.ratios: dict[str, dict[Key, Ratios]] = defaultdict(lambda: defaultdict(Ratios))
        self.figures: dict[Key, list[tuple[Measured, Measured]]] = defaultdict(list)

    def add(self, key: Key, curves: Sequence[Sequence[Measured]], theirs: Measured) -> None:
        """One round of one load: our curves, one for each kind of stores."""
        fastest = max(curves, key=lambda curve: curve[0].gb_per_s)
        full = fastest[0]
        self.figures[key].append((full, theirs))
        self._ratio("bandwidth", key, full.gb_per_s / theirs.gb_per_s)
        self._ratio("latency", key, full.latency_ns / theirs.latency_ns)
        same = latency_at(curves[0], theirs.gb_per_s)
        if same is not None:
            self._ratio("same bandwidth", key, same / theirs.latency_ns)

    def _ratio(self, what: str, key: Key, value: float) -> None:
        self.ratios[what][key].values.append(value)

    def text(self) -> str:
        """The table."""
        lines = []
        for key, pairs in sorted(self.figures.items()):
            mine, theirs = pairs[len(pairs) // 2]
            lines.append(
                [
                    *key,
                    f"{mine.gb_per_s:.1f} at {mine.latency_ns:.0f}",
                    f"{theirs.gb_per_s:.1f} at {theirs.latency_ns:.0f}",
                    *(self.ratios[what][key].text() for what in WHAT),
                ]
            )
        return table(["load", "regime", "memgauge GB/s at ns", "multiload", *WHAT], lines)


WHAT = ("bandwidth", "latency", "same bandwidth")


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--peers", type=Path, action="append", default=[], metavar="DIR")
    chosen = parser.parse_args()
    path = os.pathsep.join([*map(str, chosen.peers), os.environ.get("PATH", "")])
    program = shutil.which("multiload", path=path)
    if program is None:
        print("multiload was not found, so nothing is compared")
        return
    team = _core.Team(_core.allowed_cpus()[:2])
    ours, regime, tally = Ours(team), Regime(team), Tally()
    for round_ in range(chosen.rounds):
        for load in LOADS:
            before = regime.now()
            stores = ("temporal", "non-temporal") if load.writes else ("temporal",)
            curves = [ours.curve(load, store) for store in stores]
            between = regime.now()
            theirs = multiload(program, load)
            if theirs is not None and before == between == regime.now():
                tally.add((load.peer, before), curves, theirs)
        print(f"round {round_ + 1} of {chosen.rounds}", file=sys.stderr)
    print(tally.text())


if __name__ == "__main__":
    main()
