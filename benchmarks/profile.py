"""What a profile costs: processor time of its lanes, slowdown of a program, bytes an hour.

    python -m benchmarks.profile --rounds 10

The lanes read 32 files of sysfs and one group of perf's software events. The program is sysbench,
by the time it prints itself, in interleaved pairs with and without a profile.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.opening import find, opened
from memgauge.model.errors import MemgaugeError

FILES = 32
RATES_HZ = (100, 1000)
GROUP = ("perf:task-clock", "perf:page-faults", "perf:context-switches", "perf:cpu-migrations")
SYSBENCH = {
    "cpu": ["cpu", "--cpu-max-prime=20000", "--events={events}", "--time=0"],
    "memory": ["memory", "--memory-block-size=1M", "--memory-total-size={events}M", "--time=0"],
}
EVENTS = {"cpu": 1500, "memory": 60_000}
TOTAL_TIME = re.compile(r"total time:\s+([0-9.]+)s")


def files() -> list[_core.NumberFile]:
    """Counters of network interfaces, as many as are wanted."""
    found = sorted(Path("/sys/class/net").glob("*/statistics/*"))[:FILES]
    return [_core.NumberFile(str(path), []) for path in found]


def sampling(seconds: float) -> list[list[str]]:
    """One row for each rate."""
    with ExitStack() as stack:
        what = f"{len(files())} files"
        readers = [_core.Reader([_core.open_number_files(files())])]
        try:
            target = Target(pids=[os.getpid()])
            group = stack.enter_context(opened(find(GROUP), name="group", target=target))
        except MemgaugeError as error:
            print(f"without a group of perf: {error}")
        else:
            what += f", {group.set.slots} slots of perf"
            readers.append(group.reader)
        rows = []
        for rate_hz in RATES_HZ:
            with tempfile.TemporaryDirectory() as folder:
                lanes = [
                    _core.Lane(reader, f"{folder}/{at}", 1_000_000_000 // rate_hz)
                    for at, reader in enumerate(readers)
                ]
                time.sleep(seconds)
                for lane in lanes:
                    lane.stop()
                states = [lane.state() for lane in lanes]
            share = sum(state.cpu_ns for state in states) * 1e-9 / seconds
            samples = max(state.samples for state in states)
            rows.append(
                [
                    what,
                    f"{rate_hz} Hz",
                    f"{share:.2%}",
                    f"{share * 1e6 / rate_hz:.1f} us",
                    f"{sum(state.bytes for state in states) * 3600 / seconds / 1e6:.0f} MB",
                    f"{sum(state.missed for state in states)} of {samples}",
                ]
            )
        return rows


def own_time_s(test: str, prefix: Sequence[str]) -> float:
    """What sysbench says it took."""
    words = [word.format(events=EVENTS[test]) for word in SYSBENCH[test]]
    done = subprocess.run(
        [*prefix, "sysbench", *words, "run"], capture_output=True, text=True, check=True
    )
    found = TOTAL_TIME.search(done.stdout)
    if found is None:
        sys.exit(f"sysbench printed no total time: {done.stdout}")
    return float(found[1])


def slowdown(test: str, rounds: int) -> list[str]:
    """Time under a profile over time without, pair by pair."""
    ratios = Ratios()
    written = 0.0
    for turn in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--output", f"{folder}/run", "--quiet", "--no-report"]
            profiled = [sys.executable, "-m", "memgauge", "profile", *options, "--"]
            pair = {}
            for under in (True, False) if turn % 2 else (False, True):
                pair[under] = own_time_s(test, profiled if under else [])
            ratios.values.append(pair[True] / pair[False])
            lanes = Path(folder, "run").glob("*.lane")
            written = sum(lane.stat().st_size for lane in lanes) / pair[True] * 3600 / 1e6
    return [f"sysbench {test}", ratios.text(), f"{written:.0f} MB"]


def main() -> None:
    """Parse arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10, help="pairs of each program")
    parser.add_argument("--seconds", type=float, default=10.0, help="of sampling at each rate")
    arguments = parser.parse_args()
    header = ["read", "rate", "of one core", "each", "an hour", "missed"]
    print(table(header, sampling(arguments.seconds)))
    if shutil.which("sysbench") is None:
        print("\nno sysbench on PATH (Debian: apt-get install sysbench): no slowdown measured")
        return
    rows = [slowdown(test, arguments.rounds) for test in SYSBENCH]
    print("\n" + table(["program", "time under a profile / without", "an hour"], rows))


if __name__ == "__main__":
    main()
