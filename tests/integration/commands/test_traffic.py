"""`traffic` as a command: on counters that are fed, on none, and ended while it simulates."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration import command

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.counters_trees.feed import Feed, fed
from tests.integration.live_run import start

import memgauge
from memgauge.experiments.traffic import cold as nest_traffic_cold
from memgauge.model.counting.readings import counted
from memgauge.model.storage.run_file import read_run

if TYPE_CHECKING:
    from memgauge.model.records import Point
    from memgauge.model.run import Run

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]


def traffic(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return command.memgauge("traffic", *arguments, cwd=cwd, limit_s=300)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Run]]:
    """Runs `traffic` on a tree whose counters see what the kernels are known to move."""
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Every line moved is a system call here, also those of the lead-in.
    monkeypatch.setattr(nest_traffic_cold, "caches_bytes", lambda *_: 1 << 18)

    def made(kernel: str, reads: float = 1.0, **options: Any) -> Run:
        tree = tracepoints.TREES["intel_server"](tmp_path / "tree")
        if tree is None:
            pytest.skip("no two system calls whose tracepoints differ in one bit")
        with fed(tree, Feed(tree, 0, reads, 1.0), monkeypatch):
            directory = str(tmp_path / "run")
            return memgauge.traffic(
                kernel, **options, budget="2m", precision="50%", output=directory
            ).run

    with tracepoints.alone():
        yield made


def per_execution(run: Run, point: Point) -> dict[str, float]:
    """Bytes of one execution that the counters saw, by quantity."""
    (made,) = run.counters.values()
    samples = run.counted_samples_of(point.point)
    executions = sum(len(sample.threads[0].begin_ns) for sample in samples)
    total: dict[str, float] = {}
    for sample in samples:
        assert sample.reading is not None
        for counter in made.of:
            found = counted(counter, sample.reading.before, sample.reading.after)
            assert found is not None
            total[counter.quantity] = total.get(counter.quantity, 0.0) + found.value
    return {quantity: bytes_ / executions for quantity, bytes_ in total.items()}


@pytest.mark.parametrize("kernel", ["gemm", "s1cf"])
def test_what_is_measured_is_what_the_kernel_moves(kernel: str, run: Callable[..., Run]) -> None:
    found = run(kernel, sizes="32,64", machine="this", repetitions="20")
    assert found.end is not None
    assert found.end.status == "complete"
    for point in found.points.values():
        facts = point.actual
        measured = per_execution(found, point)
        written = int(str(facts["write_bytes"]))
        assert measured["read_bytes"] == pytest.approx(point.bytes_moved - written, rel=0.01)
        assert measured["write_bytes"] == pytest.approx(written, rel=0.01)
        assert found.simulated[point.point]["this"].read_bytes == point.bytes_moved - written
        assert len(found.counted_samples_of(point.point)) >= int(str(facts["regions"]))
        assert any(sample.idle is not None for sample in found.samples_of(point.point))
        assert "not_counted" not in facts or facts["not_counted"] is None
    assert {check.passed for one in found.validations for check in one.checks} == {True}


def test_nothing_is_run_and_no_memory_needed_when_only_simulating(tmp_path: Path) -> None:
    done = traffic(
        *("gemm", "--sizes", "64,100000", "--machine", "power9-5mb", "--threads", "21"),
        *("--simulate-only", "--output", "run", "--json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "measuring" not in done.stderr.splitlines()[0]
    document = json.loads(done.stdout)
    text = json.dumps(document)
    assert "nothing was run, only simulated" in text
    assert "N = 100000" in text
    assert "--simulate-up-to" in text
    found = read_run(tmp_path / "run")
    assert found.end is not None
    assert found.end.status == "complete"
    assert not any(found.samples.values())
    (simulated,) = (one for of in found.simulated.values() for one in of.values())
    assert (simulated.machine, simulated.cores) == ("power9-5mb", 21)


def test_ctrl_c_keeps_what_was_simulated_before(tmp_path: Path) -> None:
    arguments = (
        *("traffic", "gemm", "--sizes", "32,6000", "--machine", "power9-5mb"),
        *("--simulate-only", "--simulate-up-to", "10h", "--output", "run"),
    )
    with start(*arguments, cwd=tmp_path) as running:
        records, deadline = tmp_path / "run" / "records.jsonl", time.monotonic() + 60
        while not (records.exists() and b'"kind":"simulated"' in records.read_bytes()):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=30)[1]
    assert running.returncode == 130
    assert error.rstrip().splitlines()[-1] == "memgauge: interrupted"
    found = read_run(tmp_path / "run")
    assert list(found.simulated) == ["traffic/gemm/32/1t"]
    assert found.end is not None
    assert found.end.status == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gem"], "kernel 'gem' is unknown; did you mean gem"),
        (["gemm", "--machine", "power8"], "machine 'power8': no machine has this name; did you"),
        (["gemm", "--sizes", "64:2k"], "--sizes '64:2k' holds '2k', which is not a whole number"),
        (["s1cf", "--sizes", "63"], "--sizes 63: the grid 2x4 does not divide it"),
        (["copy", "--sizes", "1e12"], "--sizes 1000000000000: the arrays of copy by 1 thread take"),
        (["gemm", "--grid", "2x4"], "--grid: is an option of the re-sorting routines"),
        (["gemm", "--threads", "9999"], "9999 threads need one CPU each"),
        (
            ["gemm", "--simulate-only", "--machine", "power9-5mb", "--threads", "23"],
            "machine power9-5mb: has 22 cores, not 23; use fewer threads",
        ),
        (["gemm", "--counters", "perf:nothing"], "perf:nothing"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    done = traffic(*arguments, "--output", "run", cwd=tmp_path)
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if not line.startswith("preparing")]
    assert said in errors[-1]
    assert len(errors) <= 2, "an announcement and the error"
    assert not (tmp_path / "run").exists()


def test_every_kernel_is_named_in_the_help(tmp_path: Path) -> None:
    from memgauge.model.nests import KINDS

    words = re.findall(r"[\w-]+", traffic("--help", cwd=tmp_path).stdout)
    assert set(KINDS) <= {*words}
