"""How long rings of dependent loads take to be touched and linked, by one thread and by many.

    python -m benchmarks.linking [--gib 1] [--rounds 5]

In each round each kind of ring is linked anew by the first CPU alone and by teams of more CPUs of
its node, in an order that rotates: who comes after a ring of small pages also waits for the kernel
to make huge ones of them. The processor time shows what sharing the work costs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.rounds import table
from memgauge import _core
from memgauge.experiments.shared.rings import BLOCK_BYTES, MEMORY_NODE_BYTES
from memgauge.system.detect import detect
from memgauge.system.topology.placement import LINE_BYTES, Touching


class Kind(NamedTuple):
    """A ring to link."""

    order: str
    node_bytes: int
    pages: str


KINDS = [
    Kind(order, node_bytes, pages)
    for order, node_bytes in (
        ("block-random", MEMORY_NODE_BYTES),
        ("random", MEMORY_NODE_BYTES),
        ("random", LINE_BYTES),
    )
    for pages in ("thp", "4k")
]


class Took(NamedTuple):
    """Of one ring."""

    wall_s: float
    processor_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    requested = parser.parse_args(arguments)
    system = detect()
    cpus = Touching(system).cpus(system.allowed_cpus[0], None)
    sizes = sorted({1, *(1 << power for power in range(len(cpus).bit_length())), len(cpus)})
    teams = [_core.Team(cpus[:size]) for size in sizes if size <= len(cpus)]
    taken: dict[tuple[Kind, int], list[Took]] = defaultdict(list)
    for number in range(requested.rounds):
        for kind in KINDS:
            shift = number % len(teams)
            for team in [*teams[shift:], *teams[:shift]]:
                taken[kind, len(team.cpus)].append(_took(kind, team, int(requested.gib * 2**30)))
    lines = [
        [
            f"{kind.order}, {kind.node_bytes} B, {kind.pages}",
            str(threads),
            f"{median(one.wall_s for one in all_taken):.2f}",
            f"{median(one.processor_s for one in all_taken):.2f}",
        ]
        for (kind, threads), all_taken in sorted(taken.items())
    ]
    header = ["ring", "threads", "s", "processor s"]
    sys.stdout.write(f"{requested.gib:g} GiB, medians\n{table(header, lines)}\n")
    return 0


def _took(kind: Kind, team: _core.Team, size_bytes: int) -> Took:
    walker = _core.Team(team.cpus[:1])
    begin_s, processor_s = time.monotonic(), time.process_time()
    ring = _core.ChaseRing(
        walker,
        size_bytes,
        node_bytes=kind.node_bytes,
        block_bytes=BLOCK_BYTES if kind.order == "block-random" else 0,
        order=kind.order,
        pages=kind.pages,
        linkers=team,
    )
    took = Took(time.monotonic() - begin_s, time.process_time() - processor_s)
    ring.close()
    return took


if __name__ == "__main__":
    sys.exit(main())
