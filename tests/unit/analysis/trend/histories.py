"""Histories made by formula: nightly runs with a pace of their own, and planted changes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from memgauge.analysis.trend.history import History, Observation, RunFacts, histories_of

BEGAN = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)
FIGURES = (
    *((f"stream/{kernel}/tuned/double/2t", "GB/s", 40.0) for kernel in ("triad", "copy", "read")),
    *((f"stream/{kernel}/tuned/double/1t", "GB/s", 20.0) for kernel in ("triad", "copy")),
    *((f"latency/L{level}/random/thp", "ns", 2.0 * level) for level in (1, 2, 3)),
    ("latency/DRAM/random/thp", "ns", 110.0),
    ("workingset/random/64MiB", "ns", 90.0),
)
"""Name, unit and usual value."""
NOISE = 0.005

Factor = tuple[int, float]
"""From this run on, the speed times this."""


def facts(at: int, machine: str = "node", **changes: object) -> RunFacts:
    made = RunFacts(
        run=f"{machine}-{at}",
        started_at=BEGAN + timedelta(days=at),
        machine_id="kind",
        kind="Example Processor, 2 threads, 16 GiB",
        modules=None,
        conditions={"kernel": "Linux 6.18"},
    )
    return msgspec.structs.replace(made, **changes)


def observations(
    runs: Sequence[RunFacts],
    seed: int = 1,
    changes: Mapping[str, Sequence[Factor]] = {},
    machine: str = "node",
) -> list[Observation]:
    """Figures of runs; `changes` by name of point, or `pace` for all."""
    rng = random.Random(seed)
    found = []
    for at, run in enumerate(runs):
        pace = rng.gauss(0, NOISE) + _log(changes.get("pace", ()), at)
        for name, unit, usual in FIGURES:
            speed = math.exp(pace + rng.gauss(0, NOISE) + _log(changes.get(name, ()), at))
            value = usual * speed if unit == "GB/s" else usual / speed
            direction = "higher" if unit == "GB/s" else "lower"
            found.append(
                Observation(machine, run.run, (name, ""), unit, direction, "p90", value)  # type: ignore[arg-type]
            )
    return found


def _log(factors: Sequence[Factor], at: int) -> float:
    return sum(math.log(factor) for first, factor in factors if at >= first)


def history(
    count: int,
    seed: int = 1,
    changes: Mapping[str, Sequence[Factor]] = {},
    machine: str = "node",
) -> History:
    runs = [facts(at, machine) for at in range(count)]
    (made,) = histories_of({machine: runs}, observations(runs, seed, changes, machine))
    return made
