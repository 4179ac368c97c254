"""A store of synthetic runs: what adding, compacting and asking take. See `benchmarks.trend`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.rounds import table
from memgauge.model.record_kinds.fields import Scalar
from memgauge.store.add import encoded, store_frame, write
from memgauge.store.compact import compact
from memgauge.store.layout import make_store, month_path, run_path
from memgauge.store.rows import STORE_COLUMNS

BEGAN = date(2024, 1, 1)
WRITERS = 4
ADDED = 500
"""Runs that each writer adds."""
KERNELS = ("triad", "copy", "read", "write")
ORDERS = ("block-random", "random")


def names(figures: int) -> list[tuple[str, str, float]]:
    """Names of points as a survey has them, key figures first: name, quantity, usual value."""
    found = [
        *((f"stream/{k}/tuned/double/{t}t", "bandwidth", 20.0) for k in KERNELS for t in (1, 2)),
        *((f"latency/DRAM/{order}/thp", "latency", 110.0) for order in ORDERS),
        *((f"latency/L{level}/random/thp", "latency", 4.0 * level) for level in (1, 2, 3)),
        ("loaded/100r/sequential/1g/d0", "latency", 300.0),
    ]
    found += [(f"workingset/random/{2**at}KiB", "latency", 20.0) for at in range(12, 40)]
    return found[:figures]


def rows_of_run(
    machine: str, began: datetime, figures: int, rng: np.random.Generator
) -> list[dict[str, Scalar]]:
    """One run, as a row for each figure."""
    pace = float(rng.normal(0, 0.007))
    nothing: dict[str, Scalar] = dict.fromkeys(STORE_COLUMNS)
    return [
        nothing
        | {
            "run": f"{machine}-{began:%Y%m%dT%H%M}",
            "point": name,
            "experiment": name.partition("/")[0],
            "quantity": quantity,
            "role": "slice",
            "threads": 2,
            "value": usual * math.exp(pace + float(rng.normal(0, 0.007))),
            "low": usual * 0.99,
            "high": usual * 1.01,
            "unit": "GB/s" if quantity == "bandwidth" else "ns",
            "statistic": "p90",
            "samples": 40,
            "machine": machine,
            "day": f"{began:%Y-%m-%d}",
            "started_at": began.isoformat(),
            "ended": "budget",
            "machine_id": "0123456789ab",
            "description": "simulated, 2 threads, 16 GiB",
            "kernel": "Linux 6.18",
            "memgauge": "0.1.0",
        }
        for name, quantity, usual in names(figures)
    ]


def month_frames(
    runs: int, machines: int, figures: int, rng: np.random.Generator
) -> Iterator[tuple[str, pl.DataFrame]]:
    """All runs, a night for each machine, month by month."""
    template = store_frame(rows_of_run("m", datetime(2024, 1, 1, tzinfo=UTC), figures, rng))
    nights = runs // machines
    at = 0
    while at < nights:
        first = BEGAN + timedelta(days=at)
        days = 1
        while at + days < nights and (first + timedelta(days=days)).month == first.month:
            days += 1
        yield f"{first:%Y-%m}", _month(template, first, days, machines, rng)
        at += days


def _month(
    template: pl.DataFrame, first: date, days: int, machines: int, rng: np.random.Generator
) -> pl.DataFrame:
    nodes = pl.DataFrame({"machine": [f"node{at:04}" for at in range(machines)]})
    start = datetime(first.year, first.month, first.day, 2, tzinfo=UTC)
    nights = pl.DataFrame({"night": [start + timedelta(days=at) for at in range(days)]})
    each = nodes.join(nights, how="cross").with_columns(
        pace=pl.Series(rng.normal(0, 0.007, machines * days))
    )
    frame = each.join(template.drop("machine", "day", "started_at", "run"), how="cross")
    own = pl.Series(rng.normal(0, 0.007, len(frame)))
    return (
        frame.with_columns(
            value=pl.col("value") * (pl.col("pace") + own).exp(),
            day=pl.col("night").dt.date(),
            started_at=pl.col("night").dt.cast_time_unit("us"),
            run=pl.col("machine") + pl.col("night").dt.strftime("-%Y%m%dT%H%M"),
        )
        .select(template.columns)
        .sort("machine", "point", "started_at")
    )


def add_many(store: Path, writer: int, figures: int) -> None:
    """Add runs of one machine one after the other, as a job each night does."""
    rng = np.random.default_rng(writer)
    newest = datetime(2026, 9, 1, 2, tzinfo=UTC)
    machine = f"added{writer}"
    for at in range(ADDED):
        began = newest + timedelta(hours=at)
        rows = rows_of_run(machine, began, figures, rng)
        path = run_path(store, machine, str(rows[0]["day"]), str(rows[0]["run"]))
        write(path, encoded(store_frame(rows)), store)


QUESTIONS = {
    "median of one figure of each machine and month, all runs (polars, lazily)": """
import polars as pl
months = pl.scan_parquet(f"{store}/compacted/month=*/*.parquet", hive_partitioning=False)
found = (
    months.filter(pl.col("point") == "stream/triad/tuned/double/2t")
    .group_by("machine", pl.col("day").dt.truncate("1mo"))
    .agg(pl.col("value").median())
    .collect()
)
said = f"{len(found):,} rows"
""",
    "trend of one machine, all its nights, all figures": """
from memgauge import api
trend = api.trend(store, machine="node0007").trend
said = f"{trend.runs:,} runs, {trend.tests} series"
""",
    "trend of all machines, last 30 nights, key figures": """
from memgauge import api
trend = api.trend(store, since="30d").trend
said = f"{trend.runs:,} runs, {trend.tests:,} series"
""",
}
"""Each is asked in a process of its own."""

_ASKED = """
import json, re, sys, time
store = {store!r}
begin = time.monotonic()
{question}
took = time.monotonic() - begin
# Not ru_maxrss, which a process inherits from the one that started it.
peak_kib = re.search("VmHWM:\\\\s+([0-9]+)", open("/proc/self/status").read())[1]
json.dump([took, int(peak_kib) / 1024, said], sys.stdout)
"""


def print_store(store: Path, runs: int, machines: int, figures: int) -> None:
    """Make the store if it does not exist, and print what is asked of it."""
    if not store.exists():
        make_store(store)
        rng = np.random.default_rng(1)
        begin = time.monotonic()
        for month, frame in month_frames(runs, machines, figures, rng):
            write(month_path(store, month, 1), encoded(frame), store)
        print(f"{runs:,} runs made in {time.monotonic() - begin:.0f} s")
    size = sum(path.stat().st_size for path in store.rglob("*.parquet"))
    print(f"{runs:,} runs of {machines:,} machines, {figures} figures each: {size / 1e9:.2f} GB\n")
    lines = [_added(store, figures), _compacted(store)]
    for name, question in QUESTIONS.items():
        program = _ASKED.format(store=str(store), question=question)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        took, peak_mib, said = json.loads(done.stdout)
        lines.append([name, said, f"{took:.1f} s", f"{peak_mib:.0f} MiB"])
    print(table(["what", "of", "time", "peak memory"], lines))


def _added(store: Path, figures: int) -> list[str]:
    program = "import sys; from pathlib import Path; from benchmarks.trend_store import add_many; "
    begin = time.monotonic()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", f"{program}add_many(Path({str(store)!r}), {at}, {figures})"]
        )
        for at in range(WRITERS)
    ]
    if any(one.wait() for one in writers):
        raise SystemExit("a writer failed")
    took = time.monotonic() - begin
    added = len(list(store.glob("machine=added*/day=*/*.parquet")))
    if added != WRITERS * ADDED:
        raise SystemExit(f"{added} files of {WRITERS * ADDED} are there")
    what = f"adding runs by {WRITERS} processes at once on {os.cpu_count()} CPUs"
    return [what, f"{added:,} runs", f"{took:.1f} s ({1e3 * took / added:.1f} ms each)", ""]


def _compacted(store: Path) -> list[str]:
    begin = time.monotonic()
    done = compact(store)
    took = time.monotonic() - begin
    return ["compacting them", f"{done.files:,} files", f"{took:.1f} s", ""]
