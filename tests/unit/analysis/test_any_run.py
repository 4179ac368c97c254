"""Whatever a run may hold, as far as the rules of the stream let it in, is analysed."""

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.runs import start

from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.stream.best_of import stream_form
from memgauge.model.experiments import DESCRIPTORS
from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import run_of

FACT_NAMES = [
    *("kernel", "variant", "element", "threads", "pages", "array_bytes", "cpus", "cpu", "isa"),
    *("level", "order", "footprint_bytes", "node_bytes", "access", "huge_share", "candidate"),
    *("cpu_node", "memory_node", "stream_conformant", "llc_bytes"),
    *("read_share", "store", "delay", "generators", "probe_cpu", "delay_ns"),
    *("pattern", "stride_bytes", "touched_bytes", "capacity_bytes"),
    *("nodes", "weights", "largest_sum", "at_once"),
    *("memory", "gpu", "multiprocessors", "l2_bytes", "theoretical_bytes_per_s", "through"),
    *("memory_clock_khz", "bus_bits", "mig", "ecc", "gpu_uuid", "memory_bytes", "timed_by"),
]
integers = st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    integers,
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            *("triad", "standard", "tuned", "DRAM", "L1", "random", "latency", "read", "4k"),
            *("sequential", "block-random", "dependent", "thp", "0,1", "3,1", "1,0"),
            *("dram", "cuda:0", "l1", "device events"),
        ]
    ),
    st.text(max_size=5),
)
facts = st.dictionaries(st.sampled_from(FACT_NAMES), scalars)
counts = st.integers(1, LARGEST_INTEGER)


@st.composite
def points(draw: st.DrawFn) -> Point:
    quantity = draw(st.sampled_from(["bandwidth", "latency"]))
    return Point(
        point=draw(st.text(max_size=8)),
        experiment=draw(st.sampled_from([*DESCRIPTORS, "other"])),
        quantity=quantity,  # type: ignore[arg-type]
        requested=draw(facts) | draw(st.sampled_from([{}, {"memory": "cuda:0"}])),
        actual=draw(facts),
        bytes_counted=draw(counts) if quantity == "bandwidth" else 0,
        bytes_moved=draw(st.integers(0, LARGEST_INTEGER)),
        accesses=draw(counts) if quantity == "latency" else 0,
        threads=draw(st.integers(1, 3)),
        role=draw(st.sampled_from(["slice", "pass"])),
    )


@st.composite
def samples(draw: st.DrawFn, point: Point) -> Sample:
    iterations = draw(st.integers(1, 2))
    threads = []
    for cpu in range(point.threads):
        begins = draw(st.lists(st.integers(0, 1 << 62), min_size=iterations, max_size=iterations))
        ends = [begin + draw(st.integers(1, 1 << 62)) for begin in begins]
        threads.append(
            ThreadSample(
                cpu=cpu,
                begin_ns=begins,
                end_ns=ends,
                involuntary_switches=draw(st.integers(0, 1)),
            )
        )
    return Sample(
        point=point.point,
        round=draw(st.integers(0, 9)),
        threads=threads,
        pingpong_ns=draw(st.one_of(st.none(), st.floats(0, 1e12))),
        cycles_per_ns=draw(st.one_of(st.none(), st.floats(1e-300, 1000))),
    )


@st.composite
def streams(draw: st.DrawFn) -> list[AnyRecord]:
    declared = draw(st.lists(points(), max_size=5, unique_by=lambda point: point.point))
    taken = [draw(st.lists(samples(point), max_size=6)) for point in declared]
    return [start(), *declared, *(sample for some in taken for sample in some)]


@given(streams())
def test_any_run_is_analysed(stream: list[AnyRecord]) -> None:
    run = run_of(stream)
    report = analyse_run(run)
    for section in report.sections:
        for chart in section.charts:
            for series in chart.series:
                assert all(y is None or math.isfinite(y) for y in series.y)
    assert stream_form(run)
    text = msgspec.json.encode(json_document(run))
    msgspec.json.decode(text, type=Document)
