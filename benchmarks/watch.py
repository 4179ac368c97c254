"""How well `memgauge watch` sees what happens, and what it costs.

    python -m benchmarks.watch rules [--days 7] [--seed 1]
    python -m benchmarks.watch live --minutes 30 [--output DIR] [--seed 1]

`rules` simulates latencies whose truth is known and counts false alarms a day, and the share of
steps of several sizes and lengths that are found, with the delay. `live` watches this machine while
a load on another CPU comes and goes in bursts of 5 seconds to 5 minutes, and compares what was seen
with what was done; the cost is measured from outside, by /proc/PID/stat.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.rounds import table
from memgauge import _core
from memgauge.analysis.watch.baseline import Baseline
from memgauge.analysis.watch.moments import Moment
from memgauge.analysis.watch.rules import RULES, Alert, Alerts
from memgauge.analysis.watch.section import watched_of
from memgauge.model.storage.run_file import read_run

DAY = 86_400
LEARN_S = 120
LEARN_PERIODS = 120
LATENCY = next(rule for rule in RULES if rule.name == "latency")
SHORTEST_S, LONGEST_S = 5.0, 300.0
LEAST_REST_S, MOST_REST_S = 30.0, 120.0
TAIL_S = 10.0
"""After a burst, in which an alert still is its."""
CHUNK_BYTES = 64 << 20
MAD_TO_SIGMA = 1.4826

Series = Callable[[random.Random], Iterator[float]]


def white(sigma: float) -> Series:
    """Independent passes."""

    def values(draw: random.Random) -> Iterator[float]:
        while True:
            yield 1 + draw.gauss(0, sigma)

    return values


def wandering(sigma: float, memory: float) -> Series:
    """Passes that resemble those before them: a stationary process of first order."""

    def values(draw: random.Random) -> Iterator[float]:
        state, step = draw.gauss(0, sigma), sigma * math.sqrt(1 - memory**2)
        while True:
            state = memory * state + draw.gauss(0, step)
            yield 1 + state

    return values


def spiky(sigma: float, share: float, lasts: float = 1.0) -> Series:
    """Now and then a pass, or several in a row, of two to five times the latency."""

    def values(draw: random.Random) -> Iterator[float]:
        left = 0
        while True:
            if left == 0 and draw.random() < share / lasts:
                left = 1 if lasts == 1 else max(1, round(draw.expovariate(1 / lasts)))
            high = draw.uniform(2, 5) if left else 1
            left = max(0, left - 1)
            yield high * (1 + draw.gauss(0, sigma))

    return values


def heavy(sigma: float) -> Series:
    """Passes with a long tail: a lognormal distribution of median 1."""

    def values(draw: random.Random) -> Iterator[float]:
        while True:
            yield math.exp(draw.gauss(0, sigma))

    return values


def two_places(away: float, lasts_s: float) -> Series:
    """A host that moves the CPU between two places, whose latencies differ."""

    def values(draw: random.Random) -> Iterator[float]:
        other = False
        while True:
            other ^= draw.random() < 1 / lasts_s
            yield 1 + away * other + draw.gauss(0, 0.02)

    return values


def daily(height: float) -> Series:
    """A day that is slower than its night; the baseline was learned at the quietest time."""

    def values(draw: random.Random) -> Iterator[float]:
        at = 0
        while True:
            at += 1
            yield 1 + height * (1 - math.cos(2 * math.pi * at / DAY)) / 2 + draw.gauss(0, 0.02)

    return values


PROCESSES: tuple[tuple[str, Series], ...] = (
    ("independent, 2%", white(0.02)),
    ("independent, 8%", white(0.08)),
    ("lognormal, 10%", heavy(0.10)),
    ("wandering for 10 s, 3%", wandering(0.03, math.exp(-1 / 10))),
    ("wandering for 5 s, 8%", wandering(0.08, math.exp(-1 / 5))),
    ("wandering for 10 min, 3%", wandering(0.03, math.exp(-1 / 600))),
    ("wandering for 10 min, 6%", wandering(0.06, math.exp(-1 / 600))),
    ("spikes in 1% of passes", spiky(0.02, 0.01)),
    ("spikes in 5% of passes", spiky(0.02, 0.05)),
    ("slow for about 3 passes, 1% of the time", spiky(0.02, 0.01, 3.0)),
    ("two places 8% apart", two_places(0.08, 300)),
    ("day 10% above night", daily(0.10)),
)
STEPS = (1.15, 1.25, 1.35, 1.5, 2.0)
LENGTHS_S = (5, 10, 30, 300)
NOISES = ((0.02, "2%"), (0.08, "8%"))


def learned(values: list[float]) -> Baseline:
    """As the first minutes give it."""
    middle = median(values)
    mad = median(abs(one - middle) for one in values)
    return Baseline(value=middle, spread=MAD_TO_SIGMA * mad / middle, source="simulated")


def moment(at: int, value: float) -> Moment:
    """One pass, a second after the one before."""
    return Moment(at_ns=at * 1_000_000_000, seconds=1.0, values={"latency_ns": value})


def false_alarms(series: Series, days: float, draw: random.Random) -> tuple[int, float]:
    """Alerts raised, and the share of time in which one held."""
    values = series(draw)
    baselines = {"latency_ns": learned([next(values) for _ in range(LEARN_PERIODS)])}
    alerts = Alerts((LATENCY,))
    raised = held = 0
    periods = round(days * DAY)
    for at in range(periods):
        changes = alerts.take(moment(at, next(values)), baselines)
        raised += sum(1 for one in changes if one.until_ns is None)
        held += bool(alerts.active)
    return raised, held / periods


def found(
    step: float, length_s: int, sigma: float, tries: int, draw: random.Random
) -> tuple[float, float | None]:
    """Share of steps that raised an alert, and the median delay in seconds."""
    delays = []
    for _ in range(tries):
        baselines = {
            "latency_ns": learned([1 + draw.gauss(0, sigma) for _ in range(LEARN_PERIODS)])
        }
        alerts = Alerts((LATENCY,))
        for at in range(10 + length_s + 5):
            level = step if 10 <= at < 10 + length_s else 1.0
            value = level * (1 + draw.gauss(0, sigma))
            if any(one.until_ns is None for one in alerts.take(moment(at, value), baselines)):
                delays.append(at - 10)
                break
    return len(delays) / tries, median(delays) if delays else None


def rules(days: float, tries: int, seed: int) -> None:
    """Print both tables."""
    rows = []
    for name, series in PROCESSES:
        raised, held = false_alarms(series, days, random.Random(f"{seed} {name}"))
        rows.append([name, f"{raised / days:.2f}", f"{100 * held:.3f}%"])
    print(f"False alarms of the rule on latency, {days:g} days of one pass a second each\n")
    print(table(["process", "alarms a day", "of the time"], rows))
    rows = []
    for sigma, noise in NOISES:
        for step in STEPS:
            cells = [f"{step:g} times, passes spread by {noise}"]
            for length_s in LENGTHS_S:
                draw = random.Random(f"{seed} {step} {length_s} {sigma}")
                share, delay_s = found(step, length_s, sigma, tries, draw)
                cells.append(f"{100 * share:.0f}%" + (f", {delay_s:.0f} s" if delay_s else ""))
            rows.append(cells)
    print(f"\nSteps that raise an alert, and the median delay, of {tries} tries each\n")
    print(table(["latency", *(f"{one} s long" for one in LENGTHS_S)], rows))


def bursts(minutes: float, draw: random.Random) -> list[tuple[float, float]]:
    """Begins and ends in seconds, after the first minutes; lengths even in their logarithm."""
    at_s, ends_s = LEARN_S + MOST_REST_S / 2, 60 * minutes
    found: list[tuple[float, float]] = []
    while True:
        at_s += draw.uniform(LEAST_REST_S, MOST_REST_S)
        length_s = math.exp(draw.uniform(math.log(SHORTEST_S), math.log(LONGEST_S)))
        if at_s + length_s + TAIL_S > ends_s:
            return found
        found.append((at_s, at_s + length_s))
        at_s += length_s


def load(cpu: int, seconds: float) -> None:
    """Read and write memory on a CPU for so long."""
    traffic = _core.Traffic(_core.Team([cpu]), CHUNK_BYTES * 2)
    spec = _core.TrafficSpec(reads=2, writes=1)
    ends_s = time.monotonic() + seconds
    while time.monotonic() < ends_s:
        traffic.run(spec, CHUNK_BYTES)


def cpu_s(pid: int) -> float:
    """Processor time of a process, by the kernel's own account."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    words = fields.rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    words = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def live(options: argparse.Namespace) -> None:
    """Watch, load, compare."""
    directory = Path(options.output or tempfile.mkdtemp(prefix="memgauge-watch-")) / "run"
    planned = bursts(options.minutes, random.Random(options.seed))
    command = [sys.executable, "-m", "memgauge", "watch", "--for", f"{60 * options.minutes:g}s"]
    command += ["--learn", f"{LEARN_S}s", "--cpu", str(options.probe_cpu)]
    command += ["--output", str(directory), "--quiet"]
    watching = subprocess.Popen(command)
    began_s = time.monotonic()
    done: list[tuple[int, int]] = []
    costs: list[tuple[float, float, float]] = []
    for begin_s, end_s in planned:
        _sleep_until(began_s + begin_s, watching.pid, costs, began_s)
        first_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        words = ["load", "--cpu", str(options.load_cpu), "--seconds", str(end_s - begin_s)]
        subprocess.run([sys.executable, "-m", "benchmarks.watch", *words], check=True)
        done.append((first_ns, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)))
    _sleep_until(began_s + 60 * options.minutes - 2, watching.pid, costs, began_s)
    code = watching.wait()
    path = directory.parent / "bursts.json"
    path.write_text(json.dumps({"bursts_ns": done, "costs": costs}), encoding="utf-8")
    print(f"watch ended with {code}; run: {directory}; bursts: {path}")
    compare(directory, done)
    if len(costs) > 1:
        (t0, c0, _), (t1, c1, r1) = costs[0], costs[-1]
        print(f"cost from outside: {100 * (c1 - c0) / (t1 - t0):.2f}% of one CPU, {r1:.0f} MiB")


def _sleep_until(
    at_s: float, pid: int, costs: list[tuple[float, float, float]], began_s: float
) -> None:
    while (left_s := at_s - time.monotonic()) > 0:
        time.sleep(min(left_s, 10.0))
        # Its start-up is no part of what watching costs.
        if time.monotonic() - began_s > LEARN_S / 4:
            costs.append((time.monotonic(), cpu_s(pid), resident_mib(pid)))


def compare(directory: Path, done: list[tuple[int, int]]) -> None:
    """Print what was seen of what was done."""
    run = read_run(directory)
    seen = watched_of(run)
    if seen is None:
        print("the run holds no readings")
        return
    epoch_ns = run.start.clock.epoch_raw_ns
    spans = [(begin - epoch_ns, end - epoch_ns) for begin, end in done]
    alerts = [one for one in seen.alerts if one.rule.relative]
    rows = []
    matched: set[int] = set()
    for begin_ns, end_ns in spans:
        mine = [
            (number, one)
            for number, one in enumerate(alerts)
            if one.since_ns < end_ns + TAIL_S * 1e9 and (one.until_ns or seen.last_ns) > begin_ns
        ]
        matched |= {number for number, _ in mine}
        first = min((one.raised_ns for _, one in mine), default=None)
        length_s = (end_ns - begin_ns) * 1e-9
        rows.append(
            [
                f"{(begin_ns - seen.first_ns) * 1e-9:.0f}",
                f"{length_s:.0f}",
                "-" if first is None else f"{(first - begin_ns) * 1e-9:.0f}",
                ", ".join(f"{one.rule.name} {_worst(one)}" for _, one in mine) or "not seen",
            ]
        )
    print(table(["burst at s", "long s", "raised after s", "alerts"], rows))
    hits = sum(1 for row in rows if row[2] != "-")
    others = [one for number, one in enumerate(alerts) if number not in matched]
    hours = (seen.last_ns - seen.first_ns) / 3.6e12
    print(
        f"\n{hits} of {len(rows)} bursts seen; {len(others)} alerts outside of them in "
        f"{hours:.2f} h; {seen.moments} samples"
    )
    for one in seen.summaries:
        if one.figure.is_own or one.figure.is_probe:
            print(f"{one.figure.title}: mean {one.mean}, median {one.quantile(0.5)}")
    for name, known in seen.watcher.baselines.items():
        print(f"baseline of {name}: {known.value:.5g}, passes spread by {100 * known.spread:.1f}%")


def _worst(alert: Alert) -> str:
    return f"{alert.worst / alert.baseline:.2f}x" if alert.baseline else f"{alert.worst:.3g}"


def main() -> None:
    """Parse arguments and run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parts = parser.add_subparsers(dest="part", required=True)
    simulated = parts.add_parser("rules")
    simulated.add_argument("--days", type=float, default=7.0)
    simulated.add_argument("--tries", type=int, default=300)
    simulated.add_argument("--seed", type=int, default=1)
    watched = parts.add_parser("live")
    watched.add_argument("--minutes", type=float, default=30.0)
    watched.add_argument("--probe-cpu", type=int, default=max(_core.allowed_cpus()))
    watched.add_argument("--load-cpu", type=int, default=min(_core.allowed_cpus()))
    watched.add_argument("--seed", type=int, default=1)
    watched.add_argument("--output")
    loading = parts.add_parser("load")
    loading.add_argument("--cpu", type=int, required=True)
    loading.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    match options.part:
        case "rules":
            rules(options.days, options.tries, options.seed)
        case "live":
            live(options)
        case _:
            load(options.cpu, options.seconds)


if __name__ == "__main__":
    main()
