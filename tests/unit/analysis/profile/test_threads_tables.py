"""What was counted in each thread: scaled for turns taken, with shares, and what is unknown."""

from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile.runs import MS, Made, S, cpu_time, every, profile, ran, sampled

from memgauge.analysis.profile.threads_tables import counted_table, value_of
from memgauge.model.record_kinds.programs import CountedByThread, Process, ThreadCount, ThreadUse
from memgauge.model.run import Run

EVENTS = [
    CountedByThread(event="perf:cycles", quantity="cycles", unit="", scale=1.0),
    CountedByThread(event="perf:instructions", quantity="instructions", unit="", scale=1.0),
    CountedByThread(event="perf:flops-4", quantity="flops", unit="", scale=4.0),
]


def count(value: int, enabled_ns: int = 100, running_ns: int = 100) -> ThreadCount:
    return ThreadCount(value=value, enabled_ns=enabled_ns, running_ns=running_ns)


def thread(tid: int, *counts: ThreadCount | None) -> ThreadUse:
    return ThreadUse(
        pid=77,
        tid=tid,
        name=f"worker {tid}",
        cpu_ns=1000 - tid,
        run_delay_ns=0,
        voluntary_switches=0,
        involuntary_switches=0,
        counts=list(counts),
    )


def a_run(directory: Path, threads: list[ThreadUse]) -> Run:
    process: Process = msgspec.structs.replace(ran(1.0), threads=threads, thread_events=EVENTS)
    counters = [cpu_time(0)]
    samples = sampled([lambda _: 1e9], counters, every(10 * MS, S))
    return profile(directory, Made(counters, samples), process=process)


def test_each_thread_has_its_totals_and_shares(tmp_path: Path) -> None:
    first = thread(1, count(200), count(500), count(10))
    second = thread(2, count(100), count(50), None)
    found = counted_table(a_run(tmp_path, [first, second]))
    assert found is not None
    titles = [column.title for column in found.columns]
    assert titles == ["thread", "number", "cycles", "instructions", "per cycle", "flops-4"]
    assert found.rows[0] == ["worker 1", "1", 200.0, 500.0, 2.5, 40.0]
    assert found.rows[1] == ["worker 2", "2", 100.0, 50.0, 0.5, None]
    assert found.note is not None
    assert "estimates" not in found.note


def test_counts_of_counters_that_took_turns_are_estimates(tmp_path: Path) -> None:
    shared = thread(1, count(100, 100, 25), count(100, 100, 50), count(1, 100, 0))
    found = counted_table(a_run(tmp_path, [shared]))
    assert found is not None
    assert found.rows[0][2:] == [400.0, 200.0, 0.5, None]
    assert found.note is not None
    assert "these figures are estimates" in found.note


@pytest.mark.parametrize(
    ("of", "value"), [(count(0, 0, 0), 0.0), (count(7, 10, 0), None), (None, None)]
)
def test_what_never_ran_counted_nothing_and_what_never_counted_is_unknown(
    of: ThreadCount | None, value: float | None
) -> None:
    assert value_of(thread(1, of), 0, EVENTS[0]) == value


def test_without_counts_there_is_no_table(tmp_path: Path) -> None:
    assert counted_table(a_run(tmp_path, [thread(1)])) is None
