"""STREAM's kernels under counters: which are planned, how long a region is, what it holds."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.experiments.stream import host as stream_host
from memgauge.experiments.stream.counted import IDLE_EVERY, MOST_REPETITIONS, traffic_facts
from memgauge.experiments.stream.host import Stream
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.counting.readings import counted
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.system.detect import detect


def regions(**options: object) -> list[Point]:
    parameters = build(StreamParameters, **options)
    return [
        point
        for group in Stream().plan(parameters, detect())
        for point in group.points
        if point.role == "counted"
    ]


@pytest.mark.parametrize("options", [{}, {"counters": "none"}])
def test_without_counters_nothing_is_repeated(options: dict[str, object]) -> None:
    assert regions(**options) == []


def test_every_kernel_and_variant_of_the_largest_team_is_counted() -> None:
    found = regions(counters="modelled", kernel=("add", "read"))
    largest = max(point.threads for point in found)
    assert [point.point for point in found] == [
        f"stream/{kernel}/{variant}/double/{largest}t/counted"
        for variant in ("standard", "tuned")
        for kernel in ("add", "read")
    ]


def test_teams_that_were_asked_for_are_all_counted() -> None:
    found = regions(counters="modelled", kernel="add", variant="standard", threads="1,2")
    assert [point.threads for point in found] == [1, 2]


def test_candidates_of_a_search_are_not_counted() -> None:
    found = regions(counters="modelled", kernel="add", autotune=True, threads="1")
    assert len(found) == 2


@pytest.mark.parametrize(
    ("kernel", "reads", "writes", "evadable"),
    [("copy", 8, 8, 8), ("add", 16, 8, 8), ("read", 8, 0, 0), ("update", 16, 8, 0)],
)
def test_what_a_kernel_could_make_be_read_first_does_not_depend_on_its_stores(
    kernel: str, reads: int, writes: int, evadable: int
) -> None:
    for spec in (_core.KernelSpec(kernel), _core.default_tuned_spec(kernel, "double")):
        facts = traffic_facts(spec, 1000)
        assert facts["read_bytes"] == 1000 * reads
        assert facts["write_bytes"] == 1000 * writes
        assert facts["evadable_bytes"] == 1000 * evadable


def test_a_region_holds_its_repetitions_and_their_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_host, "REGION_S", 0.002)
    parameters = build(
        StreamParameters,
        counters="modelled",
        kernel="triad",
        variant="standard",
        threads="1",
        array_bytes="1MiB",
    )
    experiment, system = Stream(), detect()
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        (made,) = bench.counters
        point = next(point for point in bench.points if point.role == "counted")
        samples = [
            sample for n in range(IDLE_EVERY + 1) for sample in bench.measure(point.point, n)
        ]
        (slice_,) = bench.measure("stream/triad/standard/double/1t", 0)
        assert all(check.passed for found in bench.validate() for check in found.checks)
    assert slice_.reading is None, "slices are not counted"
    assert [sample.idle is not None for sample in samples] == [True, False, False, False, True]
    for sample in samples:
        repetitions = len(sample.threads[0].begin_ns)
        assert 1 <= repetitions <= MOST_REPETITIONS
        assert sample.reading is not None
        found = [counted(c, sample.reading.before, sample.reading.after) for c in made.of]
        moved = sum(one.value for one in found if one is not None)
        assert moved == repetitions * point.bytes_moved
        if sample.idle is not None:
            quiet = [counted(c, sample.idle.before, sample.idle.after) for c in made.of]
            assert [one.value for one in quiet if one] == [0, 0]
