"""What a profile costs: processor time of its lanes, slowdown of a program, bytes an hour.

    python -m benchmarks.profile --rounds 10

A lane reads one file of sysfs (which shows what waking its thread costs), one group of perf's
software events, 32 files, and all of it. Lanes take turns, round by round; of each the least and
the median over rounds is printed, for neighbours on the machine only ever make them slower. The
program is sysbench, by the time it prints itself, in interleaved pairs with and without a profile.
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
from statistics import median

import msgspec

from benchmarks.peers import number
from benchmarks.rounds import Ratios, table
from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.opening import find, opened
from memgauge.model.errors import MemgaugeError

FILES = 32
READINGS = 200
RATES_HZ = (100, 1000)
GROUP = ("perf:task-clock", "perf:page-faults", "perf:context-switches", "perf:cpu-migrations")
SYSBENCH = {
    "cpu": ["cpu", "--cpu-max-prime=20000", "--events={events}", "--time=0"],
    "memory": ["memory", "--memory-block-size=1M", "--memory-total-size={events}M", "--time=0"],
}
EVENTS = {"cpu": 1500, "memory": 60_000}
TOTAL_TIME = re.compile(r"total time:\s+([0-9.]+)s")


def files(most: int) -> _core.CounterSource:
    """Counters of network interfaces, as many as are wanted."""
    found = sorted(Path("/sys/class/net").glob("*/statistics/*"))[:most]
    return _core.open_number_files([_core.NumberFile(str(path), []) for path in found])


def readers(stack: ExitStack) -> dict[str, _core.Reader]:
    """What lanes read, by what is said of it."""
    made = {"1 file": _core.Reader([files(1)]), f"{FILES} files": _core.Reader([files(FILES)])}
    try:
        events, target = find(GROUP), Target(pids=[os.getpid()])
        group = stack.enter_context(opened(events, name="group", target=target))
        both = stack.enter_context(opened(events, name="both", target=target, first=[files(FILES)]))
    except MemgaugeError as error:
        print(f"without a group of perf: {error}")
        return made
    return made | {"perf group": group.reader, f"{FILES} files, perf group": both.reader}


class Cost(msgspec.Struct):
    """Of one lane, round by round."""

    us: list[float] = []
    bytes_per_s: list[float] = []
    missed: int = 0
    samples: int = 0


def reading_us(reader: _core.Reader) -> float:
    """The least time of a reading that follows another at once."""
    taken = [reader.read() for _ in range(READINGS)]
    return min(reading.end_ns - reading.begin_ns for reading in taken) * 1e-3


def sampled(reader: _core.Reader, rate_hz: int, seconds: float, cost: Cost) -> None:
    """Add one round of a lane."""
    with tempfile.TemporaryDirectory() as folder:
        lane = _core.Lane(reader, f"{folder}/lane", 1_000_000_000 // rate_hz)
        time.sleep(seconds)
        lane.stop()
        state = lane.state()
    cost.us.append(state.cpu_ns * 1e-3 / state.samples)
    cost.bytes_per_s.append(state.bytes / seconds)
    cost.missed += state.missed
    cost.samples += state.samples


def sampling(seconds: float, rounds: int) -> list[list[str]]:
    """One row for each lane and rate."""
    with ExitStack() as stack:
        known = readers(stack)
        alone = {what: reading_us(reader) for what, reader in known.items()}
        costs = {(rate, what): Cost() for rate in RATES_HZ for what in known}
        for _ in range(rounds):
            for (rate, what), cost in costs.items():
                sampled(known[what], rate, seconds, cost)
    return [
        [
            *(what, f"{rate} Hz", f"{alone[what]:.1f} us"),
            *(f"{min(cost.us):.1f} us", f"{median(cost.us):.1f} us"),
            f"{min(cost.us) * rate * 1e-6:.2%}",
            f"{median(cost.bytes_per_s) * 3600 / 1e6:.0f} MB",
            f"{cost.missed} of {cost.missed + cost.samples}",
        ]
        for (rate, what), cost in costs.items()
    ]


def own_time_s(test: str, prefix: Sequence[str]) -> float:
    """What sysbench says it took."""
    words = [word.format(events=EVENTS[test]) for word in SYSBENCH[test]]
    done = subprocess.run(
        [*prefix, "sysbench", *words, "run"], capture_output=True, text=True, check=True
    )
    total_s = total_time_s(done.stdout)
    if total_s is None:
        sys.exit(f"sysbench printed no total time: {done.stdout}")
    return total_s


def total_time_s(text: str) -> float | None:
    """The total time in sysbench's output; None where it holds none."""
    found = TOTAL_TIME.search(text)
    return None if found is None else number(found[1])


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
    parser.add_argument(
        "--rounds", type=int, default=10, help="of all lanes, and pairs of each program"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="of each lane in each round")
    arguments = parser.parse_args()
    header = ["read", "rate", "reading alone", "a sample, least", "median"]
    header += ["least, of one core", "an hour", "missed"]
    print(table(header, sampling(arguments.seconds, arguments.rounds)))
    if shutil.which("sysbench") is None:
        print("\nno sysbench on PATH (Debian: apt-get install sysbench): no slowdown measured")
        return
    rows = [slowdown(test, arguments.rounds) for test in SYSBENCH]
    print("\n" + table(["program", "time under a profile / without", "an hour"], rows))


if __name__ == "__main__":
    main()
