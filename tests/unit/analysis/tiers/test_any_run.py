"""Whatever a run may hold of competing groups, as far as the rules let it in, is analysed."""

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.runs import start

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import Document, json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.model.record_kinds.fields import LARGEST_INTEGER, Scalar
from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render

WORKS: dict[str, dict[str, Scalar]] = {
    "copy": {"kernel": "copy"},
    "copy-translated": {"kernel": "copy", "access": "translated"},
    "50r/d0-1": {"read_share": 0.5, "reads": 1, "writes": 1, "delay_b_ns": 1},
    "nothing": {},
}
"""What points request, by names of works."""

stamps = st.integers(0, 1000) | st.integers(0, LARGEST_INTEGER - 1)


@st.composite
def points(draw: st.DrawFn) -> Point:
    part = draw(st.sampled_from(["a", "b", "latency-a", "latency-b", "c"]))
    work = draw(st.sampled_from([*WORKS]))
    latency = part.startswith("latency")
    threads, k = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    sound = {"a": max(1, threads - k), "b": max(1, k)}.get(part, 1)
    return Point(
        point=f"tiers/{work}/{threads}t/k{k}/{part}",
        experiment="tiers",
        quantity="latency" if latency else "bandwidth",
        requested={
            **WORKS[work],
            "threads": threads,
            "b_threads": draw(st.sampled_from([k, k, k, None, -1])),
            "group": part.removeprefix("latency-"),
            "fixed_iterations": draw(st.sampled_from([None, 3])),
        },
        actual={},
        bytes_counted=0 if latency else draw(st.integers(1, LARGEST_INTEGER)),
        accesses=10 if latency else 0,
        threads=draw(st.sampled_from([sound, sound, 2])),
        work=draw(st.sampled_from(["window", "window", "fixed"])),
    )


@st.composite
def samples(draw: st.DrawFn, point: Point) -> Sample:
    def thread() -> ThreadSample:
        begins = sorted(draw(st.lists(stamps, min_size=1, max_size=9)))
        ends = [begin + 1 + draw(st.integers(0, 100)) for begin in begins]
        switches = draw(st.integers(0, 2))
        return ThreadSample(cpu=0, begin_ns=begins, end_ns=ends, involuntary_switches=switches)

    return Sample(
        point=point.point,
        round=draw(st.integers(0, 3)),
        threads=[thread() for _ in range(point.threads)],
        window_ns=draw(st.none() | st.tuples(stamps, stamps)),
    )


@st.composite
def runs(draw: st.DrawFn) -> list[AnyRecord]:
    declared = draw(st.lists(points(), min_size=1, max_size=5, unique_by=lambda one: one.point))
    taken: list[AnyRecord] = [
        draw(samples(point)) for point in declared for _ in range(draw(st.integers(0, 8)))
    ]
    return [start(), *declared, *taken]


@given(runs())
def test_any_run_of_tiers_is_analysed(records: list[AnyRecord]) -> None:
    run = run_of(records)
    assert render(analyse_run(run), width=80, color=False)
    of_run(figures_of(run), "run")
    made = json_document(run)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Document) == made
    for one in made.tiers:
        assert one.advice
        for split in one.splits:
            assert split.sum is not None
            assert math.isfinite(split.sum.value)
            assert split.sum.value > 0
