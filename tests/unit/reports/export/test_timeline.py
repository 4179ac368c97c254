"""Exports of a profile, parsed back by others than those who wrote them."""

import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from prometheus_client.openmetrics import parser
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    S,
    cpu_time,
    energy,
    every,
    gpu_power,
    profile,
    ran,
    reads,
    sampled,
    writes,
)
from tests.unit.model import build
from tests.unit.model.storage.lanes import Sample, block, header

from memgauge.commands.export import command
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run, run_of
from memgauge.model.storage.codec import encode
from memgauge.reports.export.registry import EXPORTERS
from memgauge.reports.export.trace import MACHINE_PID

SHARED = {"enabled_slot": 0, "running_slot": 1}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two lanes; the fast one misses a value and shares its hardware."""
    samples: list[Sample] = [
        [at * MS, at * MS + 1000, at * 10, at * 10, None if at == 5 else at * 3, at]
        for at in range(10)
    ]
    fast = Made([reads(2, **SHARED), cpu_time(3)], samples, MS, slots=4)
    counters = [gpu_power(0), energy(1)]
    readings = sampled([lambda _: 5000.0, lambda _: 1e6], counters, every(5 * MS, 9 * MS))
    slow = Made(counters, readings, 5 * MS, "slow")
    regions = [
        Region(name='solve "1"', pid=77, tid=78, begin_ns=2 * MS, end_ns=4 * MS),
        Region(name="open", pid=77, tid=77, begin_ns=6 * MS, end_ns=None),
    ]
    return profile(tmp_path, fast, slow, regions=regions, process=ran(0.009))


TIMELINES = [name for name, one in EXPORTERS.items() if one.timeline is not None]


def exported(run: Run, form: str) -> bytes:
    timeline = EXPORTERS[form].timeline
    assert timeline is not None
    return b"".join(timeline(run))


READ = "fast:perf:uncore_imc/read/@uncore_imc_0"
POWER = "slow:nvml:0/power@gpu0"


def test_csv_holds_raw_and_scaled_values_and_gaps(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(run, "csv").decode())))
    assert len(rows) == 12
    fast = [row for row in rows if row["lane"] == "fast"]
    assert [row[f"{READ}.raw"] for row in fast] == [
        *("0", "3", "6", "9", "12", ""),
        *("18", "21", "24", "27"),
    ]
    assert [row[f"{READ}.B"] for row in fast][1:6] == ["192.0", "384.0", "576.0", "768.0", ""]
    assert fast[3][f"{READ}.enabled_ns"] == "30"
    assert fast[3][f"{POWER}.W"] == ""
    assert rows[-1][f"{POWER}.W"] == "5.0"
    assert (fast[2]["begin_ns"], fast[2]["end_ns"]) == (str(2 * MS), str(2 * MS + 1000))


def test_json_and_parquet_hold_the_same(run: Run) -> None:
    as_json = json.loads(exported(run, "json"))
    frame = pl.read_parquet(io.BytesIO(exported(run, "parquet")))
    assert frame.to_dicts() == as_json
    assert frame.schema[f"{READ}.raw"] == pl.Int64
    assert as_json[5][f"{READ}.raw"] is None


def test_openmetrics_is_read_by_prometheus(run: Run) -> None:
    text = exported(run, "openmetrics").decode()
    families = {family.name: family for family in parsed(text)}
    read = families["memgauge_memory_read_bytes"]
    assert (read.type, read.unit) == ("counter", "bytes")
    samples = read.samples
    assert [sample.value for sample in samples] == [at * 3 * 64.0 for at in range(10) if at != 5]
    assert {sample.name for sample in samples} == {"memgauge_memory_read_bytes_total"}
    assert samples[0].labels["counter"] == "perf:uncore_imc/read/@uncore_imc_0"
    began = 1767323045  # 2026-01-02T03:04:05Z
    assert float(samples[1].timestamp) == pytest.approx(began + 1.0005e-3, abs=1e-6)
    assert families["memgauge_gpu_power_level_watts"].type == "gauge"
    assert families["memgauge_process_time_seconds"].unit == "seconds"


@pytest.mark.parametrize(("counts_from", "duty"), [(0, 1.0), (6, 0.5)])
def test_what_did_not_count_all_the_time_says_so(
    tmp_path: Path, counts_from: int, duty: float
) -> None:
    """A counter with times, and one of a keeper: nothing is scaled up, and both are told of."""
    counters = [reads(2, **SHARED), writes(3, duty_slot=4, generation_slot=5)]
    samples: list[Sample] = [
        [
            at * MS,
            at * MS,
            at * 10,
            max(0, at - counts_from) * 10,
            at,
            at,
            int(duty * 2**20),
            at // 6,
        ]
        for at in range(10)
    ]
    run = profile(tmp_path, Made(counters, samples, MS, slots=6))
    rows = json.loads(exported(run, "json"))
    write = counters[1].name
    assert [row[f"{write}.duty"] for row in rows] == [duty] * 10
    assert [row[f"{write}.generation"] for row in rows] == [0] * 6 + [1] * 4
    families = {family.name: family for family in parsed(exported(run, "openmetrics").decode())}
    is_whole = counts_from == 0
    read = families["memgauge_memory_read_bytes"].samples
    assert [sample.value for sample in read] == [at * 64.0 for at in range(10)]
    assert [sample.labels.get("shared") for sample in read] == [None if is_whole else "true"] * 10
    written = families["memgauge_memory_write_bytes"].samples
    assert {sample.labels.get("estimate") for sample in written} == {None if is_whole else "true"}
    assert {sample.labels.get("shared") for sample in written} == {None}
    if is_whole:
        assert not any("memgauge_counter" in name for name in families)
    else:
        running = families["memgauge_counter_running_seconds"]
        assert (running.type, running.unit) == ("counter", "seconds")
        assert [round(s.value * 1e9) for s in running.samples] == [0] * 7 + [10, 20, 30]
        assert all(sample.labels == read[0].labels for sample in running.samples)


def parsed(text: str) -> list[Any]:
    return list(parser.text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


KEYS = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "C": {"name", "pid", "tid", "ts", "args"},
    "i": {"name", "pid", "tid", "ts", "s"},
}


def test_a_trace_is_what_perfetto_opens(run: Run) -> None:
    trace = json.loads(exported(run, "chrome"))
    assert trace["displayTimeUnit"] == "ms"
    events = trace["traceEvents"]
    for event in events:
        assert set(event) == KEYS[event["ph"]] | {"ph"}
        assert isinstance(event["pid"], int)
        if "ts" in event:
            assert event["ts"] >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, float) for value in event["args"].values())
    counters = [e for e in events if e["ph"] == "C" and e["name"] == "memory read, socket 0"]
    assert [e["args"] for e in counters] == [{"B/s": 192_000.0}] * 7
    assert {e["pid"] for e in counters} == {MACHINE_PID}
    assert {e["pid"] for e in events if e["name"] == "CPU use"} == {77}
    gaps = [e for e in events if e["ph"] == "i"]
    assert [(e["name"], e["ts"]) for e in gaps] == [("gap: memory read, socket 0", 4000.5)]
    regions = {e["name"]: e for e in events if e.get("cat") == "region"}
    assert (regions['solve "1"']["ts"], regions['solve "1"']["dur"]) == (2000.0, 2000.0)
    assert regions["open"]["args"] == {"ended": False}
    assert any(e["name"] == "process_name" and e["pid"] == 77 for e in events)


@pytest.mark.parametrize("form", TIMELINES)
def test_a_run_without_a_timeline_is_refused(tmp_path: Path, form: str) -> None:
    with pytest.raises(RunFileError, match="export a run of 'memgauge profile'"):
        exported(profile(tmp_path), form)


@pytest.mark.parametrize("form", ["csv", "chrome", "openmetrics"])
def test_streams_take_constant_memory(tmp_path: Path, form: str) -> None:
    """Twenty times the readings, no more memory."""
    counters = [reads(0)]
    made = profile(tmp_path, Made(counters, sampled([lambda _: 9.0], counters, [0, S]), S))
    peaks = []
    for blocks in (10, 200):
        content = header(3)
        for number in range(blocks):
            start = number * 100
            rows: list[Sample] = [[at * S, at * S, at] for at in range(start, start + 100)]
            content += block(rows)
        (tmp_path / "fast.lane").write_bytes(content)
        tracemalloc.start()
        timeline = EXPORTERS[form].timeline
        assert timeline is not None
        size = sum(len(piece) for piece in timeline(made))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert size > blocks * 100
    assert peaks[1] < 2 * peaks[0] + (1 << 20)


@pytest.mark.parametrize("form", TIMELINES)
def test_the_command_writes_a_profile_without_being_told(
    run: Run, tmp_path: Path, form: str
) -> None:
    target = tmp_path / "out"
    arguments = [str(run.directory), "--format", form, "--output", str(target)]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert target.read_bytes() == exported(run, form)


def test_a_trace_of_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / "stream"
    directory.mkdir()
    lines = b"".join(map(encode, build.records()))
    (directory / "records.jsonl").write_bytes(lines)
    with pytest.raises(RequestError, match="--format chrome works only for profiles"):
        CliRunner().invoke(command, [str(directory), "--format", "chrome"], catch_exceptions=False)


def test_a_run_that_tells_no_time_has_no_metrics(run: Run) -> None:
    start = build.start()
    broken = run_of([type(start)(**{f: getattr(start, f) for f in start.__struct_fields__}
                                 | {"started_at": "then"})])  # fmt: skip
    with pytest.raises(RunFileError, match="'then', which is not a time"):
        exported(broken, "openmetrics")


def test_scaled_values_in_csv_have_no_digits_that_are_not_theirs(tmp_path: Path) -> None:
    samples: list[Sample] = [[at * MS, at * MS, at * 120_059] for at in range(1, 12)]
    made = profile(tmp_path, Made([cpu_time(0)], samples, MS))
    rows = list(csv.DictReader(io.StringIO(exported(made, "csv").decode())))
    assert [row["proc:time@tree.s"] for row in rows[:2]] == ["0.000120059", "0.000240118"]
    assert all(len(row["proc:time@tree.s"]) <= len("0.001200590") for row in rows)
