"""What is counted beside a GPU's kernels: energy and the host's traffic, from a run by formula."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from tests.unit.analysis.counters.counted import counter
from tests.unit.analysis.runs import start

from memgauge.analysis.counters.beside import tables
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import run_of

SECOND = 1_000_000_000
ELEMENTS = 1_000_000
GPU_READS, ENERGY, HOST_READS = range(3)


def records() -> Iterator[AnyRecord]:
    """Each second of a kernel: 10 repetitions, 300 J, 2 GB of the host's; idle: 60 J."""
    yield msgspec.structs.replace(start(), experiments=["stream"], parameters={})
    base = counter("read_bytes", ("GPU 0", None))
    made = [
        msgspec.structs.replace(base, scale=1.0, traffic="gpu0", domain="gpu"),
        msgspec.structs.replace(
            base,
            name="nvml:0/energy@GPU 0",
            event="nvml:0/energy",
            quantity="energy",
            unit="J",
            scale=1e-3,
            slot=ENERGY,
        ),
        msgspec.structs.replace(
            base, name="perf:imc/read/@imc", event="perf:imc/read/", scale=64.0, slot=HOST_READS
        ),
    ]
    yield CounterSet(counters="stream/cuda:0", slots=3, of=made)
    yield Point(
        point="stream/read/tuned/double/cuda:0/counted",
        experiment="stream",
        quantity="bandwidth",
        requested={"kernel": "read", "variant": "tuned", "element": "double", "memory": "cuda:0"},
        actual={
            "gpu": "NVIDIA H100",
            "elements": ELEMENTS,
            "read_bytes": 8 * ELEMENTS,
            "write_bytes": 0,
            "evadable_bytes": 0,
            "stream_conformant": True,
        },
        bytes_counted=8 * ELEMENTS,
        bytes_moved=8 * ELEMENTS,
        role="counted",
    )
    for round_ in range(8):
        begin = 10 * round_ * SECOND
        idle = between(begin, 0, 60_000, 0) if round_ % 4 == 0 else None
        thread = ThreadSample(
            cpu=0,
            begin_ns=[begin + SECOND + k * 100_000_000 for k in range(10)],
            end_ns=[begin + SECOND + (k + 1) * 100_000_000 for k in range(10)],
        )
        yield Sample(
            point="stream/read/tuned/double/cuda:0/counted",
            round=round_,
            threads=[thread],
            reading=between(begin + SECOND, 80 * ELEMENTS, 300_000, 2_000_000_000 // 64),
            idle=idle,
        )
    yield RunEnd(status="complete", elapsed_s=80.0, rounds=8)


def between(begin: int, *raw: int) -> RegionReading:
    return RegionReading(
        counters="stream/cuda:0",
        before_ns=(begin, begin),
        after_ns=(begin + SECOND, begin + SECOND),
        before=[0] * len(raw),
        after=list(raw),
    )


def test_energy_and_the_hosts_traffic_stand_beside_and_in_no_ratio() -> None:
    figures = figures_of(run_of(records()))
    power, traffic = tables(figures)
    assert power.rows == [
        [
            "read, tuned, cuda:0",
            "nvml:0/energy@GPU 0",
            pytest.approx(300.0),
            pytest.approx(60.0),
            pytest.approx(300.0 / (80 * ELEMENTS) * 1e12),
        ]
    ]
    assert traffic.rows == [["read, tuned, cuda:0", "perf:imc/read/@imc", pytest.approx(2.0), 0.0]]
    (counts,) = counts_of(figures)
    assert [one.event for one in counts.counters] == ["perf:imc/read_bytes/"]
