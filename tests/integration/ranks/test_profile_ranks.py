"""`profile` as ranks of a job: started by hand as a launcher does, and by a real mpirun."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.integration.command import OPEN_MPI, command, memgauge
from tests.integration.ranks.two_hosts import (
    environment,
    missing_for_hosts,
    missing_for_ranks,
    two_hosts,
)

from memgauge.model.storage.profile_job import JOB_NAME, rank_directory, read_job
from memgauge.model.storage.run_file import Run, read_run

pytestmark = pytest.mark.native

RANKS = 2
LIMIT_S = 90
WATCHED = ("--components", "process,software,network")
MPIRUN = shutil.which("mpirun")


_STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Whatever a test does, its ranks end with it."""
    yield
    while _STARTED:
        with _STARTED.pop() as process:
            process.kill()


def started(
    where: Path, rank: int, *arguments: object, ranks: int = RANKS
) -> subprocess.Popen[str]:
    """A rank as MPICH's launcher starts it; all have this process as their launcher."""
    as_rank = {"PMI_RANK": str(rank), "PMI_SIZE": str(ranks), "MPI_LOCALRANKID": str(rank)}
    process = subprocess.Popen(
        command("profile", *WATCHED, *arguments),
        cwd=where,
        env=os.environ | as_rank | {"COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _STARTED.append(process)
    return process


def ended(processes: Sequence[subprocess.Popen[str]]) -> tuple[list[int], list[str]]:
    """Exit codes, and what each said."""
    said = [process.communicate(timeout=LIMIT_S)[1] for process in processes]
    return [process.returncode for process in processes], said


def runs(job: Path, ranks: int = RANKS) -> list[Run]:
    return [read_run(rank_directory(job, rank)) for rank in range(ranks)]


def test_ranks_share_a_directory_and_the_last_makes_the_page(tmp_path: Path) -> None:
    codes, said = ended(
        [
            started(tmp_path, rank, "--", "sh", "-c", f"sleep 0.3; exit {rank}")
            for rank in range(RANKS)
        ]
    )
    assert codes == [0, 1]
    (job,) = (tmp_path / "memgauge-runs").glob("[!.]*")
    assert read_job(job).ranks == RANKS
    assert sum("Profile of a job" in text for text in said) == 1
    assert f"memgauge: profile: {RANKS} ranks, recorded in memgauge-runs/" in said[0]
    lines = [line for text in said for line in text.splitlines()]
    assert max(len(line) for line in lines if not line.startswith("memgauge: ")) <= 80
    assert (job / "report.html").exists()
    for rank, run in enumerate(runs(job)):
        assert run.start.rank is not None
        assert (run.start.rank.rank, run.start.rank.leads) == (rank, rank == 0)
        events = {counter.back_end for counters in run.counters.values() for counter in counters.of}
        # What is counted of the whole machine is counted once.
        assert ("net" in events) <= (rank == 0)
        assert "proc" in events
    again = memgauge("report", job, "--format", "json")
    document = json.loads(again.stdout)
    assert [one["exit_code"] for one in document["ranks"]] == [0, 1]
    assert all(0.25 < one["lasts_s"] < 30 for one in document["ranks"])


def test_other_commands_say_that_it_is_a_job(tmp_path: Path) -> None:
    codes, _ = ended(
        [started(tmp_path, rank, "--output", "job", "--", "true") for rank in range(RANKS)]
    )
    assert codes == [0] * RANKS
    for words in (("export", "job"), ("compare", "job", "job")):
        done = memgauge(*words, cwd=tmp_path)
        assert done.returncode != 0
        assert "a job of several ranks; give the run of one, such as job/rank-0" in done.stderr
    assert memgauge("export", "job/rank-1", cwd=tmp_path).returncode == 0
    stream = memgauge("report", "job", "--format", "stream", cwd=tmp_path)
    assert stream.returncode == 2


def test_another_job_runs_without_a_record_in_a_directory_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "mine.txt").touch()
    codes, said = ended(
        [
            started(tmp_path, rank, "--output", "job", "--", "sh", "-c", "exit 4")
            for rank in range(2)
        ]
    )
    assert codes == [4, 4]
    for rank, text in enumerate(said):
        assert f"memgauge: profile: rank {rank}: not recorded: job: neither empty nor" in text
    assert os.listdir(tmp_path / "job") == ["mine.txt"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--rate", "often", "--", "true"), 125, "--rate"),
        (("--wrong", "--", "true"), 125, "no such option"),
        (("--", "no-such-program"), 127, "command not found"),
    ],
)
def test_one_rank_says_what_is_wrong_with_all(
    tmp_path: Path, words: tuple[str, ...], code: int, why: str
) -> None:
    codes, said = ended([started(tmp_path, rank, *words) for rank in range(RANKS)])
    assert codes == [code] * RANKS
    assert why in said[0]
    assert said[1:] == [""] * (RANKS - 1)
    assert list(tmp_path.iterdir()) == []


def test_a_rank_that_is_killed_leaves_what_it_recorded(tmp_path: Path) -> None:
    ranks = [started(tmp_path, rank, "--output", "job", "--", "sleep", "60") for rank in range(2)]
    for rank in range(2):
        records = rank_directory(tmp_path / "job", rank) / "records.jsonl"
        until = time.monotonic() + LIMIT_S
        while not (records.exists() and b'"kind":"process"' in records.read_bytes()):
            assert time.monotonic() < until
            time.sleep(0.02)
    program = runs(tmp_path / "job", 2)[1].processes[0].pid
    ranks[1].kill()
    os.kill(program, signal.SIGKILL)
    ranks[0].send_signal(signal.SIGTERM)
    codes, said = ended(ranks)
    assert codes == [128 + signal.SIGTERM, -signal.SIGKILL]
    assert "memgauge: what was recorded: memgauge report job" in said[0]
    report = memgauge("report", "job", "--format", "summary", cwd=tmp_path).stdout
    assert "Rank 0: its program ended by signal 15." in report
    assert "killed before its end, or still running." in report


def test_a_rank_that_is_ended_before_its_program_begins_says_nothing_of_that(
    tmp_path: Path,
) -> None:
    rank = started(tmp_path, 0, "--output", "job", "--", "sleep", "60")
    until = time.monotonic() + LIMIT_S
    while not (tmp_path / "job" / "rank-0").exists():
        assert time.monotonic() < until
        time.sleep(0.001)
    rank.send_signal(signal.SIGTERM)
    codes, said = ended([rank])
    assert codes == [128 + signal.SIGTERM], said
    assert "came a second time" not in said[0]


ENDED_WHILE_IMPORTED = """
import functools, signal, sys
from memgauge.__main__ import main

def named(self, owner, name, usual=functools.cached_property.__set_name__):
    if owner.__module__.startswith("memgauge.counters"):
        signal.raise_signal(signal.SIGTERM)
    usual(self, owner, name)

functools.cached_property.__set_name__ = named
sys.exit(main())
"""


def test_a_signal_that_python_makes_an_error_of_still_ends_it(tmp_path: Path) -> None:
    """As where it comes while a class is made: the program must not run after it."""
    words = ["profile", *WATCHED, "--output", "job", "--", "touch", "ran"]
    done = subprocess.run(
        [sys.executable, "-c", ENDED_WHILE_IMPORTED, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert not (tmp_path / "ran").exists()


def test_alone_under_a_launcher_it_is_a_run_as_any(tmp_path: Path) -> None:
    codes, _ = ended([started(tmp_path, 0, "--output", "run", "--", "true", ranks=1)])
    assert codes == [0]
    assert not (tmp_path / "run" / JOB_NAME).exists()
    assert read_run(tmp_path / "run").start.rank is None


@pytest.mark.skipif(
    MPIRUN is None, reason="no mpirun on PATH (Debian: apt-get install openmpi-bin)"
)
def test_ranks_of_a_real_mpirun_are_one_job_also_twice_in_a_row(tmp_path: Path) -> None:
    words = " ".join(command("profile", "--quiet", *WATCHED, "--", "sleep", "0.2"))
    done = subprocess.run(
        [str(MPIRUN), "-n", "2", "sh", "-c", f"{words}; {words}"],
        cwd=tmp_path,
        env=os.environ | OPEN_MPI,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    jobs = list((tmp_path / "memgauge-runs").glob("[!.]*"))
    assert len(jobs) == 2
    for job in jobs:
        assert {run.start.rank.rank for run in runs(job, 2) if run.start.rank} == {0, 1}


@pytest.mark.parametrize("shared", [True, False])
def test_two_hosts_are_one_job_and_what_lies_on_the_other_is_told(
    tmp_path: Path, shared: bool
) -> None:
    """Where they do not share it, each has a directory of its own by the same name."""
    reason = missing_for_ranks() or missing_for_hosts()
    if reason is not None:
        pytest.skip(reason)
    job = tmp_path / "job"
    job.mkdir()
    program = command("profile", *WATCHED, "--output", job, "--", "sleep", "0.5")
    with two_hosts(tmp_path) as hosts:
        done = subprocess.run(
            hosts.command(4, program, hide="" if shared else str(job)),
            env=os.environ | environment() | OPEN_MPI,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert (job / "report.html").exists() is shared
    found = memgauge("report", job, "--format", "json")
    document = json.loads(found.stdout)
    if shared:
        assert document["nodes"] == ["mga", "mgb"]
        assert [one["node"] for one in document["ranks"]] == ["mga", "mgb"] * 2
        assert [one["leads"] for one in document["ranks"]] == [True, True, False, False]
        assert max(one["begins_s"] for one in document["ranks"]) < LIMIT_S
    else:
        assert [one["problem"] is None for one in document["ranks"]] == [True, False] * 2
        (told,) = [one for one in document["verdicts"] if one["level"] == "problem"]
        assert told["text"] == "Ranks 1,3 of 4: no run was found."
        assert "copy them here" in told["remedy"]
