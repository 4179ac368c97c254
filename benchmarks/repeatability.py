"""Do equal runs of this machine differ by more than memgauge says?

    python -m benchmarks.repeatability --budget 20s --blocks 10 --loaded 3

Surveys in a row, each in a process of its own, in blocks of six. Nothing is changed between them,
so every difference that stands is false. Of each block:

- three pairs of neighbours: the share of figures whose intervals overlap, and of those that
  `compare` calls different between the two runs, which adds the run-to-run drift;
- three runs a side, made in turns: figures that stand as different, and whether the pace does;
- the sixth run beside the five before it: likewise, and what the run itself says of its headline
  figures beside those of the earlier ones.

Some blocks are made beside a load: one process that copies memory without end. Goal: at most 1%
of figures stand. The machine's own load average is printed beside each block.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import memgauge
from benchmarks.rounds import table
from memgauge.analysis.comparison.ratios import DIFFERS, Pair, Row
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.errors import RequestError
from memgauge.model.storage.series import run_of_series

IN_BLOCK = 6
EVERY = 3
"""Blocks, of which one is made beside a load, as long as there are some to make."""
COPYING = "b = bytearray(1 << 26)\nwhile True:\n    c = bytes(b)\n"
"""The load: 64 MiB, far beyond caches of one's own."""


@dataclass
class Count:
    """So many of so many."""

    of: int = 0
    found: int = 0

    def add(self, found: int, of: int) -> None:
        """Count some more."""
        self.found += found
        self.of += of

    def __str__(self) -> str:
        """With its share."""
        return f"{self.found} of {self.of} ({self.found / max(1, self.of):.1%})"


@dataclass
class Block:
    """What six equal runs say of each other."""

    loaded: bool
    load_average: float
    overlap: Count
    differ: Count
    of_three: Count
    of_three_any: bool
    of_three_pace: bool
    beside_five: Count
    beside_five_any: bool
    headlines: str


@contextmanager
def beside_load() -> Iterator[None]:
    """One process that copies memory until the end."""
    with subprocess.Popen([sys.executable, "-I", "-c", COPYING]) as process:
        try:
            yield
        finally:
            process.kill()


def survey(directory: Path, budget: str) -> None:
    """One run, in a process of its own."""
    words = ["survey", "--budget", budget, "--output", str(directory)]
    subprocess.run(
        [sys.executable, "-m", "memgauge", *words], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def pair_of(baseline: Sequence[Path], other: Sequence[Path]) -> Pair | None:
    """Both sides, compared; None where they have no figure in common, as of too short a budget."""
    try:
        (pair,) = memgauge.compare(list(baseline), list(other)).comparison.pairs
    except RequestError:
        return None
    return pair


def overlap(row: Row) -> bool:
    """Whether the intervals of both figures do, without anything added."""
    return row.baseline.low <= row.other.high and row.other.low <= row.baseline.high


def of_pairs(runs: Sequence[Path]) -> tuple[Count, Count]:
    """Of each run and the next: figures whose intervals overlap, and those that differ."""
    overlapping, differing = Count(), Count()
    for first, second in zip(runs[::2], runs[1::2], strict=True):
        pair = pair_of([first], [second])
        known = [] if pair is None else pair.rows
        rows = [row for row in known if has_interval(row.baseline) and has_interval(row.other)]
        overlapping.add(sum(map(overlap, rows)), len(rows))
        differing.add(sum(row.outcome == DIFFERS for row in rows), len(rows))
    return overlapping, differing


def standing(pair: Pair | None) -> Count:
    """Figures that stand as different, of those that are judged."""
    judged = [] if pair is None else pair.judged
    return Count(len(judged), sum(row.stands for row in judged))


def measured(place: Path, budget: str, *, loaded: bool) -> Block:
    """Make six runs and compare them."""
    load_average = os.getloadavg()[0]
    runs = [run_of_series(place, number) for number in range(1, IN_BLOCK + 1)]
    with beside_load() if loaded else nullcontext():
        for run in runs:
            survey(run, budget)
    overlapping, differing = of_pairs(runs)
    three = pair_of(runs[::2], runs[1::2])
    beside = pair_of(runs[:-1], runs[-1:])
    verdicts = memgauge.load(runs[-1]).document()["verdicts"]
    said = [one["text"] for one in verdicts if "earlier runs of this machine" in one["text"]]
    return Block(
        loaded=loaded,
        load_average=load_average,
        overlap=overlapping,
        differ=differing,
        of_three=standing(three),
        of_three_any=standing(three).found > 0,
        of_three_pace=bool(three and three.paces and three.paces.differs),
        beside_five=standing(beside),
        beside_five_any=standing(beside).found > 0,
        headlines="; ".join(said) or "nothing",
    )


def line_of(block: Block) -> list[str]:
    """A row of the table."""
    return [
        "beside a load" if block.loaded else "as it was",
        f"{block.load_average:.1f}",
        str(block.overlap),
        str(block.differ),
        f"{block.of_three}{', pace differs' if block.of_three_pace else ''}",
        str(block.beside_five),
    ]


def total(blocks: Sequence[Block]) -> list[str]:
    """All blocks in one row."""
    counts = [Count() for _ in range(4)]
    for block in blocks:
        made = (block.overlap, block.differ, block.of_three, block.beside_five)
        for count, one in zip(counts, made, strict=True):
            count.add(one.found, one.of)
    any_three = sum(block.of_three_any for block in blocks)
    any_five = sum(block.beside_five_any for block in blocks)
    paces = sum(block.of_three_pace for block in blocks)
    of = len(blocks)
    return [
        "all",
        "",
        str(counts[0]),
        str(counts[1]),
        f"{counts[2]}; any in {any_three} of {of}, pace in {paces}",
        f"{counts[3]}; any in {any_five} of {of}",
    ]


COLUMNS = (
    "six runs", "load before", "pairs: intervals overlap", "pairs: differ",
    "three a side: stand", "one beside five: stand",
)  # fmt: skip


def main() -> None:
    """Parse arguments, measure, and print a row as each block ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--loaded", type=int, default=3, help="blocks beside a load")
    parser.add_argument(
        "--minutes", type=float, default=120, help="no block is begun that may end later"
    )
    chosen = parser.parse_args()
    end_s = time.monotonic() + 60 * chosen.minutes
    blocks: list[Block] = []
    longest_s = 0.0
    with tempfile.TemporaryDirectory() as directory:
        for at in range(chosen.blocks):
            began_s = time.monotonic()
            if began_s + longest_s > end_s:
                break
            loaded = at % EVERY == 1 and at // EVERY < chosen.loaded
            block = measured(Path(directory) / str(at), chosen.budget, loaded=loaded)
            longest_s = max(longest_s, time.monotonic() - began_s)
            blocks.append(block)
            print(" | ".join(line_of(block)), "|", block.headlines, flush=True)
    print()
    print(table(list(COLUMNS), [*map(line_of, blocks), total(blocks)]))


if __name__ == "__main__":
    main()
