"""Copies by memgauge and its peers in turn, round after round, as one JSON line.

python -m benchmarks.gpu.copies --way within|host-to-device|device-to-host --bytes 1073741824
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial

from benchmarks.gpu.peers import PEERS, Copy, across, within

TIMES = 10
"""Copies between two events."""


def interleaved(copies: dict[str, Copy], rounds: int) -> dict[str, list[float]]:
    """ns of one copy, of each peer in each round; the order turns, so that none is always first."""
    taken: dict[str, list[float]] = {name: [] for name in copies}
    names = list(copies)
    for copy in copies.values():
        copy(TIMES)
    for round_ in range(rounds):
        first = round_ % len(names)
        for name in names[first:] + names[:first]:
            taken[name].append(copies[name](TIMES) / TIMES)
    return taken


def main() -> None:
    """Parse arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--way", required=True)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    requested = parser.parse_args()
    copies, missing = {}, {}
    for peer in PEERS:
        make = (
            partial(within, peer, requested.device, requested.bytes)
            if requested.way == "within"
            else partial(across, peer, requested.device, requested.bytes, requested.way)
        )
        try:
            made = make()
            made(1)
        except Exception as error:  # noqa: BLE001 - a peer may fail in any way of its own
            missing[peer] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        copies[peer] = made
    json.dump({"ns": interleaved(copies, requested.rounds), "missing": missing}, sys.stdout)


if __name__ == "__main__":
    main()
