"""The run in which counters are sampled beside regions, with tracepoints for memory controllers."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.diagnose.program.test_run_counters import USUAL, host, keep_verdicts

from memgauge.counters.host import Host
from memgauge.experiments.diagnose.by_region.sampled import (
    KEPT_EVERY_NS,
    NAME,
    beside,
    rate_hz_of,
    region_traffic_run,
)
from memgauge.experiments.diagnose.by_region.timed import RegionTimes, together
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.run_counters import run_counters
from memgauge.model.counting.readings import counted
from memgauge.model.record_kinds.programs import SampledReading

__all__ = ["host"]
pytestmark = pytest.mark.native

MARKED = """
import os, time
def mark(kind):
    stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    line = f"{kind} {stamp} {os.getpid()} {os.getpid()} 0 solve\\n"
    with open(os.environ["MEMGAUGE_MARKS"], "a") as file:
        file.write(line)
mark("b")
for _ in range(20000):
    os.sched_rr_get_interval(0)
mark("e")
"""
SILENT = MARKED.replace('mark("b")', "pass").replace('mark("e")', "pass")


def readings(times_ns: Sequence[int]) -> list[SampledReading]:
    return [SampledReading(begin_ns=at, end_ns=at, values=[at]) for at in times_ns]


@given(
    st.lists(st.integers(0, 10**9), min_size=2, max_size=60, unique=True),
    st.lists(st.integers(0, 10**9), max_size=6),
)
def test_readings_beside_each_edge_are_kept_and_none_lie_far_apart(
    times_ns: list[int], edges_ns: list[int]
) -> None:
    times_ns.sort()
    kept = [one.begin_ns for one in beside(readings(times_ns), edges_ns)]
    assert kept == sorted(set(kept))
    for edge_ns in edges_ns:
        after = bisect_left(times_ns, edge_ns)
        assert set(times_ns[max(0, after - 1) : after + 1]) <= set(kept)
    for at, time_ns in enumerate(times_ns[1:], start=1):
        before = max((one for one in kept if one < time_ns), default=None)
        if time_ns not in kept:
            assert before is not None or time_ns < KEPT_EVERY_NS
            assert time_ns - (before or 0) < KEPT_EVERY_NS, at


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted)))
def test_spans_together_cover_each_moment_once(drawn: list[list[int]]) -> None:
    spans = [(begin, end) for begin, end in drawn]
    made = together(spans)
    covered = [at for begin, end in made for at in range(begin, end)]
    assert len(covered) == len(set(covered))
    assert set(covered) == {at for begin, end in spans for at in range(begin, end)}


@pytest.mark.whole_machine
def test_counters_are_sampled_in_a_run_of_its_own(host: Host) -> None:
    keep_verdicts(host, "verified")
    with ExitStack() as stack:
        made = stack.enter_context(run_counters(wanted=True, host=host))
        assert made.counters is not None, made.why_not
        assert rate_hz_of(made.counters) == 100.0
        regions = RegionTimes(stack)
        words = [sys.executable, "-S", "-c", MARKED]
        runs = ProgramRuns(words, [0], counters=made.counters, regions=regions)
        regions.of_run(1)  # the file is empty: nothing was chosen of a run without marks
        assert region_traffic_run(runs, regions, made.counters).found == []
        regions = RegionTimes(stack)
        runs = ProgramRuns(words, [0], counters=made.counters, regions=regions)
        first = runs.run(USUAL)
        assert first.use is not None
        assert list(regions.chosen) == ["solve"]
        found = region_traffic_run(runs, regions, made.counters)
    assert found.not_tried == []
    (one,) = found.found
    assert one.counters == made.counters.set.counters
    assert one.interval_ns == 10_000_000
    (span,) = one.regions["solve"]
    assert one.begin_ns < span[0] < span[1] < one.end_ns
    assert one.readings[0].end_ns <= one.begin_ns
    assert one.readings[-1].begin_ns >= one.end_ns
    bytes_ = {}
    for counter in made.counters.set.of:
        between = counted(counter, one.readings[0].values, one.readings[-1].values)
        assert between is not None
        bytes_[counter.quantity] = between.value
    assert bytes_["read_bytes"] == 20000 * 64


def test_nothing_is_run_without_counters_or_regions() -> None:
    runs = ProgramRuns(["false"], [0])
    with ExitStack() as stack:
        assert region_traffic_run(runs, RegionTimes(stack), None).found == []
    assert region_traffic_run(runs, None, None).not_tried == []


@pytest.mark.whole_machine
def test_a_run_that_marks_nothing_is_said(host: Host) -> None:
    keep_verdicts(host, "verified")
    with ExitStack() as stack:
        made = stack.enter_context(run_counters(wanted=True, host=host))
        assert made.counters is not None, made.why_not
        regions = RegionTimes(stack)
        file = Path(regions.environment()["MEMGAUGE_MARKS"])
        file.write_text("b 0 7 7 0 solve\ne 60000000 7 7 0 solve\n", encoding="ascii")
        regions.of_run(100_000_000)
        assert list(regions.chosen) == ["solve"]
        runs = ProgramRuns([sys.executable, "-S", "-c", SILENT], [0], regions=regions)
        found = region_traffic_run(runs, regions, made.counters)
    assert found.found == []
    assert [(one.name, one.reason) for one in found.not_tried] == [
        (NAME, "no region has a begin and an end in the run that was sampled")
    ]
