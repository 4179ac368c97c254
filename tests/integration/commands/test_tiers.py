"""`memgauge tiers` as a user meets it: text, JSON, files removed, signals, errors of one line."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.integration import command
from tests.integration.live_run import start, wait_for_samples

import memgauge
from memgauge.model.storage.run_file import read_run
from memgauge.system.detect import detect

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(len(detect().allowed_cpus) < 2, reason="needs two CPUs: one for each group"),
]

SMALL = ("--array-bytes", "1MiB", "--threads", "2")
QUICK = (*SMALL, "--budget", "1s")
LONG = (*SMALL, "--budget", "90s", "--precision", "0.0001%", "--output", "run")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that goes on for long, and has measured something."""
    with start("tiers", "--b", "file:arrays", *LONG, cwd=tmp_path) as process:
        wait_for_samples(process, tmp_path / "run")
        yield process
        process.kill()


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("schema")
    return json.loads(command.memgauge("schema", "--of", "document", cwd=place).stdout)


def test_both_groups_are_reported(tmp_path: Path) -> None:
    done = command.memgauge(
        "tiers", "--a", "dram:dram", "--b", "file:x:file:x", *QUICK, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "Two memories in competition" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"memgauge-runs"}, "the file is removed"


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--fixed-iterations", "3"),
        ("--latency",),
        ("--read-share", "100%,50%", "--delay-b", "0,200"),
        ("--store", "flushed"),
        ("--kernel", "copy,triad", "--variant", "standard"),
    ],
)
def test_json_is_one_document_of_the_published_schema(
    given: tuple[str, ...], schema: Any, tmp_path: Path
) -> None:
    size = ("--array-bytes", "1MiB", "--budget", "20s", "--precision", "90%")
    done = command.memgauge("tiers", "--b", "dram:shm:", *size, *given, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    jsonschema.validate(json.loads(done.stdout), schema)


def test_the_api_takes_the_same_options(tmp_path: Path) -> None:
    result = memgauge.tiers(
        b="shm:", threads=2, array_bytes="1MiB", budget="1s", output=str(tmp_path / "run")
    )
    names = list(result.run.points)
    assert names == [f"tiers/copy/2t/{end}" for end in ("k0/a", "k1/a", "k1/b", "k2/b")]
    assert not result.failed_validations


def test_what_was_read_back_is_what_was_asked(tmp_path: Path) -> None:
    given: dict[str, Any] = {"preset": "dram-nvm", "nvm": "shm:", "split": (1,)}
    result = memgauge.tiers(
        **given, threads=2, array_bytes="1MiB", budget="1s", output=str(tmp_path / "run")
    )
    a, b = result.run.points.values()
    assert (a.requested["source"], a.requested["destination"]) == ("dram", "dram")
    assert (b.requested["source"], b.requested["destination"]) == ("dram", "shm:")
    requested = read_run(tmp_path / "run").start.parameters["tiers"]
    assert {name: requested[name] for name in given} == {
        "preset": "dram-nvm",
        "nvm": "shm:",
        "split": "1",
    }


def test_ctrl_c_keeps_what_was_measured_and_removes_the_file(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    running.send_signal(signal.SIGINT)
    error = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "Traceback" not in error
    end = read_run(tmp_path / "run").end
    assert end is not None
    assert end.status == "interrupted"
    assert not (tmp_path / "arrays").exists()


def test_a_killed_run_is_completed(running: subprocess.Popen[str], tmp_path: Path) -> None:
    running.kill()
    running.communicate(timeout=60)
    before = len(read_run(tmp_path / "run").points)
    resumed = command.memgauge(
        *("survey", "--resume", "run", "--memory", "file:arrays"),
        *("--budget", "3s", "--precision", "0.5"),
        cwd=tmp_path,
    )
    assert resumed.returncode == 0, resumed.stderr
    completed = read_run(tmp_path / "run")
    assert completed.end is not None
    assert len(completed.points) == before == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--b nowhere", "--b 'nowhere' is not of the form SOURCE:DESTINATION; write two memories"),
        ("--b file:/a:file:/b:dram", "can be read as file:/a to file:/b:dram or"),
        ("--b node:999", "node:999: this machine has no node 999 with memory"),
        ("--b shm: --split 999", "--split 999: of"),
        ("--b shm: --threads 60000", "--threads 60000: 60000 threads need one CPU each"),
        ("--b shm: --preset nvm-nvm", "--b and --preset both specify what group B uses"),
        ("--b shm: --access translated", "neither group uses one; name one with --b pmemobj:PATH"),
        ("--b shm: --latency --fixed-iterations 3", "--latency: all threads work until"),
        ("--b shm: --cpus 0 --latency", "only one CPU can be used, and --latency needs one"),
        ("--b file:/no/such/place/x", "file:/no/such/place/x: no such file or directory"),
        ("--b file:/etc/hostname", "memgauge did not create it and leaves it unchanged"),
        ("--b shm: --array-bytes 900TiB", "are needed (2 threads), but only"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(
    given: str, message: str, tmp_path: Path
) -> None:
    threads = () if "--threads" in given or "--cpus" in given else ("--threads", "2")
    done = command.memgauge("tiers", *given.split(), *threads, "--output", "run", cwd=tmp_path)
    assert done.returncode == 2
    *progress, last = done.stderr.strip().splitlines()
    assert message in last
    assert all(line.startswith("preparing") for line in progress)
    assert not done.stdout
    assert not (tmp_path / "run" / "records.jsonl").exists()
