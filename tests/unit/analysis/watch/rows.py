"""A made-up watch: rows by formula, and a run that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from tests.unit.analysis.runs import start

from memgauge.analysis.watch.moments import BANDWIDTH, LATENCY, OWN_BYTES, OWN_TIME
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.records import MeasuredCurve, RunEnd
from memgauge.model.run import Run
from memgauge.model.storage.lane_writer import LaneWriter
from memgauge.model.storage.run_file import read_run
from memgauge.model.storage.run_writer import RunWriter

NS = 1_000_000_000
SLOTS = (LATENCY, BANDWIDTH, "kernel:steal_time", "kernel:oom_kills", OWN_TIME, OWN_BYTES)
LATENCY_NS, BYTES_PER_S = 100.0, 10_000_000_000


def counter(event: str, slot: int, *, gauge: bool, scale: float, unit: str = "") -> Counter:
    return Counter(
        name=f"{event}@machine",
        event=event,
        back_end=event.partition(":")[0],
        quantity="count",
        domain="software",
        scope="machine",
        unit=unit,
        scale=scale,
        scale_source="made up",
        gauge=gauge,
        instance="machine",
        slot=slot,
        route="made up",
    )


def counters() -> CounterSet:
    scales = {LATENCY: 1 / 400, "kernel:steal_time": 0.01, OWN_TIME: 1e-9}
    units = {LATENCY: "ns", BANDWIDTH: "B/s", "kernel:steal_time": "s", OWN_TIME: "s"}
    made = [
        counter(
            event,
            slot,
            gauge=event in {LATENCY, BANDWIDTH},
            scale=scales.get(event, 1.0),
            unit=units.get(event, ""),
        )
        for slot, event in enumerate(SLOTS)
    ]
    return CounterSet(counters="watch", slots=len(SLOTS), of=made)


def row(at: int, ratio: float | None = 1.0, *, stolen: int = 0, kills: int = 0) -> list[int | None]:
    """Sample `at`, one a second, of memory slower by a ratio; None: no pass of the probe."""
    return [
        None if ratio is None else round(400 * LATENCY_NS * ratio * (1 + 0.01 * (at % 3 - 1))),
        None if ratio is None else round(BYTES_PER_S / ratio),
        stolen,
        kills,
        at * 4_000_000,
        at * 4_700_000,
    ]


def rows(
    seconds: int, ratio_at: Callable[[int], float | None]
) -> Iterator[tuple[int, int, list[int | None]]]:
    for at in range(seconds):
        yield (at + 1) * NS, (at + 1) * NS + 1000, row(at, ratio_at(at))


def traffic_counters() -> list[Counter]:
    """Reads and writes of memory, in the slots behind the others."""
    return [
        msgspec.structs.replace(
            counter(f"made_up:{quantity}", len(SLOTS) + number, gauge=False, scale=1.0, unit="B"),
            quantity=quantity,
            domain="memory",
        )
        for number, quantity in enumerate(("read_bytes", "write_bytes"))
    ]


def recorded(
    directory: Path,
    seconds: int,
    ratio_at: Callable[[int], float | None],
    learn: str = "30s",
    curve: MeasuredCurve | None = None,
) -> Run:
    """A run of so many samples, as `memgauge watch --output` writes one.

    With a curve, 10 GB/s of reads and 5 GB/s of writes are counted beside it.
    """
    first = msgspec.structs.replace(
        start(), experiments=["watch"], parameters={"watch": {"learn_s": learn}}
    )
    with RunWriter(directory) as writer:
        lane = Lane(counters="watch", file="watch.lane", interval_ns=NS)
        made = counters()
        traffic = traffic_counters() if curve is not None else []
        slots = made.slots + len(traffic)
        made = msgspec.structs.replace(made, slots=slots, of=[*made.of, *traffic])
        writer.write([first, made, lane, *([curve] if curve is not None else [])])
        with LaneWriter(directory / lane.file, slots) as file:
            for at, (begin_ns, end_ns, values) in enumerate(rows(seconds, ratio_at)):
                counted = [at * 10 * NS, at * 5 * NS] if traffic else []
                file.append(begin_ns, end_ns, [*values, *counted])
        writer.write([RunEnd(status="complete", elapsed_s=float(seconds), rounds=0)])
    return read_run(directory)
