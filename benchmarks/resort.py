"""The re-sorting loops of the distributed FFT against NumPy's transpose-copy, interleaved.

    python -m benchmarks.resort [--sizes 64,128,256] [--grid 2x4] [--rounds 15]

Of one rank's part of N x N x N complex doubles on the grid. In each round NumPy's
`out[...] = given.transpose(...)` and every loop nest re-sort the same arrays once, in changing
order; each ratio pairs times of one round, and above 1 the nest is the faster. Then S1CF as one
loop nest against the same as two, with the traffic study's index orders and in tiles. What each
writes is compared with NumPy's before anything is timed.

NumPy stores in order and loads in strides, as the second loop nest does, and both are as fast. The
fused nest in the study's order does the reverse: each store is to another line, of which it fills a
quarter, and with sizes that are multiples of powers of two all lines of a row meet in few sets of
the caches. That is the order's limit. Tiles leave the order of loads alone but for their width, and
fill lines before they leave: of 4, 8 and 16 columns all do, of 32 there are more lines than a set
of level 1 has ways.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.model.grid import Grid, parse_grid
from memgauge.model.nests import extents_of

TILE = 8
"""Columns of complex doubles: two lines of 64 bytes read at a time."""

Array = Any
Work = Callable[[], None]
ORDERS = {"s1cf": (2, 0, 1), "s1pf": (2, 0, 1), "s2cf": (1, 2, 0, 3), "s2pf": (1, 2, 0, 3)}


@dataclass
class Resort:
    """Arrays of one routine, and the ways to re-sort them."""

    given: Array
    out: Array
    tmp: Array
    ways: dict[str, Work]


def resort(kernel: str, size: int, grid: Grid) -> Resort:
    """Its arrays and ways, each seen to do what NumPy does."""
    extents = extents_of(kernel, size, grid=grid)
    shape = _shape(kernel, extents)
    generator = np.random.default_rng(size)
    given = generator.random(shape) + 1j * generator.random(shape)
    turned = given.transpose(ORDERS[kernel])
    made = Resort(given, np.ones(turned.shape, complex), np.ones_like(given), {})
    made.ways["NumPy"] = _by_numpy(made, turned)
    made.ways["plain"] = _by(kernel, extents, given, made.out)
    if kernel.startswith("s1"):
        first = _by(f"{kernel}-first", extents, given, made.tmp)
        second = _by(f"{kernel}-second", extents, made.tmp, made.out)
        made.ways["second loop"] = second
        made.ways["two loops"] = _both(first, second)
        made.ways["tiled"] = _by(kernel, {**extents, "tile": TILE}, given, made.out)
    made.tmp[...] = given
    for name, way in made.ways.items():
        made.out[...] = 1
        way()
        if not (made.out == turned).all():
            raise SystemExit(f"{kernel}, N = {size}: {name} does not do what NumPy does")
    return made


def _shape(kernel: str, extents: dict[str, int]) -> tuple[int, ...]:
    names = {
        "s1cf": ("planes", "rows", "cols"),
        "s1pf": ("cols", "rows", "planes"),
        "s2cf": ("y", "planes", "x", "rows"),
        "s2pf": ("y", "cols", "x", "rows"),
    }
    return tuple(extents[name] for name in names[kernel])


def _by(kernel: str, extents: dict[str, int], given: Array, out: Array) -> Work:
    lengths: dict[str, Any] = dict(extents)
    spec = _core.NestSpec(kernel, **lengths)
    return lambda: _core.execute_nest(spec, [given, out])


def _by_numpy(made: Resort, turned: Array) -> Work:
    def copy() -> None:
        made.out[...] = turned

    return copy


def _both(first: Work, second: Work) -> Work:
    def both() -> None:
        first()
        second()

    return both


def timed(made: Resort, rounds: int) -> dict[str, list[float]]:
    """Seconds of each way in each round."""
    names = list(made.ways)
    found: dict[str, list[float]] = defaultdict(list)
    for round_ in range(rounds):
        shift = round_ % len(names)
        for name in names[shift:] + names[:shift]:
            begin = time.perf_counter()
            made.ways[name]()
            found[name].append(time.perf_counter() - begin)
    return found


def ratio(of: list[float], to: list[float]) -> str:
    """How many times as fast `of` is as `to`, by rounds."""
    return Ratios([theirs / ours for ours, theirs in zip(of, to, strict=True)]).text()


def main() -> None:
    """Parse arguments, measure, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="64,96,128,192,256,384,512")
    parser.add_argument("--grid", default="2x4")
    parser.add_argument("--rounds", type=int, default=15)
    requested = parser.parse_args()
    grid = parse_grid(requested.grid, "--grid")
    against_numpy, fused = [], []
    for size in map(int, requested.sizes.split(",")):
        for kernel in ORDERS:
            made = resort(kernel, size, grid)
            taken = timed(made, requested.rounds)
            ns = min(taken["NumPy"]) / made.given.size * 1e9
            line = [kernel, str(size), f"{ns:.2f}"]
            line += [
                ratio(taken[name], taken["NumPy"]) if name in taken else ""
                for name in ("plain", "second loop", "tiled")
            ]
            against_numpy.append(line)
            if kernel == "s1cf":
                two = taken["two loops"]
                fused.append([str(size), ratio(taken["plain"], two), ratio(taken["tiled"], two)])
    print(f"Times as fast as NumPy's transpose-copy, grid {requested.grid}:\n")
    header = ["routine", "N", "NumPy, ns an element", "as the study has it"]
    print(table([*header, "its second loop nest", f"tiles of {TILE}"], against_numpy))
    print("\nS1CF in one loop nest, times as fast as in two:\n")
    print(table(["N", "as the study has it", f"tiles of {TILE}"], fused))


if __name__ == "__main__":
    main()
