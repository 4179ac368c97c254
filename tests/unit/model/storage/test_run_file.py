import io
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.model import build

from memgauge.model.errors import MemgaugeError, RunFileError
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, OtherThreads, RunEnd, Sample, ThreadSample
from memgauge.model.rules import StreamRules
from memgauge.model.run import Run, run_of
from memgauge.model.storage import run_reader as runreader
from memgauge.model.storage.codec import encode
from memgauge.model.storage.run_file import RECORDS_NAME, read_run

LINES = [encode(record) for record in build.records()]


def read(data: bytes) -> Run:
    return runreader.read_stream(io.BytesIO(data), Path("run"))


def records_of(run: Run) -> int:
    samples = sum(map(len, run.samples.values()))
    others = (run.starts, run.points, run.environment, run.validations, run.warnings)
    return samples + sum(map(len, others)) + (run.end is not None)


def altered(line: bytes, **fields: Any) -> bytes:
    return json.dumps(json.loads(line) | fields).encode() + b"\n"


def test_a_run_reads_back_whole(tmp_path: Path) -> None:
    (tmp_path / RECORDS_NAME).write_bytes(b"".join(LINES))
    run = read_run(tmp_path)
    assert run == read_run(tmp_path / RECORDS_NAME)
    assert run.directory == tmp_path
    assert records_of(run) == len(LINES)
    assert run.start == build.start()
    assert run.parameters["stream"]["threads"] == "1,2"
    assert list(run.points) == ["stream/triad/1", "stream/triad/2", "latency/dram"]
    assert [s.round for s in run.samples_of("latency/dram")] == [0, 1, 2]
    assert run.samples_of("unheard") == []
    assert [p.point for p in run.points_of("latency")] == ["latency/dram"]
    assert run.rounds == 3
    assert run.end is not None
    assert run.notes == []


def test_a_run_cut_anywhere_keeps_every_whole_line() -> None:
    data = b"".join(encode(record) for record in build.records(1))
    for cut in range(len(data)):
        whole = data[:cut].count(b"\n")
        if not whole:
            with pytest.raises(RunFileError, match="no complete record"):
                read(data[:cut])
            continue
        run = read(data[:cut])
        assert records_of(run) == whole
        assert run.end is None
        assert bool(run.notes) == (data[cut - 1 : cut] != b"\n")


def test_a_corrupt_line_is_named_with_the_way_to_keep_the_rest() -> None:
    data = b"".join([*LINES[:5], b"garbage\n", *LINES[5:]])
    with pytest.raises(RunFileError) as error:
        read(data)
    message = str(error.value)
    assert message.startswith("run: corrupt: line 6: ")
    assert "lines 1 to 5 are intact" in message
    assert "head -n 5" in message
    assert records_of(read(b"".join(data.splitlines(keepends=True)[:5]))) == 5


@pytest.mark.parametrize(
    "data", [b"\n", b"garbage\n", b"{}\n", b"[]\n", b"\xff\n", b'{"kind":"run"}\n', LINES[1]]
)
def test_what_begins_otherwise_is_no_run(data: bytes) -> None:
    with pytest.raises(RunFileError, match=r"run: not a memgauge run: line 1: "):
        read(data)


def test_a_newer_version_is_named_with_the_version_to_read_it_with() -> None:
    header = altered(LINES[0], format_version=7, memgauge_version="9.1", shape="unknown to us")
    with pytest.raises(
        RunFileError,
        match=r"memgauge 9\.1 in format version 7, .* version 2; "
        r"use that version",
    ):
        read(header + b'{"kind":"novelty"}\n')
    resumed = altered(encode(build.start(resumed=True)), format_version=7)
    with pytest.raises(RunFileError, match="version 7"):
        read(b"".join(LINES) + resumed.replace(b'{"kind": ', b'{"kind":'))


def test_a_version_before_the_first_release_is_refused() -> None:
    header = altered(LINES[0], format_version=1, memgauge_version="0.0")
    with pytest.raises(
        RunFileError,
        match=r"memgauge 0\.0 in format version 1, .*: measure "
        r"again$",
    ):
        read(header + b"".join(LINES[1:]))


START, TRIAD, DRAM = build.start(), build.triad(2), build.dram()
SAMPLE = build.sample(TRIAD, 0)
END = RunEnd(status="complete", elapsed_s=1.0, rounds=1)
RESUMED = build.start(resumed=True)
replace = msgspec.structs.replace


def thread(index: int, **changes: Any) -> AnyRecord:
    threads = list(SAMPLE.threads)
    threads[index] = replace(threads[index], **changes)
    return replace(SAMPLE, threads=threads)


def summed(threads: list[ThreadSample], others: int) -> Sample:
    return replace(SAMPLE, threads=threads, others=OtherThreads(threads=others))


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([], "contains no record"),
        ([TRIAD], "before the record that starts"),
        ([START, START], "second run"),
        ([START, END, TRIAD], "after the record that ends"),
        ([START, END, END], "after the record that ends"),
        ([START, END, build.start(resumed=True, machine_id="ff")], "another machine"),
        ([START, SAMPLE], "not declared"),
        ([START, TRIAD, TRIAD], "a second time"),
        ([START, TRIAD, RESUMED, replace(TRIAD, bytes_counted=1)], "other work"),
        ([START, replace(TRIAD, bytes_counted=0)], "without bytes"),
        ([START, replace(DRAM, accesses=0)], "without accesses"),
        ([START, replace(DRAM, work="counted")], "counted work that is not a bandwidth"),
        ([START, replace(TRIAD, measured_with=DRAM.point)], "before .*, with which it is measured"),
        ([START, TRIAD, replace(SAMPLE, threads=SAMPLE.threads[:1])], "1 threads where .* has 2"),
        ([START, TRIAD, summed(SAMPLE.threads, 1)], "3 threads where .* has 2"),
        ([START, TRIAD, summed([], 2)], "whose stamps are needed"),
        ([START, replace(TRIAD, work="window"), summed(SAMPLE.threads[:1], 1)], "are needed"),
        ([START, TRIAD, thread(1, end_ns=[1, 2, 3])], "unequal numbers"),
        ([START, TRIAD, thread(1, end_ns=[2000, 1500])], "took no time"),
        ([START, TRIAD, thread(0, begin_ns=[1400, 1500])], "took no time"),
        ([replace(START, system=replace(START.system, memory_bytes=1 << 80))], "beyond 64 bits"),
    ],
)
def test_records_out_of_place_are_refused(records: list[AnyRecord], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        run_of(records)
    lines = [msgspec.json.encode(record) + b"\n" for record in records]
    with pytest.raises(RunFileError):
        read(b"".join(lines))


def test_a_sample_may_sum_up_some_of_its_threads() -> None:
    (sample,) = run_of([START, TRIAD, summed(SAMPLE.threads[:1], 1)]).samples[TRIAD.point]
    assert sample.others == OtherThreads(threads=1)
    assert read(encode(START) + encode(TRIAD) + encode(sample)).samples[TRIAD.point] == [sample]


def test_a_resumption_may_declare_points_again_and_is_a_leg_of_its_own() -> None:
    again = build.triad(2, huge_share=0.5)
    run = run_of([START, TRIAD, SAMPLE, END, RESUMED, again, SAMPLE, SAMPLE])
    assert run.points[TRIAD.point] == again
    assert run.legs[TRIAD.point] == [0, 1, 1]
    assert run.end is None


def test_readings_of_counters_that_were_declared_anew_are_left_out() -> None:
    few, more = CounterSet(counters="c", slots=1, of=[]), CounterSet(counters="c", slots=2, of=[])
    run = run_of([START, TRIAD, few, counted_in(1), END, RESUMED, TRIAD, more, counted_in(2)])
    assert run.counters["c"] == more
    assert run.counted_samples_of(TRIAD.point) == [counted_in(2)]
    assert run.counted_samples_of("unheard") == []


def counted_in(slots: int) -> Sample:
    reading = RegionReading(
        counters="c", before_ns=(1, 2), after_ns=(3, 4), before=[0] * slots, after=[1] * slots
    )
    return replace(SAMPLE, reading=reading)


def test_rules_follow_a_stream_without_keeping_samples() -> None:
    rules = StreamRules()
    for record in build.records():
        rules.check(record)
    assert list(rules.points) == ["stream/triad/1", "stream/triad/2", "latency/dram"]


def test_an_endless_line_is_refused_and_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runreader, "MAX_LINE_BYTES", 4096)
    with pytest.raises(RunFileError, match="line 2: longer than"):
        read(LINES[0] + b"x" * 10_000)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / RECORDS_NAME
    with path.open("wb") as file:
        file.truncate(runreader.MAX_RUN_BYTES + 1)
    with pytest.raises(RunFileError, match="larger than 4 GiB"):
        read_run(tmp_path)


def test_what_is_no_file_of_records_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, why in [
        (tmp_path / "none", "no such file"),
        (tmp_path, "no such file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (Path("a\0b"), "cannot be the name of a file"),
        (Path("x" * 5000), "name too long"),
    ]:
        with pytest.raises(RunFileError, match=re.compile(why, re.IGNORECASE)):
            read_run(path)


WRITER = """
    import sys
    sys.path.insert(0, sys.argv[2])
    from tests.unit.model import build
    from memgauge.model.storage.run_file import RunWriter

    with RunWriter(sys.argv[1]) as writer:
        first, *rest = build.records()[:-1]
        writer.write([first, *rest[:3]])
        print("ready", flush=True)
        for round_ in range(10**9):
            writer.write([build.sample(point, round_) for point in rest[:3]])
"""


def test_a_killed_run_loses_at_most_the_line_under_way(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[4])
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path / "run"), root]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    run = read_run(tmp_path / "run")
    rounds = [[s.round for s in run.samples_of(point)] for point in run.points]
    assert run.end is None
    assert all(found == list(range(len(found))) for found in rounds)
    assert max(map(len, rounds)) - min(map(len, rounds)) <= 1


def test_only_errors_of_memgauge_have_exit_codes() -> None:
    assert issubclass(RunFileError, MemgaugeError)
    assert RunFileError.exit_code == 2


def test_the_plain_python_of_the_documentation_reads_a_run(tmp_path: Path) -> None:
    page = Path(__file__).parents[4] / "docs" / "records.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert code is not None
    (tmp_path / "RUN").mkdir()
    (tmp_path / "RUN" / RECORDS_NAME).write_bytes(b"".join(LINES) + b"torn")
    done = subprocess.run(
        [sys.executable, "-I", "-c", code[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == sum(b'"kind":"sample"' in line for line in LINES)
    assert lines[0] == "stream/triad/1 0 900 ns"
