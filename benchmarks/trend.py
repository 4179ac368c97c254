"""How often does a trend report changes that are none, and what does it find? How fast is a store?

    python -m benchmarks.trend --histories 400
    python -m benchmarks.trend --store DIR --runs 1000000

The first simulates nightly runs of one machine. Every figure of a run has an offset with a standard
deviation of 1%, half of whose variance is common to the run's figures (its pace), as in
`benchmarks.compare_runs`. Both parts may remember a share of the night before (autocorrelation);
one run in thirty may be disturbed, 5% to 20% slower as a whole; a tenth of the nights and of the
figures are missing. Printed: of unchanged histories, and of fleets of them, the share with any
reported change (goal: at most 5%); of histories with one changed figure of twelve, or with a
changed pace, the share in which the change is found, the share of the found ones whose time and
whose size lie within the stated intervals (goal: 95%), and the share with a false change beside.

The second makes a store of synthetic runs and prints what adding, compacting and asking it take.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.rounds import table
from memgauge.analysis.trend.changes import PACE
from memgauge.analysis.trend.fleet import StandingChange, trend_of
from memgauge.analysis.trend.history import Era, History, Key, RunFacts, Track

OFFSET = 0.01
"""Standard deviation of a figure between runs."""
COMMON = 0.5
"""Share of the variance that is common to all figures of a run."""
DISTURBED = 1 / 30
MISSING = 0.1
BEGAN = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)
USUAL = 12 * 50
"""Figures times runs; of larger histories fewer are simulated, so that each case takes as long."""
MACHINES = 20
LENGTHS = (12, 20, 50, 200)


@dataclass(frozen=True)
class Case:
    """What histories are like."""

    runs: int
    figures: int = 12
    correlation: float = 0.0
    disturbed: bool = False
    change: float = 0.0
    """Of speed, as a share, in the first figure or in all."""
    after: int = 0
    """Runs at the new level."""
    of_pace: bool = False


@dataclass
class Tally:
    """Over all histories of one case."""

    histories: int = 0
    any_change: int = 0
    found: int = 0
    in_time: int = 0
    in_size: int = 0
    false_beside: int = 0
    half_widths: list[float] = field(default_factory=list)

    def share(self, count: int, of: int | None = None) -> str:
        """Of all histories, or of some."""
        total = self.histories if of is None else of
        return f"{count / total:.1%}" if total else "-"


def autoregressive(
    rng: random.Random, deviation: float, correlation: float, length: int
) -> list[float]:
    """Values of this deviation, each of which remembers a share of the one before."""
    value = rng.gauss(0, deviation)
    fresh = deviation * math.sqrt(1 - correlation * correlation)
    found = []
    for _ in range(length):
        found.append(value)
        value = correlation * value + rng.gauss(0, fresh)
    return found


def history_of(rng: random.Random, case: Case, machine: str = "node") -> tuple[History, int]:
    """One machine's runs, and the index of the first changed one."""
    pace = autoregressive(rng, OFFSET * math.sqrt(COMMON), case.correlation, case.runs)
    if case.disturbed:
        pace = [p + math.log1p(-rng.uniform(0.05, 0.2)) * (rng.random() < DISTURBED) for p in pace]
    first = case.runs - case.after
    step = math.log1p(-case.change)
    tracks: dict[Key, Track] = {}
    for at in range(case.figures):
        own = autoregressive(rng, OFFSET * math.sqrt(1 - COMMON), case.correlation, case.runs)
        changed = case.of_pace or at == 0
        values: list[float | None] = [
            None
            if rng.random() < MISSING
            else 40 * math.exp(p + o + step * (changed and run >= first))
            for run, (p, o) in enumerate(zip(pace, own, strict=True))
        ]
        tracks[f"figure/{at:03}", ""] = Track(
            unit="GB/s", direction="higher", statistic="p90", values=values, left_out=0
        )
    runs = [
        RunFacts(
            run=f"{machine}-{at}",
            started_at=began,
            machine_id="kind",
            kind="simulated",
            modules=None,
            conditions={},
        )
        for at, began in enumerate(nights(rng, case.runs))
    ]
    era = Era(begin=0, end=case.runs)
    return History(machine=machine, runs=runs, tracks=tracks, eras=[era]), first


def nights(rng: random.Random, count: int) -> Iterator[datetime]:
    """Unevenly spaced starts: about each night, some of which are missing."""
    night = BEGAN
    for _ in range(count):
        night += timedelta(days=1 + (rng.random() < MISSING))
        yield night + timedelta(minutes=rng.uniform(0, 90))


def tally(case: Case, histories: int) -> Tally:
    """Simulate one case."""
    rng = random.Random(str(case))
    done = Tally()
    for _ in range(max(10, histories * USUAL // max(case.figures * case.runs, USUAL))):
        history, first = history_of(rng, case)
        changes = trend_of([history]).changes
        done.histories += 1
        done.any_change += bool(changes)
        if case.change:
            _count(done, case, changes, first)
    return done


def _count(done: Tally, case: Case, changes: list[StandingChange], first: int) -> None:
    key: Key = PACE if case.of_pace else ("figure/000", "")
    right = [one.change for one in changes if one.change.key == key and one.change.is_slower]
    near = min(right, key=lambda one: abs(one.first - first), default=None)
    done.false_beside += len(changes) > (near is not None)
    if near is None:
        return
    done.found += 1
    done.in_time += near.low <= first <= near.high
    done.in_size += near.apart.low <= 1 - case.change <= near.apart.high
    done.half_widths.append((near.apart.high - near.apart.low) / 2)


def unchanged(histories: int) -> str:
    """A table of false alarms."""
    lines = []
    for name, correlation, disturbed in (
        ("independent nights", 0.0, False),
        ("one run in 30 disturbed", 0.0, True),
        ("correlation 0.5 from night to night", 0.5, False),
        ("correlation 0.8", 0.8, False),
    ):
        for figures in (4, 12, 60):
            cells = []
            for runs in LENGTHS:
                done = tally(Case(runs, figures, correlation, disturbed), histories)
                cells.append(f"{done.any_change} of {done.histories}")
            lines.append([name, str(figures), *cells])
    return table(["nights", "figures", *(f"{runs} runs" for runs in LENGTHS)], lines)


def fleets(histories: int) -> str:
    """A table of false alarms in fleets."""
    lines = []
    for runs in (20, 50):
        rng = random.Random(runs)
        any_change = any_outlier = 0
        count = max(10, histories // 5)
        for _ in range(count):
            machines = [history_of(rng, Case(runs), f"node{at}")[0] for at in range(MACHINES)]
            found = trend_of(machines)
            any_change += bool(found.changes)
            any_outlier += bool(found.outliers)
        cells = [f"{one} of {count}" for one in (any_change, any_outlier)]
        lines.append([str(MACHINES), str(runs), *cells])
    return table(["machines", "runs each", "any change", "any machine stands out"], lines)


def changed(histories: int) -> str:
    """A table of what is found."""
    lines = []
    for runs, after in ((12, 6), (20, 10), (20, 5), (50, 25), (50, 5), (200, 100), (200, 5)):
        for change, of_pace in ((0.02, False), (0.05, False), (0.1, False), (0.05, True)):
            done = tally(Case(runs, change=change, after=after, of_pace=of_pace), histories)
            what = f"{change:.0%}, {'all figures' if of_pace else 'one of 12'}"
            known = sorted(done.half_widths)
            lines.append(
                [
                    f"{runs}, of them {after} after",
                    what,
                    f"{done.found} of {done.histories}",
                    done.share(done.in_time, done.found),
                    done.share(done.in_size, done.found),
                    f"{known[len(known) // 2]:.1%}" if known else "-",
                    done.share(done.false_beside),
                ]
            )
    columns = ["found", "time within", "size within", "its half width", "a false one beside"]
    return table(["runs", "slower by", *columns], lines)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--histories", type=int, default=400)
    parser.add_argument("--store", type=Path, help="make a store there, and time it")
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--figures", type=int, default=24)
    wanted = parser.parse_args()
    if wanted.store is not None:
        from benchmarks.trend_store import print_store

        print_store(wanted.store, wanted.runs, wanted.machines, wanted.figures)
        return
    print("Unchanged histories with any reported change\n")
    print(unchanged(wanted.histories), flush=True)
    print("\nUnchanged fleets with any\n")
    print(fleets(wanted.histories), flush=True)
    print("\nOne change\n")
    print(changed(wanted.histories))


if __name__ == "__main__":
    main()
