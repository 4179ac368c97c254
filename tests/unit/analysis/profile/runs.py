"""Profiles made by hand: what each counter does over time is a function, and known exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from tests.unit.model import build
from tests.unit.model.storage.lanes import Sample, write_lane

from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.record_kinds.programs import Process, Region
from memgauge.model.records import AnyRecord, RunEnd, Warning
from memgauge.model.run import Run, run_of

MS = 1_000_000
S = 1_000_000_000

Rate = Callable[[float], float]
"""Raw counts a second, or a gauge's level, at a second of the run."""


def counter(name: str, slot: int, /, **changes: object) -> Counter:
    """A counter of memory reads on socket 0, unless changed."""
    fields: dict[str, object] = {
        "name": name,
        "event": name.partition("@")[0],
        "back_end": name.partition(":")[0],
        "quantity": "read_bytes",
        "domain": "memory",
        "scope": "controller",
        "unit": "B",
        "scale": 64.0,
        "scale_source": "test",
        "instance": name.partition("@")[2],
        "socket": 0,
        "slot": slot,
        "route": "group",
    }
    return Counter(**(fields | changes))  # type: ignore[arg-type]


def reads(slot: int, **changes: object) -> Counter:
    return counter("perf:uncore_imc/read/@uncore_imc_0", slot, **changes)


def writes(slot: int, **changes: object) -> Counter:
    fields: dict[str, object] = {"quantity": "write_bytes"} | changes
    return counter("perf:uncore_imc/write/@uncore_imc_0", slot, **fields)


def gpu_power(slot: int) -> Counter:
    return counter(
        "nvml:0/power@gpu0",
        slot,
        quantity="power",
        domain="gpu",
        scope="device",
        unit="W",
        scale=0.001,
        gauge=True,
        socket=None,
    )


def energy(slot: int) -> Counter:
    changes = {"quantity": "energy", "domain": "energy", "scope": "socket", "unit": "J"}
    return counter("powercap:intel-rapl:0@package-0", slot, **changes, scale=1e-6)


def network(slot: int, way: str = "received") -> Counter:
    changes = {"quantity": f"{way}_bytes", "domain": "network", "scope": "device"}
    name = f"net:eth0/{way}@eth0"
    return counter(name, slot, **changes, scale=1.0, socket=None)


def of_process(slot: int, quantity: str, unit: str = "", scale: float = 1.0) -> Counter:
    gauge = quantity == "used_bytes"
    changes = {"quantity": quantity, "domain": "process", "scope": "process", "unit": unit}
    return counter(f"proc:{quantity}@tree", slot, **changes, scale=scale, gauge=gauge, socket=None)


def cpu_time(slot: int) -> Counter:
    return of_process(slot, "time", "s", 1e-9)


def sampled(
    rates: Sequence[Rate], counters: Sequence[Counter], stamps_ns: Sequence[int], start: int = 1000
) -> list[Sample]:
    """Readings at these times; counts are exact to one, integrated by the midpoint rule."""
    totals = [float(start)] * len(rates)
    samples: list[Sample] = []
    before = stamps_ns[0]
    for stamp in stamps_ns:
        for at, rate in enumerate(rates):
            middle = (before + stamp) / 2 / S
            step = rate(middle) * (stamp - before) / S
            totals[at] = rate(stamp / S) if counters[at].gauge else totals[at] + step
        samples.append([stamp, stamp, *(int(total) for total in totals)])
        before = stamp
    return samples


def every(interval_ns: int, duration_ns: int) -> list[int]:
    return list(range(0, duration_ns + 1, interval_ns))


class Made(msgspec.Struct):
    """A set of counters and what was read of it."""

    counters: list[Counter]
    samples: list[Sample]
    interval_ns: int = 10 * MS
    name: str = "fast"
    slots: int | None = None


def profile(
    directory: Path,
    *lanes: Made,
    regions: Sequence[Region] = (),
    warnings: Sequence[Warning] = (),
    process: Process | None = None,
    killed: bool = False,
) -> Run:
    """A run read back from what these records say; its lanes lie in the directory."""
    start = msgspec.structs.replace(
        build.start(), experiments=["profile"], parameters={"profile": {}}, precision=0.0
    )
    records: list[AnyRecord] = [start]
    for lane in lanes:
        slots = len(lane.counters) if lane.slots is None else lane.slots
        file = f"{lane.name}.lane"
        records.append(CounterSet(counters=lane.name, slots=slots, of=lane.counters))
        records.append(Lane(counters=lane.name, file=file, interval_ns=lane.interval_ns))
        write_lane(directory / file, lane.samples, slots)
    records += [process] if process else []
    records += [*regions, *warnings]
    if not killed:
        records.append(RunEnd(status="complete", elapsed_s=1.0, rounds=0))
    (directory / "records.jsonl").write_bytes(b"".join(map(_line, records)))
    return run_of(records, directory=directory)


def _line(record: AnyRecord) -> bytes:
    return msgspec.json.encode(record) + b"\n"


def ran(end_s: float | None, exit_code: int | None = 0, signal: int | None = None) -> Process:
    return Process(
        command=["app", "--fast"],
        pid=77,
        attached=False,
        begin_ns=0,
        end_ns=None if end_s is None else round(end_s * S),
        exit_code=exit_code,
        signal=signal,
    )


def steps(*pieces: tuple[float, float]) -> Rate:
    """Constant pieces: (until second, rate)."""

    def rate(at: float) -> float:
        return next((value for until, value in pieces if at < until), pieces[-1][1])

    return rate


def counted_profile(directory: Path) -> Run:
    """A profile of 0.4 s in a directory to be made, whose counters saw two phases of traffic."""
    directory.mkdir()
    made = [reads(0), writes(1)]
    rates = [steps((0.2, 5e6), (0.4, 40e6)), steps((0.2, 0.0), (0.4, 20e6))]
    lane = Made(made, sampled(rates, made, every(5 * MS, 400 * MS)), interval_ns=5 * MS)
    return profile(directory, lane, process=ran(0.4))
