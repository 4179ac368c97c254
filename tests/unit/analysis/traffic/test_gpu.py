"""Loop nests in a GPU's memory: what is expected, measured and said of them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from tests.unit.analysis.counters.counted import counter
from tests.unit.analysis.runs import start
from tests.unit.analysis.traffic.runs import COUNTED, MIB, gemm_point

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Section
from memgauge.analysis.traffic.document import traffic_figures
from memgauge.analysis.traffic.expected import expected, expected_of, nest_of
from memgauge.analysis.traffic.section import analyse
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import Run, run_of

SIZES = (256, 512, 1024)
REGION_NS = 50_000_000


def gpu_point(size: int) -> Point:
    made = gemm_point(size, cached_bytes=50 * MIB)
    return msgspec.structs.replace(
        made,
        point=f"traffic/gemm/{size}/cuda:0",
        requested=made.requested | {"memory": "cuda:0"},
        actual=made.actual | {"gpu": "NVIDIA H100"},
    )


def run_with(reads_each: float) -> Run:
    """GEMM that reads so many elements for each of the result, and writes one."""
    return run_of(records(reads_each))


def records(reads_each: float) -> Iterator[AnyRecord]:
    yield msgspec.structs.replace(start(), experiments=["traffic"], parameters={})
    made = [counter(quantity, ("GPU 0", None), slot=n) for n, quantity in enumerate(COUNTED)]
    of = [msgspec.structs.replace(one, scale=1.0, traffic="gpu0", domain="gpu") for one in made]
    yield CounterSet(counters="traffic", slots=2, of=of)
    yield from map(gpu_point, SIZES)
    now = 1000
    raw: list[int | None] = [0, 0]
    for round_ in range(8):
        for size in SIZES:
            before, square = [*raw], 8 * size * size
            raw = [(raw[0] or 0) + round(reads_each * square), (raw[1] or 0) + square]
            reading = RegionReading(
                counters="traffic",
                before_ns=(now, now),
                after_ns=(now + REGION_NS, now + REGION_NS),
                before=before,
                after=[*raw],
            )
            thread = ThreadSample(cpu=0, begin_ns=[now], end_ns=[now + REGION_NS])
            now += REGION_NS
            yield Sample(
                point=f"traffic/gemm/{size}/cuda:0", round=round_, threads=[thread], reading=reading
            )
    yield RunEnd(status="complete", elapsed_s=4.0, rounds=8)


def analysed(reads_each: float) -> Section:
    return analyse(figures_of(run_with(reads_each)))


def test_a_gpu_reads_nothing_before_it_writes() -> None:
    nest = nest_of(gpu_point(256))
    assert nest is not None
    found = expected_of(nest)
    square = 8 * 256 * 256
    assert (found.read_bytes, found.write_bytes) == (2 * square, square)
    assert (found.load_bytes, found.past_read_bytes) == (2 * square, square + 8 * 256**3)


def test_elements_apart_take_sectors_of_32_bytes() -> None:
    found = expected("strided-copy", {"n": 100, "stride": 16}, allocates=False, sector_bytes=32)
    assert (found.read_bytes, found.write_bytes) == (3200, 3200)


def test_what_was_counted_stands_beside_the_expectation() -> None:
    section = analysed(2.0)
    said = [one.text for one in section.verdicts]
    assert said[0].startswith(
        "Measured (50 MiB of second-level cache): reads and writes stay within 10% of the "
        "expectation up to N = 1024"
    )
    assert "Nothing is read before it is written, as of a GPU: 0.00 B" in said[0]
    assert any(text.startswith("There is no simulated column: the cache model") for text in said)
    assert not any("core" in (table.note or "") for table in section.tables)
    titles = [table.title for table in section.tables]
    assert "gemm, cuda:0: elements of 8 B read per element of the result" in titles
    reads = next(t for t in section.tables if t.name == "traffic-gemm-cuda0-reads")
    assert [row[1] for row in reads.rows] == [2.0] * len(SIZES)
    assert [row[3] for row in reads.rows] == [pytest.approx(1.0)] * len(SIZES)


def test_sectors_written_in_part_are_told() -> None:
    (first, *_) = analysed(2.9).verdicts
    assert "0.90 B are read beyond the loads for each B stored, as where sectors" in first.text
    assert "written in part" not in analysed(4.9).verdicts[0].text


def test_documents_name_the_gpu() -> None:
    (nest,) = traffic_figures(figures_of(run_with(2.0)))
    assert (nest.memory, nest.cores) == ("cuda:0", 1)
