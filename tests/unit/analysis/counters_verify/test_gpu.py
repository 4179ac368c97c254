"""Verdicts on the counters of a GPU's memory, from runs by formula with faults put in."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from tests.unit.analysis.runs import start

from memgauge.analysis.counters_verify.section import analyse, event_verdicts
from memgauge.analysis.figures.run import figures_of
from memgauge.model.counting.events import Counter, EventVerdict, Quantity
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import Run, run_of

MIB = 1 << 20
MOVED = 1 << 30
REGION_NS = 50_000_000
LOADS = {"read": (1.0, 0.0), "write": (0.0, 1.0), "copy": (0.5, 0.5)}
SIZES = (200 * MIB, 800 * MIB)
EVENTS: dict[Quantity, str] = {
    "read_bytes": "cupti:0/dram_read",
    "write_bytes": "cupti:0/dram_write",
}


class Faulty(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with the counter of reads."""

    factor: float = 1.0
    counts_writes: bool = False


def run_with(fault: Faulty) -> Run:
    return run_of(records(fault))


def records(fault: Faulty) -> Iterator[AnyRecord]:
    yield msgspec.structs.replace(start(), experiments=["counters_verify"], parameters={})
    yield CounterSet(
        counters="counters_verify", slots=2, of=[counter(q, slot) for slot, q in enumerate(EVENTS)]
    )
    points = [(load, size) for load in LOADS for size in SIZES]
    for load, size in points:
        yield Point(
            point=f"counters_verify/{load}/cuda:0/{size}",
            experiment="counters_verify",
            quantity="bandwidth",
            requested={"load": load, "memory": "cuda:0"},
            actual={"gpu": "NVIDIA H100", "gpu_uuid": "GPU-1234", "traffic_bytes": size},
            bytes_counted=16,
            bytes_moved=16,
            role="counted",
            work="counted",
        )
    now = 1000
    raw: list[int | None] = [0, 0]
    for round_ in range(12):
        for load, size in points:
            reads, writes = (int(MOVED * share) for share in LOADS[load])
            idle = RegionReading(
                counters="counters_verify",
                before_ns=(now, now),
                after_ns=(now + REGION_NS, now + REGION_NS),
                before=[*raw],
                after=[*raw],
            )
            before, now = [*raw], now + REGION_NS
            seen = int(fault.factor * (reads + writes * fault.counts_writes))
            raw = [(raw[0] or 0) + seen, (raw[1] or 0) + writes]
            reading = RegionReading(
                counters="counters_verify",
                before_ns=(now, now),
                after_ns=(now + REGION_NS, now + REGION_NS),
                before=before,
                after=[*raw],
            )
            thread = ThreadSample(
                cpu=0,
                begin_ns=[now],
                end_ns=[now + REGION_NS],
                read_bytes=reads,
                write_bytes=writes,
            )
            now += REGION_NS
            yield Sample(
                point=f"counters_verify/{load}/cuda:0/{size}",
                round=round_,
                threads=[thread],
                reading=reading,
                idle=idle,
            )
    yield RunEnd(status="complete", elapsed_s=4.0, rounds=12)


def counter(quantity: Quantity, slot: int) -> Counter:
    event = EVENTS[quantity]
    return Counter(
        name=f"{event}@GPU 0",
        event=event,
        back_end="cupti",
        quantity=quantity,
        domain="gpu",
        scope="device",
        unit="B",
        scale=1.0,
        scale_source="formula",
        instance="GPU 0",
        traffic="gpu0",
        slot=slot,
        route="library",
    )


def verdict_on_reads(fault: Faulty) -> EventVerdict:
    found = {one.event: one for one in event_verdicts(run_with(fault))}
    assert found["cupti:0/dram_write"].verdict == "verified"
    return found["cupti:0/dram_read"]


def test_counters_that_count_all_are_verified_on_copies_too() -> None:
    found = verdict_on_reads(Faulty())
    assert found.verdict == "verified"
    assert (found.gpu, found.instance) == ("NVIDIA H100, GPU-1234", "GPU 0")
    assert found.evidence == (
        "counted 1.000 (1.000 to 1.000) of the known bytes read; "
        "1.000 (1.000 to 1.000) of those of copies"
    )


@pytest.mark.parametrize(
    ("fault", "word", "said"),
    [
        (Faulty(factor=1 / 32), "mis-scaled", "32-byte beats not scaled"),
        (Faulty(factor=0), "dead", "counted zero of the known bytes read"),
        (Faulty(counts_writes=True), "faulty", "it counts writes too"),
    ],
)
def test_faults_are_named(fault: Faulty, word: str, said: str) -> None:
    found = verdict_on_reads(fault)
    assert found.verdict == word
    assert said in found.evidence


def test_tables_tell_the_gpu_and_each_size() -> None:
    section = analyse(figures_of(run_with(Faulty())))
    loads = section.tables[1]
    assert {row[2] for row in loads.rows} == {"cuda:0, 200 MiB", "cuda:0, 800 MiB"}
    assert len(loads.rows) == 12
    assert "write-allocate" not in str(section)
