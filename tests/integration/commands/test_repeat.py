"""`memgauge survey --repeat`: runs in processes of their own, kept whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration import command

import memgauge
from memgauge.model.errors import SystemFailure
from memgauge.model.parameters import CommonParameters, RunOptions, words_for
from memgauge.model.storage.series import series_in

pytestmark = pytest.mark.native
SMALL = ("--only", "latency", "--pages", "4k", "--budget")


def survey(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    soon = ("20s", "--precision", "0.9")  # ends when each point has any interval
    return command.memgauge("survey", *SMALL, *soon, *arguments, cwd=cwd)


def test_every_run_has_a_directory_and_the_end_says_how_to_compare(tmp_path: Path) -> None:
    done = survey("--repeat", 2, "--output", "side a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = [memgauge.load(tmp_path / "side a" / f"run-{number}").run for number in (1, 2)]
    assert len({run.start.run_id for run in runs}) == 2
    assert done.stdout.count("Idle latency\n") == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("runs: side a")
    assert last.endswith("memgauge compare side a OTHER")
    assert [path.name for path in series_in(tmp_path / "side a")] == ["run-1", "run-2"]
    assert series_in(tmp_path / "side a" / "run-1") == []


def test_without_a_directory_one_is_made(tmp_path: Path) -> None:
    assert survey("--repeat", 1, cwd=tmp_path).returncode == 0
    (made,) = (tmp_path / "memgauge-runs").iterdir()
    assert [one.name for one in made.iterdir()] == ["run-1"]


def test_the_first_run_that_fails_ends_the_series(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run-2").write_text("in the way\n", encoding="ascii")
    done = survey("--repeat", 3, "--output", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "memgauge: --repeat: 1 of 3 runs is complete: out/run-1"
    )
    assert "out/run-2: cannot hold a run" in done.stderr
    assert memgauge.load(tmp_path / "out" / "run-1").run.samples
    assert not (tmp_path / "out" / "run-3").exists()


REFUSED = [
    (("--repeat", 0), "'--repeat'"),
    (("--repeat", "two"), "'--repeat'"),
    (("--repeat", 2, "--json"), "cannot be combined with --json"),
    (("--repeat", 2, "--resume", "run"), "cannot be combined with --resume"),
    (("--repeat", 2, "--precision", "5"), "--precision"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=str)
def test_bad_requests_are_one_line_before_anything_is_measured(
    tmp_path: Path, arguments: tuple[object, ...], said: str
) -> None:
    done = command.memgauge("survey", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert not any(tmp_path.iterdir())


def test_options_are_handed_on_as_they_were_given() -> None:
    given = {"threads": "1,2", "keep": True, "overwrite": None, "budget": "5s", "json": False}
    assert words_for([CommonParameters, RunOptions], given) == [
        "--threads=1,2",
        "--keep",
        "--budget=5s",
    ]
    native = {"threads": (1, 3), "keep": True, "budget_s": 5.0, "output": "here"}
    words = words_for([CommonParameters, RunOptions], native, leave_out={"output"})
    assert words == ["--threads=1,3", "--keep", "--budget=5s"]


COPY = (
    *("--kernel", "copy", "--array-bytes", "64KiB", "--threads", "1"),
    *("--budget", "20s", "--precision", "0.9"),
)


def test_an_experiment_is_repeated_as_a_survey_is(tmp_path: Path) -> None:
    done = command.memgauge("stream", *COPY, "--repeat", 2, "--output", "side", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Memory bandwidth\n") == 1
    runs = [memgauge.load(run).run for run in series_in(tmp_path / "side")]
    assert [run.start.experiments for run in runs] == [["stream"]] * 2
    assert runs[0].start.parameters == runs[1].start.parameters
    assert runs[0].start.parameters["stream"]["array_bytes"] == "64KiB"
    done = command.memgauge("stream", "--repeat", 2, "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be combined with --json" in done.stderr


def test_python_repeats_runs_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "kernel": ("copy",),
        "array_bytes": 64 << 10,
        "threads": 1,
        "budget": 20,
        "precision": 0.9,
    }
    made = memgauge.repeat("stream", 2, output=tmp_path / "side", **options)
    assert [one.directory for one in made] == series_in(tmp_path / "side")
    assert len({one.run.start.run_id for one in made}) == 2
    assert [one.run_id for one in made[1].run.start.earlier] == [made[0].run.start.run_id]
    with pytest.raises(SystemFailure, match="run 1 of 1 failed with exit code 2"):
        memgauge.repeat("stream", 1, output=tmp_path / "side", **options)


@contextmanager
def at_work(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A series whose first run has recorded samples."""
    words = command.command("survey", *SMALL, "60s", "--repeat", 2, "--output", "out")
    process = subprocess.Popen(words, cwd=place, stderr=subprocess.PIPE, text=True)
    try:
        records = place / "out" / "run-1" / "records.jsonl"
        until(lambda: records.exists() and b'"kind":"sample"' in records.read_bytes())
        yield process
    finally:
        process.kill()
        process.communicate()


def until(happens: object, limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not happens():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_lets_the_run_at_work_close_its_records(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with at_work(tmp_path) as process:
        (child,) = children_of(process.pid)
        os.kill(process.pid, number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == code
    assert not is_running(child)
    assert "memgauge: --repeat: 0 of 2 runs are complete" in said
    end = memgauge.load(tmp_path / "out" / "run-1").run.end
    assert end is not None
    assert end.status == "interrupted"
    assert not (tmp_path / "out" / "run-2").exists()


def test_a_run_ends_with_the_series_that_was_killed(tmp_path: Path) -> None:
    with at_work(tmp_path) as process:
        (child,) = children_of(process.pid)
        process.kill()
        until(lambda: not is_running(child))
    assert memgauge.load(tmp_path / "out" / "run-1").run.samples
