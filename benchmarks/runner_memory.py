"""Memory of the runner over the rounds of a run, with made-up teams of any size or for real.

    python -m benchmarks.runner_memory --threads 192 --points 100 --rounds 200
    python -m benchmarks.runner_memory --survey 10m

A run is executed and recorded as any other, but its points are of one experiment without arrays:
each sample has the stamps of as many threads as are asked for, drawn at random, and takes no time.
What is printed is the process's resident memory as the rounds go on, what it grows by for each
sample, and the same of the record on the disk and of the run read back from it. With `--survey` a
real survey is made instead, in a process of its own: its resident memory, which holds the arrays,
and the bytes that it has recorded, every few seconds.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from benchmarks.rounds import table
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Point, Sample, ThreadSample
from memgauge.model.storage.run_file import RECORDS_NAME, read_run
from memgauge.model.system import System
from memgauge.runner.request import Request
from memgauge.runner.run import execute
from memgauge.system.detect import detect
from memgauge.system.memory.sources import ORDINARY, Memories

LOOKS = 10
"""Rows of the table."""
WATCHED_EVERY_S = 5.0
SAMPLE_NS = 2_000_000
SKEW_NS = 20_000
BYTES = 1 << 24


def resident_bytes(process: int | str = "self") -> int:
    """Memory of a process that is in RAM; 0 once it has ended."""
    fields = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


class Enough(Exception):
    """All rounds were measured."""


class MadeUpBench(Bench):
    """Points whose samples are drawn; ends the run after the last round."""

    def __init__(self, points: list[Point], rounds: int) -> None:
        self.points = points
        self.resident: dict[int, int] = {}
        """Bytes at the begin of some rounds."""
        self._rounds = rounds
        self._draw = random.Random(1)
        self._now_ns = 1_000_000_000

    def measure(self, point: str, round_: int) -> list[Sample]:
        """One sample of all threads."""
        if round_ % max(1, self._rounds // LOOKS) == 0 and round_ not in self.resident:
            gc.collect()
            self.resident[round_] = resident_bytes()
        if round_ == self._rounds:
            raise Enough
        self._now_ns += 2 * SAMPLE_NS
        return [Sample(point=point, round=round_, threads=self._threads(), pingpong_ns=60.0)]

    def _threads(self) -> list[ThreadSample]:
        skews = [self._draw.randrange(SKEW_NS) for _ in range(self.points[0].threads)]
        return [
            ThreadSample(
                cpu=cpu,
                begin_ns=[self._now_ns + skew],
                end_ns=[self._now_ns + SAMPLE_NS + 3 * skew],
            )
            for cpu, skew in enumerate(skews)
        ]


class MadeUp(Experiment):
    """An experiment without arrays."""

    name: ClassVar[str] = "stream"
    parameters: ClassVar[type[CommonParameters]] = CommonParameters

    def __init__(self, points: list[Point], rounds: int) -> None:
        self.bench = MadeUpBench(points, rounds)

    def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
        """All points in one group."""
        del parameters, system
        return [Group(name="made up", points=self.bench.points, bytes=1)]

    @contextmanager
    def open(
        self, group: Group, parameters: CommonParameters, memories: Memories = ORDINARY
    ) -> Iterator[Bench]:
        """Nothing is opened."""
        del group, parameters, memories
        yield self.bench


def _point(number: int, threads: int) -> Point:
    return Point(
        point=f"stream/made-up-{number}/{threads}",
        experiment="stream",
        quantity="bandwidth",
        requested={},
        actual={"cpus": f"0-{threads - 1}"},
        bytes_counted=BYTES,
        bytes_moved=BYTES,
        threads=threads,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and remove the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=192)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--survey", metavar="BUDGET", help="watch a real survey instead")
    requested = parser.parse_args(arguments)
    if requested.survey is not None:
        return _watch(requested.survey)
    experiment = MadeUp(
        [_point(number, requested.threads) for number in range(requested.points)],
        requested.rounds,
    )
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "run"
        with suppress(Enough):
            execute(
                Request(
                    experiments=[(experiment, CommonParameters())],
                    budget_s=1e6,
                    precision=1e-9,
                    directory=directory,
                    system=detect(),
                )
            )
        _print(requested.threads, requested.points, experiment.bench.resident, directory)
    return 0


def _watch(budget: str) -> int:
    """Resident memory of a survey from its begin to its end."""
    lines: list[list[str]] = []
    with tempfile.TemporaryDirectory() as place:
        records = Path(place) / "run" / RECORDS_NAME
        command = [sys.executable, "-m", "memgauge", "survey", "--budget", budget]
        begin_s = time.monotonic()
        with subprocess.Popen(
            [*command, "--output", str(records.parent)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as survey:
            while survey.poll() is None:
                recorded = records.stat().st_size if records.exists() else 0
                seen = resident_bytes(survey.pid)
                elapsed_s = time.monotonic() - begin_s
                lines.append([f"{elapsed_s:.0f}", f"{seen / 1e6:.1f}", f"{recorded / 1e6:.2f}"])
                time.sleep(WATCHED_EVERY_S)
    sys.stdout.write(table(["s", "resident, MB", "recorded, MB"], lines) + "\n")
    return survey.returncode


def _print(threads: int, points: int, resident: dict[int, int], directory: Path) -> None:
    gc.collect()
    before = resident_bytes()
    run = read_run(directory)
    read_bytes = resident_bytes() - before
    samples = sum(map(len, run.samples.values()))
    file_bytes = (directory / RECORDS_NAME).stat().st_size
    first = min(resident)
    lines = [[str(at), f"{seen / 1e6:.1f}"] for at, seen in sorted(resident.items())]
    grown = resident[max(resident)] - resident[first]
    sys.stdout.write(
        f"{points} points of {threads} threads\n"
        f"{table(['rounds', 'resident, MB'], lines)}\n"
        f"the runner grows by {grown / samples:.0f} B a sample, the record by "
        f"{file_bytes / samples:.0f} B, the run read back takes {read_bytes / samples:.0f} B\n"
    )


if __name__ == "__main__":
    sys.exit(main())
