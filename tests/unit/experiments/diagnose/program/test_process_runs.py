"""A process that runs on is read by a command, and left as it is."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.program.process_runs import ProcessRuns, Reading, described
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.system.programs.program import lives

ANY = Treatment(name="write", kind="pressure")
CPUS = sorted(os.sched_getaffinity(0))

Runs = Callable[..., ProcessRuns]


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.fixture
def runs(server: subprocess.Popen[bytes]) -> Iterator[Runs]:
    with ExitStack() as stack:

        def make(command: str, **reading: str) -> ProcessRuns:
            return ProcessRuns(server.pid, Reading(command=command, **reading), CPUS[-1:], stack)

        yield make


def awaited_end(pid: int) -> bool:
    until = time.monotonic() + 10
    while lives(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not lives(pid)


def test_the_number_is_all_that_was_printed_or_what_the_metric_finds(runs: Runs) -> None:
    one = runs("sleep 0.05; echo noise >&2; echo ' 2.5e3 '").run(ANY)
    assert one.metric == 2500
    assert one.end_ns - one.begin_ns >= 50_000_000
    found = runs("echo GET: 812.5 requests; echo SET: 3", metric="GET: ([0-9.]+)").run(ANY)
    assert found.metric == 812.5


def test_the_command_runs_on_its_cpus_and_this_process_stays(runs: Runs) -> None:
    command = "sed -n 's/Cpus_allowed_list:\\t//p' /proc/self/status | sed 's/^0$/0.5/'"
    printed = runs(command).run(ANY).metric
    assert printed == (CPUS[-1] or 0.5)
    assert sorted(os.sched_getaffinity(0)) == CPUS


@pytest.mark.parametrize(
    ("command", "reading", "message"),
    [
        ("echo why; exit 3", {}, "exit code 3; it printed: why"),
        ("echo why >&2; exit 3", {}, "exit code 3; it printed: why"),
        ("kill -TERM $$", {}, "was ended by SIGTERM; it printed nothing"),
        ("true", {}, "must print one number above 0 and nothing else; --metric .*; it printed not"),
        ("echo 5 requests", {}, "must print one number above 0 .*; it printed: 5 requests"),
        ("echo 0", {}, "above 0"),
        ("echo nan", {}, "above 0"),
        ("echo inf", {}, "above 0"),
        ("echo GET 3", {"metric": "SET (.*)"}, "a number above 0 where --metric expects one"),
        ("echo 1", {"prepared_by": "echo why; exit 1"}, "--prepare .*exit code 1; it printed: why"),
    ],
)
def test_a_command_that_tells_no_number_is_refused(
    runs: Runs, command: str, reading: dict[str, str], message: str
) -> None:
    with pytest.raises(SystemFailure, match=message):
        runs(command, **reading).run(ANY)


def test_the_end_of_the_process_ends_the_command_too(
    runs: Runs, server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    place = tmp_path / "pid"
    waiting = runs(f"echo $$ >{place}; kill {server.pid}; sleep 60")
    with pytest.raises(SystemFailure, match=rf"--pid {server.pid}: process 'sleep' ended during"):
        waiting.run(ANY)
    assert awaited_end(int(place.read_text(encoding="ascii")))
    with pytest.raises(SystemFailure, match="ended during"):
        waiting.run(ANY)


def test_an_interruption_ends_the_command_and_not_the_process(
    runs: Runs, server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    place = tmp_path / "pid"

    def interrupt() -> None:
        while not place.exists() or not place.read_text(encoding="ascii").strip():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runs(f"sleep 60 & echo $! >{place}; wait").run(ANY)
    thread.join()
    assert awaited_end(int(place.read_text(encoding="ascii")))
    assert server.poll() is None


def test_what_a_command_left_in_the_background_ends_with_the_diagnosis(
    server: subprocess.Popen[bytes],
) -> None:
    with ExitStack() as stack:
        reading = Reading(command="sleep 60 >/dev/null & echo $!")
        left = int(ProcessRuns(server.pid, reading, CPUS, stack).run(ANY).metric or 0)
        assert lives(left)
    assert awaited_end(left)


def test_a_process_is_described_by_name_and_cpus(server: subprocess.Popen[bytes]) -> None:
    name, cpus = described(server.pid)
    assert (name, set(CPUS) <= set(cpus)) == ("sleep", True)
    server.kill()
    server.wait()
    with pytest.raises(RequestError, match=rf"--pid {server.pid}: no such process is running"):
        described(server.pid)
